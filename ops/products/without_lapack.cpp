// Factorisations without LAPACK: the functions of lapack.h, written plainly, for builds without a BLAS (XGRAD_BLAS).
//
// Golub, Van Loan, "Matrix Computations", 4th edition, 2013, is GVL below. Rows lie in memory one after another, so
// every inner loop goes along rows. The file is compiled without contracting a - b c to one rounding
// (ops/CMakeLists.txt): a pivot that cancels is then exactly 0, as the sums by hand are.
#include "lapack.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace xgrad::lapack {
namespace {

using Vector = std::vector<Real>;

constexpr Real eps = std::numeric_limits<Real>::epsilon();
constexpr int most_sweeps = 60;  // of Jacobi's methods, which take about 10

Vector elements(std::int64_t count) { return Vector(static_cast<std::size_t>(count)); }

// y += factor x
void add(Real factor, const Real* x, Real* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

// In eight sums, which is faster and more exact than one.
Real dot(const Real* x, const Real* y, std::int64_t n) {
  constexpr std::int64_t lanes = 8;
  Real sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::int64_t j = 0; j < lanes; ++j) sums[j] += x[i + j] * y[i + j];
  }
  for (; i < n; ++i) sums[i % lanes] += x[i] * y[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

// Divides by a power of two so that squares neither overflow nor vanish; returns its exponent.
int scale(Real* x, std::int64_t n) {
  Real largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::ldexp(x[i], -exponent);
  return exponent;
}

// x with T x = b in place of b (n, columns). T is a triangle of a, or of a'; with `unit`, its diagonal is 1. GVL 3.1.
void substitute(std::int64_t n, std::int64_t columns, const Real* a, Triangle triangle, Transposed trans, bool unit,
                Real* b) {
  const bool down = (triangle == Triangle::lower) == (trans == Transposed::no);
  const auto element = [&](std::int64_t i, std::int64_t j) {
    return trans == Transposed::no ? a[i * n + j] : a[j * n + i];
  };
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = down ? step : n - 1 - step;
    Real* row = b + i * columns;
    for (std::int64_t j = down ? 0 : i + 1; j < (down ? i : n); ++j) add(-element(i, j), b + j * columns, row, columns);
    for (std::int64_t j = 0; !unit && j < columns; ++j) row[j] /= element(i, i);
  }
}

void swap_rows(Real* b, std::int64_t columns, std::int64_t i, std::int64_t j) {
  if (i != j) std::swap_ranges(b + i * columns, b + (i + 1) * columns, b + j * columns);
}

// The rotation that makes two vectors orthogonal, or a matrix [a, c; c, b] diagonal: tangent, cosine and sine of the
// smaller angle. GVL 8.5.2.
struct Rotation {
  Real t, c, s;
  Rotation(Real a, Real b, Real off) {
    const Real zeta = (b - a) / (2 * off);
    t = std::copysign(1 / (std::abs(zeta) + std::hypot(Real(1), zeta)), zeta);
    c = 1 / std::hypot(Real(1), t);
    s = c * t;
  }
  // Of two lines whose elements lie `step` apart.
  void operator()(Real* x, Real* y, std::int64_t n, std::int64_t step = 1) const {
    for (std::int64_t i = 0; i < n * step; i += step) {
      const Real first = x[i], second = y[i];
      x[i] = c * first - s * second;
      y[i] = s * first + c * second;
    }
  }
};

void make_identity(Real* a, std::int64_t rows, std::int64_t columns) {
  std::fill_n(a, rows * columns, Real(0));
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) a[i * columns + i] = 1;
}

// Fills up rows of length n, of which the first `known` are orthonormal, to `count` orthonormal ones: the unit vector
// farthest from all rows, made orthogonal to them, twice (Giraud, Langou, "When modified Gram-Schmidt generates a
// well-conditioned set of vectors", 2002).
void complete(Real* rows, std::int64_t known, std::int64_t count, std::int64_t n) {
  Vector inside = elements(n);  // the squared lengths of the unit vectors' projections to the rows
  const auto count_in = [&](const Real* row) {
    for (std::int64_t j = 0; j < n; ++j) inside[static_cast<std::size_t>(j)] += row[j] * row[j];
  };
  for (std::int64_t i = 0; i < known; ++i) count_in(rows + i * n);
  for (std::int64_t i = known; i < count; ++i) {
    Real* row = rows + i * n;
    std::fill_n(row, n, Real(0));
    row[std::min_element(inside.begin(), inside.end()) - inside.begin()] = 1;
    for (int time = 0; time < 2; ++time) {
      for (std::int64_t j = 0; j < i; ++j) add(-dot(rows + j * n, row, n), rows + j * n, row, n);
      const Real length = std::sqrt(dot(row, row, n));
      for (std::int64_t j = 0; j < n; ++j) row[j] /= length;
    }
    count_in(row);
  }
}

}  // namespace

