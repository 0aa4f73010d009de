// Factorisations of dense matrices on plain memory, row by row: by xtensor-blas's LAPACK (lapack.cpp, the only access
// to it), or in builds without a BLAS by our own (without_lapack.cpp). Private.
//
// The caller has checked the preconditions: sizes are at least 1, elements finite. A function that can still fail
// returns 0, or the number (from 1) of the pivot or leading block that failed.
// Threads: any may call these.
#pragma once

#include <cstdint>

#include "../../core/base/config.h"

namespace xgrad::lapack {

/// The largest size of a matrix whose elements and workspace LAPACK can count.
inline constexpr std::int64_t largest_size = 16384;

/// A matrix or its transpose.
enum class Transposed { no, yes };

/// a (n, n) -> factors with partial pivoting of it or its transpose, L U, the diagonal of U on that of a. `pivots` has
/// n elements, from 1: row i was exchanged with row pivots[i] - 1. Fails where a pivot is 0.
int lu(std::int64_t n, Real* a, int* pivots);
/// a x = b, or a' x = b, by the factors from lu(): b (n, columns) -> x.
void lu_solve(std::int64_t n, std::int64_t columns, const Real* factors, const int* pivots, Transposed trans, Real* b);
/// a (n, n) -> its inverse. Fails where a pivot is 0.
int inverse(std::int64_t n, Real* a);

/// a (n, n) -> the lower triangular L of a = L L', zeros above. Reads the lower triangle. Fails where a leading block
/// is not positive definite.
int cholesky(std::int64_t n, Real* a);

/// A triangle of a square matrix, with the diagonal.
enum class Triangle { lower, upper };
/// a x = b, or a' x = b, for triangular a (n, n): b (n, columns) -> x.
void triangular_solve(std::int64_t n, std::int64_t columns, const Real* a, Triangle triangle, Transposed trans,
                      Real* b);

/// a (m, n) = q r, with q (m, k) orthonormal and r (k, n) upper triangular, k = min(m, n).
void qr(std::int64_t m, std::int64_t n, const Real* a, Real* q, Real* r);

/// Symmetric a (n, n), of which the lower triangle is read -> its eigenvectors, one a row; w: its eigenvalues,
/// ascending. Fails if the iteration does not converge.
int eigh(std::int64_t n, Real* a, Real* w);

/// a (m, n) = u diag(s) vh, s descending, k = min(m, n) many; u (m, k), vh (k, n). Overwrites a. Fails if the iteration
/// does not converge.
int svd(std::int64_t m, std::int64_t n, Real* a, Real* u, Real* s, Real* vh);

}  // namespace xgrad::lapack
