// Linear algebra on the last two axes: systems, determinants, factorisations, norms. Uses LAPACK through xtensor-blas;
// a build without a BLAS has factorisations of its own. Every gradient rule consists of operations, so there are
// gradients of any order.
//
// A tensor (..., m, n) is a batch of matrices; leading axes are batch axes, and broadcast between two tensors. A batch
// may be empty, a matrix may not. All throw ShapeError for tensors with fewer than two axes, matrices without rows or
// columns, matrices that must be square and are not, and leading axes that do not broadcast. All throw LimitError for
// sizes beyond 16384. All but trace, diagonal and the norms throw NumericError for NaN and infinities. Errors name the
// operation and the matrix: `inv: matrix [1, 0] of the batch is singular`. A matrix counts as singular if a pivot is
// exactly 0, as in LAPACK. (' means transposed; gx is the gradient of a result x.)
#pragma once

#include "../../core/graph/tensor.h"
#include "../reduce/reduce.h"

namespace xgrad::linalg {

// ---- Systems and inverses -------------------------------------------------------------------------------------------

/// x = a^-1 b.      a (..., n, n), b (..., n, k) -> (..., n, k)
///   dL/db = a'^-1 gx      dL/da = -(dL/db) x'
/// b may also be a vector (one axis) or a batch of vectors (the shape of a without the last axis). Throws NumericError
/// for a singular a.
Tensor solve(const Tensor& a, const Tensor& b);

struct TriangularOptions {
  bool upper = false;  ///< whether a is upper triangular; else it is lower triangular
};
/// x = a^-1 b for a triangular a. The other triangle of a is not read, and its gradient is 0. A b with one axis is a
/// column. Throws NumericError for a 0 on the diagonal.
Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options = {});

/// y = a^-1.      dL/da = -y' gy y'.      Throws NumericError for a singular a.
Tensor inv(const Tensor& a);

// ---- Determinants ---------------------------------------------------------------------------------------------------

/// The determinant.      (..., n, n) -> (...)      dL/da = gy times the cofactors (y a'^-1), even for a singular a. A
/// singular a has no second derivative: computing it throws NumericError.
Tensor det(const Tensor& a);

struct [[nodiscard]] SignAndLog {
  Tensor sign;       ///< 1, -1, or 0 for a singular matrix; no gradient
  Tensor logabsdet;  ///< ln |det a|, -inf for a singular matrix
};
/// The sign and logarithm of the determinant, without overflow.      d logabsdet/da = a'^-1; computing it for a
/// singular a throws NumericError.
SignAndLog slogdet(const Tensor& a);

// ---- Factorisations -------------------------------------------------------------------------------------------------

struct CholeskyOptions {
  bool upper = false;  ///< returns u with a = u' u; else l with a = l l'
};
/// The triangular factor of a symmetric, positive definite a. Only the lower triangle of a is read.
///   dL/da = sym(l'^-1 P l^-1) with P = the lower triangle of l' gl, its diagonal halved, and sym(X) = (X + X') / 2
/// Throws NumericError for an a that is not positive definite.
Tensor cholesky(const Tensor& a, const CholeskyOptions& options = {});

struct [[nodiscard]] Qr {
  Tensor q;  ///< (..., m, k), k = min(m, n): orthonormal columns
  Tensor r;  ///< (..., k, n): upper triangular
};
/// a = q r, with the signs of Householder's reflections.
///   dL/da (by q) = (gq + q S) r'^-1, where S is symmetric with the upper triangle of -q' gq; by r: through r = q' a
/// There is no gradient if one of the first k columns depends linearly on the columns before it (|r_ii| <= m eps max
/// |r_jk|); computing it throws NumericError.
Qr qr(const Tensor& a);

struct [[nodiscard]] Eigh {
  Tensor eigenvalues;   ///< (..., n), ascending
  Tensor eigenvectors;  ///< (..., n, n): column i is the unit vector v_i; its largest element is positive
};
/// Eigenvalues and eigenvectors of a symmetric a. Only the lower triangle of a is read; the gradient is symmetric.
///   dL/da = v (diag(gw) + F * v' gv) v', F_ij = 1 / (w_j - w_i), 0 on the diagonal
/// Eigenvalues always have a gradient. Eigenvectors have none if two eigenvalues are equal (at most n eps max |w|
/// apart): computing it, or the second derivative of the eigenvalues, throws NumericError.
Eigh eigh(const Tensor& a);

struct [[nodiscard]] Svd {
  Tensor u;   ///< (..., m, k), k = min(m, n): orthonormal columns; the largest element of each is positive
  Tensor s;   ///< (..., k), descending
  Tensor vh;  ///< (..., k, n): orthonormal rows
};
/// The singular value decomposition a = u diag(s) vh.
///   dL/da (by s) = u diag(gs) vh
///   dL/da (by u) = (u (F * (u' gu - gu' u)) + (1 - u u') gu diag(s^-2)) u' a, F_ij = 1 / (s_j^2 - s_i^2); vh likewise
/// Singular values always have a gradient. Singular vectors have none if two singular values are equal (their squares
/// at most max(m, n) eps s_max^2 apart); the vectors of the longer side have none if a singular value is 0 (by the same
/// bound). Computing it throws NumericError.
Svd svd(const Tensor& a);

// ---- Norms ----------------------------------------------------------------------------------------------------------

/// The norm of the elements along axes, as one vector: (sum |x_i|^ord)^(1/ord). It is max |x_i| for ord = infinity, min
/// |x_i| for -infinity, and the number of nonzero elements for 0. No gradient flows to elements that are 0, except that
/// max and min spread it over equal elements. Throws ValueError if ord is NaN, and for max and min of no elements.
Tensor vector_norm(const Tensor& x, double ord = 2, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// sqrt(sum x_i^2) of all elements, without overflow.      dy/dx_i = x_i / y, 0 where y = 0
inline Tensor norm(const Tensor& x) { return vector_norm(x); }

// ---- Diagonals ------------------------------------------------------------------------------------------------------

/// The diagonal `offset` columns to the right of the main diagonal; a negative offset counts rows below it.
///   (..., m, n) -> (..., k)
Tensor diagonal(const Tensor& a, std::int64_t offset = 0);
/// The dual of diagonal: matrices with x on the diagonal, 0 elsewhere.
///   (..., n) -> (..., n + |offset|, n + |offset|)
Tensor diag_embed(const Tensor& x, std::int64_t offset = 0);
/// For a list diag_embed, for a matrix diagonal. Throws ShapeError for other shapes.
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