// Gaussian elimination with partial pivoting, of a itself: P a = L U. GVL 3.4.1.
int lu(std::int64_t n, Real* a, int* pivots) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    pivots[k] = static_cast<int>(pivot + 1);
    swap_rows(a, n, k, pivot);
    const Real* row = a + k * n;
    if (row[k] == 0) return static_cast<int>(k + 1);
    for (std::int64_t i = k + 1; i < n; ++i) {
      Real* to = a + i * n;
      to[k] /= row[k];
      add(-to[k], row + k + 1, to + k + 1, n - k - 1);
    }
  }
  return 0;
}

void lu_solve(std::int64_t n, std::int64_t columns, const Real* factors, const int* pivots, Transposed trans, Real* b) {
  if (trans == Transposed::no) {
    for (std::int64_t i = 0; i < n; ++i) swap_rows(b, columns, i, pivots[i] - 1);
    substitute(n, columns, factors, Triangle::lower, trans, true, b);
    substitute(n, columns, factors, Triangle::upper, trans, false, b);
  } else {
    substitute(n, columns, factors, Triangle::upper, trans, false, b);
    substitute(n, columns, factors, Triangle::lower, trans, true, b);
    for (std::int64_t i = n - 1; i >= 0; --i) swap_rows(b, columns, i, pivots[i] - 1);
  }
}

int inverse(std::int64_t n, Real* a) {
  Vector factors(a, a + n * n);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  if (const int failed = lu(n, factors.data(), pivots.data())) return failed;
  make_identity(a, n, n);
  lu_solve(n, n, factors.data(), pivots.data(), Transposed::no, a);
  return 0;
}

// Row by row. GVL 4.2.
int cholesky(std::int64_t n, Real* a) {
  for (std::int64_t i = 0; i < n; ++i) {
    Real* row = a + i * n;
    for (std::int64_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, a + j * n, j)) / a[j * n + j];
    const Real square = row[i] - dot(row, row, i);
    if (!(square > 0)) return static_cast<int>(i + 1);
    row[i] = std::sqrt(square);
    std::fill(row + i + 1, row + n, Real(0));
  }
  return 0;
}

void triangular_solve(std::int64_t n, std::int64_t columns, const Real* a, Triangle triangle, Transposed trans,
                      Real* b) {
  substitute(n, columns, a, triangle, trans, false, b);
}

// Householder's reflections 1 - tau v v' with v_0 = 1 and the signs of LAPACK. GVL 5.1, 5.2.
void qr(std::int64_t m, std::int64_t n, const Real* a, Real* q, Real* r) {
  const std::int64_t k = std::min(m, n);
  // Each column of a, then what is left of it: r above v.
  Vector lines = elements(n * m), taus = elements(k);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) lines[static_cast<std::size_t>(j * m + i)] = a[i * n + j];
  }
  const auto line = [&](std::int64_t j) { return lines.data() + j * m; };
  // Reflects x by the reflection of column i, whose v begins with 1 in place of r's diagonal.
  const auto reflect = [&](std::int64_t i, Real* x) {
    const Real* v = line(i) + i + 1;
    const Real along = taus[static_cast<std::size_t>(i)] * (x[i] + dot(v, x + i + 1, m - i - 1));
    x[i] -= along;
    add(-along, v, x + i + 1, m - i - 1);
  };
  for (std::int64_t i = 0; i < k; ++i) {
    Real* x = line(i) + i;
    Vector scaled(x, x + m - i);
    const int exponent = scale(scaled.data(), m - i);
    if (dot(scaled.data() + 1, scaled.data() + 1, m - i - 1) > 0) {
      const Real length = std::ldexp(std::sqrt(dot(scaled.data(), scaled.data(), m - i)), exponent);
      const Real diagonal = -std::copysign(length, x[0]);
      taus[static_cast<std::size_t>(i)] = (diagonal - x[0]) / diagonal;
      for (std::int64_t j = 1; j < m - i; ++j) x[j] /= x[0] - diagonal;
      x[0] = diagonal;
    }
    for (std::int64_t j = i + 1; j < n; ++j) reflect(i, line(j));
  }
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = j < i ? 0 : line(j)[i];
  }
  Vector column = elements(m);
  for (std::int64_t j = 0; j < k; ++j) {
    std::fill(column.begin(), column.end(), Real(0));
    column[static_cast<std::size_t>(j)] = 1;
    for (std::int64_t i = j; i >= 0; --i) reflect(i, column.data());
    for (std::int64_t i = 0; i < m; ++i) q[i * k + j] = column[static_cast<std::size_t>(i)];
  }
}

