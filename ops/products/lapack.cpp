// Factorisations by xtensor-blas. (without_lapack.cpp has the same for builds without a BLAS.)
//
// xt::lapack and its base, cxxlapack and cxxblas, not xt::linalg above them, which throws std::runtime_error without
// naming the matrix, factorises anew for every right-hand side, and solves triangular systems for one column only.
//
// LAPACK is column-major, the library row-major: in memory the matrix of one is the transpose of the other's. Symmetric
// and triangular matrices, inverses and singular values need no copy for that.
#include "lapack.h"

#include <algorithm>
#include <array>
#include <vector>

#include <xtensor-blas/xblas.hpp>
#include <xtensor-blas/xlapack.hpp>

#if __has_include(<xtensor/containers/xadapt.hpp>)
#include <xtensor/containers/xadapt.hpp>
#else
#include <xtensor/xadapt.hpp>
#endif

#include "build_info.h"

namespace xgrad::lapack {
namespace {

using Count = xt::blas_index_t;

// The memory of a row-major (columns, rows) matrix as the column-major (rows, columns) one that LAPACK takes it for.
auto by_columns(Real* data, std::int64_t rows, std::int64_t columns) {
  const std::array<std::size_t, 2> shape{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)};
  return xt::adapt<xt::layout_type::column_major>(data, shape[0] * shape[1], xt::no_ownership(), shape);
}

std::vector<Real> transposed(const Real* a, std::int64_t rows, std::int64_t columns) {
  std::vector<Real> result(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) result[static_cast<std::size_t>(j * rows + i)] = a[i * columns + j];
  }
  return result;
}

Count count(std::int64_t size) { return static_cast<Count>(size); }

}  // namespace

int lu(std::int64_t n, Real* a, int* pivots) {
  detail::one_blas_thread();
  auto matrix = by_columns(a, n, n);
  auto pivot_view = xt::adapt(pivots, static_cast<std::size_t>(n), xt::no_ownership(),
                              std::array<std::size_t, 1>{static_cast<std::size_t>(n)});
  return xt::lapack::getrf(matrix, pivot_view);
}

void lu_solve(std::int64_t n, std::int64_t columns, const Real* factors, const int* pivots, Transposed trans, Real* b) {
  detail::one_blas_thread();
  // The factors are those of a'.
  const char code = trans == Transposed::no ? 'T' : 'N';
  if (columns == 1) {
    cxxlapack::getrs<Count>(code, count(n), 1, factors, count(n), pivots, b, count(n));
    return;
  }
  std::vector<Real> x = transposed(b, n, columns);
  cxxlapack::getrs<Count>(code, count(n), count(columns), factors, count(n), pivots, x.data(), count(n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) b[i * columns + j] = x[static_cast<std::size_t>(j * n + i)];
  }
}

int inverse(std::int64_t n, Real* a) {
  detail::one_blas_thread();
  auto matrix = by_columns(a, n, n);
  xt::uvector<Count> pivots(static_cast<std::size_t>(n));
  const int failed = xt::lapack::getrf(matrix, pivots);
  return failed ? failed : xt::lapack::getri(matrix, pivots);
}

int cholesky(std::int64_t n, Real* a) {
  detail::one_blas_thread();
  auto matrix = by_columns(a, n, n);
  const int failed = xt::lapack::potr(matrix, 'U');
  for (std::int64_t i = 0; i < n; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, Real(0));
  return failed;
}

void triangular_solve(std::int64_t n, std::int64_t columns, const Real* a, Triangle triangle, Transposed trans,
                      Real* b) {
  detail::one_blas_thread();
  cxxblas::trsm(cxxblas::RowMajor, cxxblas::Left, triangle == Triangle::upper ? cxxblas::Upper : cxxblas::Lower,
                trans == Transposed::yes ? cxxblas::Trans : cxxblas::NoTrans, cxxblas::NonUnit, count(n),
                count(columns), Real(1), a, count(n), b, count(columns));
}

void qr(std::int64_t m, std::int64_t n, const Real* a, Real* q, Real* r) {
  detail::one_blas_thread();
  const std::int64_t k = std::min(m, n);
  std::vector<Real> memory = transposed(a, m, n);
  auto matrix = by_columns(memory.data(), m, n);
  xt::uvector<Real> tau(static_cast<std::size_t>(k));
  xt::lapack::geqrf(matrix, tau);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = j < i ? 0 : memory[static_cast<std::size_t>(j * m + i)];
  }
  auto basis = by_columns(memory.data(), m, k);
  xt::lapack::orgqr(basis, tau, count(k));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < k; ++j) q[i * k + j] = memory[static_cast<std::size_t>(j * m + i)];
  }
}

int eigh(std::int64_t n, Real* a, Real* w) {
  detail::one_blas_thread();
  // Not the workspace size that xt::lapack asks LAPACK for: it is a Real, too small where a float rounds it down.
  std::vector<Real> work(static_cast<std::size_t>(1 + 6 * n + 2 * n * n));
  std::vector<Count> integers(static_cast<std::size_t>(3 + 5 * n));
  return cxxlapack::syevd<Count>('V', 'U', count(n), a, count(n), w, work.data(), count(std::ssize(work)),
                                 integers.data(), count(std::ssize(integers)));
}

int svd(std::int64_t m, std::int64_t n, Real* a, Real* u, Real* s, Real* vh) {
  detail::one_blas_thread();
  // a' = vh' diag(s) u', and columns of the one are rows of the other.
  const std::int64_t k = std::min(m, n);
  std::vector<Count> integers(static_cast<std::size_t>(8 * k));
  std::vector<Real> work(1);
  const auto call = [&](Count length) {
    return cxxlapack::gesdd<Count>('S', count(n), count(m), a, count(n), s, vh, count(n), u, count(k), work.data(),
                                   length, integers.data());
  };
  call(-1);
  // LAPACK returns the size as a Real; a little more, in case a float rounded it down.
  work.resize(static_cast<std::size_t>(static_cast<double>(work[0]) * 1.000001) + 1);
  return call(count(std::ssize(work)));
}

}  // namespace xgrad::lapack
