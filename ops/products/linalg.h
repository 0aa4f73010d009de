// Linear algebra on the last two axes: systems, determinants, factorisations, norms. Uses LAPACK, by xtensor-blas, or
// in a build without a BLAS factorisations of its own; every rule is written in operations, so that there are gradients
// of any order.
//
// A tensor (..., m, n) is a batch of matrices; leading axes are batch axes, and broadcast between two tensors. A batch
// may be empty, a matrix may not. All throw ShapeError for tensors with fewer than two axes,
// matrices without rows or columns or that are not square where they must be, and leading axes that do not
// broadcast; LimitError for sizes beyond 16384; and, except trace, diagonal and the norms, NumericError for NaN and
// infinities. Errors name the operation and the matrix: `inv: matrix [1, 0] of the batch is singular`. Whether a matrix
// is singular is decided as LAPACK does: when a pivot is exactly 0. (' means transposed, g' the gradient of a result.)
#pragma once

#include "../../core/graph/tensor.h"
#include "../reduce/reduce.h"

namespace xgrad::linalg {

// ---- Systems and inverses -------------------------------------------------------------------------------------------

/// x = a^-1 b.      a (..., n, n), b (..., n, k) -> (..., n, k)
///   dL/db = a'^-1 gx      dL/da = -(dL/db) x'
/// b is a vector if it has one axis, or the shape of a without the last axis. Throws NumericError for a singular a.
Tensor solve(const Tensor& a, const Tensor& b);

struct TriangularOptions {
  bool upper = false;  ///< a's triangle: above the diagonal; else below
};
/// x = a^-1 b for a triangular a, of which the other triangle is not read; its gradient there is 0. A b of one axis is
/// a column. Throws NumericError for a 0 on the diagonal.
Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options = {});

/// y = a^-1.      dL/da = -y' gy y'.      Throws NumericError for a singular a.
Tensor inv(const Tensor& a);

// ---- Determinants ---------------------------------------------------------------------------------------------------

/// The determinant.      (..., n, n) -> (...)      dL/da = gy times the cofactors (y a'^-1), also of a singular a.
/// A singular a has no second derivative: asking for it throws NumericError.
Tensor det(const Tensor& a);

struct [[nodiscard]] SignAndLog {
  Tensor sign;       ///< 1, -1, or 0 for a singular matrix; no gradient
  Tensor logabsdet;  ///< ln |det a|, -inf for a singular matrix
};
/// The sign and logarithm of the determinant, without overflow.      d logabsdet/da = a'^-1; asking for it at a
/// singular a throws NumericError.
SignAndLog slogdet(const Tensor& a);

// ---- Factorisations -------------------------------------------------------------------------------------------------

struct CholeskyOptions {
  bool upper = false;  ///< u with a = u' u; else l with a = l l'
};
/// The triangular factor of a symmetric, positive definite a, of which the lower triangle is read.
///   dL/da = sym(l'^-1 P l^-1), P the lower triangle of l' gl with half of its diagonal, sym(X) = (X + X') / 2
/// Throws NumericError for an a that is not positive definite.
Tensor cholesky(const Tensor& a, const CholeskyOptions& options = {});

struct [[nodiscard]] Qr {
  Tensor q;  ///< (..., m, k), k = min(m, n): orthonormal columns
  Tensor r;  ///< (..., k, n): upper triangular
};
/// a = q r, with the signs of Householder's reflections.
///   dL/da (by q) = (gq + q S) r'^-1, S the symmetric matrix whose upper triangle is that of -q' gq; r = q' a
/// No gradient, but a NumericError when it is asked for, where one of the first k columns depends on those before it
/// (|r_ii| <= m eps max |r_jk|).
Qr qr(const Tensor& a);

struct [[nodiscard]] Eigh {
  Tensor eigenvalues;   ///< (..., n), ascending
  Tensor eigenvectors;  ///< (..., n, n), v_i in column i, of length 1, its largest element positive
};
/// Eigenvalues and eigenvectors of a symmetric a, of which the lower triangle is read; the gradient is symmetric.
///   dL/da = v (diag(gw) + F * v' gv) v', F_ij = 1 / (w_j - w_i), 0 on the diagonal
/// Eigenvalues have a gradient everywhere; eigenvectors none where two eigenvalues are equal (no further apart than
/// n eps max |w|): asking for it, or for the second derivative of the eigenvalues, throws NumericError.
Eigh eigh(const Tensor& a);

struct [[nodiscard]] Svd {
  Tensor u;   ///< (..., m, k), k = min(m, n): orthonormal columns, the largest element of each positive
  Tensor s;   ///< (..., k), descending
  Tensor vh;  ///< (..., k, n): orthonormal rows
};
/// The singular value decomposition a = u diag(s) vh.
///   dL/da (by s) = u diag(gs) vh
///   dL/da (by u) = (u (F * (u' gu - gu' u)) + (1 - u u') gu diag(s^-2)) u' a, F_ij = 1 / (s_j^2 - s_i^2); vh likewise
/// Singular values have a gradient everywhere; the vectors none where two are equal (their squares no further apart
/// than max(m, n) eps s_max^2), nor those of the longer side where one is 0 (likewise): asking for it throws
/// NumericError.
Svd svd(const Tensor& a);

// ---- Norms ----------------------------------------------------------------------------------------------------------

/// The norm of the elements along axes, taken as one vector: (sum |x_i|^ord)^(1/ord); for an infinite ord max |x_i|,
/// for -infinity min |x_i|, for 0 the number of nonzero elements. No gradient flows to elements that are 0 (but for max
/// and min, which spread it over equal elements). Throws ValueError for an ord of NaN, and for max and min of no
/// elements.
Tensor vector_norm(const Tensor& x, double ord = 2, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// sqrt(sum x_i^2) of all elements, without overflow.      dy/dx_i = x_i / y, 0 where y = 0
inline Tensor norm(const Tensor& x) { return vector_norm(x); }

// ---- Diagonals ------------------------------------------------------------------------------------------------------

/// The diagonal `offset` columns to the right of the main one, or rows below it if negative.
///   (..., m, n) -> (..., k)
Tensor diagonal(const Tensor& a, std::int64_t offset = 0);
/// The dual of diagonal: matrices with x on the diagonal, 0 elsewhere.
///   (..., n) -> (..., n + |offset|, n + |offset|)
Tensor diag_embed(const Tensor& x, std::int64_t offset = 0);
/// diag_embed of a list, or the diagonal of a matrix. Throws ShapeError for other shapes.
Tensor diag(const Tensor& x, std::int64_t offset = 0);
/// y = sum_i a_ii.      (..., m, n) -> (...)
Tensor trace(const Tensor& a);

}  // namespace xgrad::linalg

namespace xgrad {
// Functions that PyTorch also has at its top level.
using linalg::det;
using linalg::diag;
using linalg::diag_embed;
using linalg::diagonal;
using linalg::norm;
using linalg::slogdet;
using linalg::trace;
using linalg::vector_norm;
}  // namespace xgrad