// Jacobi's method, row by row. GVL 8.5.5.
int eigh(std::int64_t n, Real* a, Real* w) {
  const std::int64_t stride = n | 1;  // a power of two would put a column into a few lines of the cache
  Vector matrix = elements(n * stride), vectors = elements(n * n);
  const auto at = [&](std::int64_t i, std::int64_t j) -> Real& {
    return matrix[static_cast<std::size_t>(i * stride + j)];
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) at(i, j) = at(j, i) = a[i * n + j];
  }
  const int exponent = scale(matrix.data(), n * stride);
  const Real least = eps / static_cast<Real>(2 * n) * std::sqrt(dot(matrix.data(), matrix.data(), n * stride));
  make_identity(vectors.data(), n, n);
  bool converged = false;
  for (int sweep = 0; sweep < most_sweeps && !converged; ++sweep) {
    converged = true;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        const Real off = at(p, q);
        if (std::abs(off) <= least) continue;
        converged = false;
        const Real first = at(p, p), second = at(q, q);
        const Rotation rotate(first, second, off);
        rotate(&at(p, 0), &at(q, 0), n);
        rotate(&at(0, p), &at(0, q), n, stride);
        rotate(&vectors[static_cast<std::size_t>(p * n)], &vectors[static_cast<std::size_t>(q * n)], n);
        at(p, q) = at(q, p) = 0;
        at(p, p) = first - rotate.t * off;
        at(q, q) = second + rotate.t * off;
      }
    }
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return at(i, i) < at(j, j); });
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = order[static_cast<std::size_t>(i)];
    w[i] = std::ldexp(at(from, from), exponent);
    std::copy_n(vectors.data() + from * n, n, a + i * n);
  }
  return converged ? 0 : 1;
}

// Hestenes' one-sided Jacobi method: rotations make the lines of a, its rows or its columns, whichever are fewer,
// orthogonal; their lengths are the singular values, their directions the vectors of the longer side. GVL 8.6.3; when
// to stop: Drmac, Veselic, "New fast and accurate Jacobi SVD algorithm I", 2008.
int svd(std::int64_t m, std::int64_t n, Real* a, Real* u, Real* s, Real* vh) {
  const bool tall = m >= n;
  const std::int64_t k = std::min(m, n), length = std::max(m, n);
  const int exponent = scale(a, m * n);
  Vector lines = elements(k * length), rotations = elements(k * k), lengthy = elements(k * length);
  const auto line = [&](std::int64_t i) { return lines.data() + i * length; };
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < length; ++j) line(i)[j] = tall ? a[j * n + i] : a[i * n + j];
  }
  make_identity(rotations.data(), k, k);
  // Lines that are shorter than `none` are 0 but for rounding, and have no direction.
  constexpr Real none = eps * eps;
  const Real least = eps * std::sqrt(static_cast<Real>(length));
  bool converged = false;
  for (int sweep = 0; sweep < most_sweeps && !converged; ++sweep) {
    converged = true;
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t q = p + 1; q < k; ++q) {
        const Real first = dot(line(p), line(p), length), second = dot(line(q), line(q), length);
        const Real off = dot(line(p), line(q), length);
        if (std::min(first, second) <= none * none) continue;
        if (std::abs(off) <= least * std::sqrt(first) * std::sqrt(second)) continue;
        converged = false;
        const Rotation rotate(first, second, off);
        rotate(line(p), line(q), length);
        rotate(&rotations[static_cast<std::size_t>(p * k)], &rotations[static_cast<std::size_t>(q * k)], k);
      }
    }
  }
  Vector values = elements(k);
  for (std::int64_t i = 0; i < k; ++i) values[static_cast<std::size_t>(i)] = std::sqrt(dot(line(i), line(i), length));
  std::vector<std::int64_t> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return value(i) > value(j); });
  std::int64_t rank = 0;  // of the lines that have a direction
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t from = order[static_cast<std::size_t>(i)];
    s[i] = std::ldexp(value(from), exponent);
    if (value(from) > none) rank = i + 1;
    for (std::int64_t j = 0; j < length && value(from) > none; ++j) {
      lengthy[static_cast<std::size_t>(i * length + j)] = line(from)[j] / value(from);
    }
    for (std::int64_t j = 0; j < k; ++j) {
      const Real x = rotations[static_cast<std::size_t>(from * k + j)];
      (tall ? vh[i * n + j] : u[j * k + i]) = x;
    }
  }
  complete(lengthy.data(), rank, k, length);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < length; ++j) {
      (tall ? u[j * k + i] : vh[i * n + j]) = lengthy[static_cast<std::size_t>(i * length + j)];
    }
  }
  return converged ? 0 : 1;
}

}  // namespace xgrad::lapack
