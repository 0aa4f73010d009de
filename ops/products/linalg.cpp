// Linear algebra: systems, determinants and diagonals, and their rules.
#include "linalg.h"

#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "../../core/base/error.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../kernels/registers/walk.h"
#include "matrices.h"

namespace xgrad::linalg {

using lapack::Transposed;
using lapack::Triangle;

// ---- Systems --------------------------------------------------------------------------------------------------------

namespace {

// b broadcast to the common batch of a and b, solved in place: solve(i, x) for matrix i of a and part x of b.
Array solved_in_place(const char* op, const Matrices& a, const Array& b, const auto& solve) {
  const Matrices own(b.shape());
  const Shape batch = broadcast_shapes(op, a.batch, own.batch);
  Array x = broadcast_to(b, joined(batch, {own.m, own.n}));
  if (x.size() == 0) return x;
  Real* out = x.mutable_data();
  const Walk<2> walk(batch, {broadcast_strides(a.batch, batch), strides_of(batch)});
  parallel_for(walk.count(), Matrices::grain(own.m * own.m * own.n), [&](std::int64_t begin, std::int64_t end) {
    walk.for_each(begin, end, [&](const auto& at) { solve(at[0], out + at[1] * own.size()); });
  });
  return x;
}

// The factors of all matrices of a, shared by a solution and its gradients.
struct Factors {
  Matrices sizes;
  Array elements;
  std::vector<int> pivots, codes;

  explicit Factors(const Tensor& a) : sizes(a.shape()), elements(a.value()) {
    const std::int64_t n = sizes.n;
    pivots.resize(static_cast<std::size_t>(sizes.count * n));
    Real* all = elements.mutable_data();
    codes = sizes.codes_of_each(
        n * n * n, [&](std::int64_t i) { return lapack::lu(n, all + i * sizes.size(), pivots.data() + i * n); });
  }
  bool singular(std::int64_t i) const { return codes[static_cast<std::size_t>(i)] != 0; }
  bool any_singular() const {
    return std::ranges::any_of(codes, [](int code) { return code != 0; });
  }
  Real diagonal(std::int64_t i, std::int64_t j) const { return elements.data()[i * sizes.size() + j * (sizes.n + 1)]; }
  // The determinant's sign, -1 for every pair of rows that was exchanged.
  Real sign_of_pivots(std::int64_t i) const {
    Real sign = 1;
    for (std::int64_t j = 0; j < sizes.n; ++j) {
      if (pivots[static_cast<std::size_t>(i * sizes.n + j)] != j + 1) sign = -sign;
    }
    return sign;
  }
};

constexpr Transposed other(Transposed trans) { return trans == Transposed::no ? Transposed::yes : Transposed::no; }

// The gradient of a, where a y = b or a' y = b, and gb solves the other system for the gradient of y.
Tensor matrix_gradient(const Tensor& gb, const Tensor& y, Transposed trans) {
  return -(trans == Transposed::no ? times_transposed(gb, y) : times_transposed(y, gb));
}

// a^-1 b or a'^-1 b.
Tensor solved(const Tensor& a, const std::shared_ptr<const Factors>& factors, const Tensor& b, Transposed trans) {
  const std::int64_t n = factors->sizes.n, columns = b.dim(-1);
  Array x = solved_in_place("solve", factors->sizes, b.value(), [&](std::int64_t i, Real* part) {
    lapack::lu_solve(n, columns, factors->elements.data() + i * n * n, factors->pivots.data() + i * n, trans, part);
  });
  return record("solve", std::move(x),
                jointly(
                    [a = saved(a), factors, trans, shape_a = a.shape(), shape_b = b.shape()](
                        const Tensor& gx, const Tensor& y, Wanted wanted) {
                      const Tensor gb = solved(a, factors, gx, other(trans));
                      return std::array{wanted[0] ? sum_to(matrix_gradient(gb, y, trans), shape_a) : Tensor(),
                                        wanted[1] ? sum_to(gb, shape_b) : Tensor()};
                    },
                    a, b),
                attribute("transposed", unless(false, trans == Transposed::yes)));
}

}  // namespace

Tensor triangular(const Tensor& a, const Tensor& b, Triangle triangle, Transposed trans) {
  const Matrices sizes(a.shape());
  Array x = solved_in_place("solve_triangular", sizes, b.value(), [&](std::int64_t i, Real* part) {
    lapack::triangular_solve(sizes.n, b.dim(-1), a.value().data() + i * sizes.size(), triangle, trans, part);
  });
  return record(
      "solve_triangular", std::move(x),
      jointly(
          [a, triangle, trans, shape_a = a.shape(), shape_b = b.shape()](const Tensor& gx, const Tensor& y,
                                                                         Wanted wanted) {
            const Tensor gb = triangular(a, gx, triangle, other(trans));
            const auto of_triangle = [&](const Tensor& g) { return triangle == Triangle::upper ? triu(g) : tril(g); };
            return std::array{wanted[0] ? sum_to(of_triangle(matrix_gradient(gb, y, trans)), shape_a) : Tensor(),
                              wanted[1] ? sum_to(gb, shape_b) : Tensor()};
          },
          a, b),
      attribute("upper", unless(false, triangle == Triangle::upper)),
      attribute("transposed", unless(false, trans == Transposed::yes)));
}

namespace {

// Throws ShapeError unless b has as many rows as a, and leading axes broadcast.
void check_right_side(const char* op, const Tensor& a, const Tensor& b) {
  if (b.rank() < 2 || a.dim(-1) != b.dim(-2)) {
    fail<ShapeError>(op, "right-hand side ", b.shape(), " does not fit matrices ", a.shape());
  }
  const Shape& shape = b.shape();
  broadcast_shapes(op, Matrices(a.shape()).batch, Matrices(shape).batch);
  if (shape.dim(-1) > lapack::largest_size * lapack::largest_size) {
    fail<LimitError>(op, "right-hand side ", shape, " has too many columns");
  }
}

// Whether b is a vector for each of a's matrices.
bool is_vector(const Tensor& a, const Tensor& b) {
  if (b.rank() == 1) return true;
  if (a.rank() < 2 || b.rank() != a.rank() - 1) return false;
  return b.shape() == leading(a.shape(), 1);
}

// y of a y = b, where b is known to be matrices.
Tensor solve_matrices(const Tensor& a, const Tensor& b) {
  check_finite("solve", a);
  check_finite("solve", b, "on the right-hand side ");
  const auto factors = std::make_shared<const Factors>(a);
  check_codes(factors->codes, [&](std::int64_t i, int) { refuse_singular("solve", factors->sizes, i); });
  return solved(a, factors, b, Transposed::no);
}

}  // namespace

XGRAD_FORMULA solve_formula{"solve", "a y = b", "dL/da = -a^-T gy y^T; dL/db = a^-T gy"};
Tensor solve(const Tensor& a, const Tensor& b) {
  checked_square("solve", a);
  if (is_vector(a, b)) {
    const Tensor column = unsqueeze(b, -1);
    check_right_side("solve", a, column);
    return squeeze(solve_matrices(a, column), {-1});
  }
  check_right_side("solve", a, b);
  return solve_matrices(a, b);
}

XGRAD_FORMULA solve_triangular_formula{"solve_triangular", "a y = b, a triangular",
                                       "dL/da = the triangle of -a^-T gy y^T; dL/db = a^-T gy"};
Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options) {
  const char* op = "solve_triangular";
  const Matrices sizes = checked_square(op, a);
  if (b.rank() == 1) return squeeze(solve_triangular(a, unsqueeze(b, -1), options), {-1});
  check_right_side(op, a, b);
  check_finite(op, a, "", options.upper ? Diagonals{.first = 0} : Diagonals{.last = 0});
  check_finite(op, b, "on the right-hand side ");
  for (std::int64_t i = 0; i < sizes.count; ++i) {
    for (std::int64_t j = 0; j < sizes.n; ++j) {
      if (a.value().data()[i * sizes.size() + j * (sizes.n + 1)] == 0) {
        fail<NumericError>(op, sizes.name(i), " is singular: 0 at [", j, ", ", j, "]");
      }
    }
  }
  return triangular(a, b, options.upper ? Triangle::upper : Triangle::lower, Transposed::no);
}

XGRAD_FORMULA inv_formula{"inv", "y = a^-1", "dL/da = -y^T gy y^T"};
Tensor inv(const Tensor& a) {
  const Matrices sizes = checked_square("inv", a);
  check_finite("inv", a);
  Array y = a.value();
  Real* all = y.mutable_data();
  const std::vector<int> codes = sizes.codes_of_each(
      sizes.n * sizes.n * sizes.n, [&](std::int64_t i) { return lapack::inverse(sizes.n, all + i * sizes.size()); });
  check_codes(codes, [&](std::int64_t i, int) { refuse_singular("inv", sizes, i); });
  return record("inv", std::move(y), wrt(a, [](const Tensor& gy, const Tensor& y) {
                  return -times_transposed(transposed_times(y, gy), y);
                }));
}

// ---- Determinants ---------------------------------------------------------------------------------------------------

namespace {

// The cofactors, from the singular values, so that they exist for a singular matrix too:
//   det(u) det(vh) u diag(c) vh, c_i the product of the other singular values
Array cofactors(const Tensor& a) {
  const NoGrad off;
  const Svd parts = svd(a);
  Array others = parts.s.value();
  Real* c = others.mutable_data();
  const std::int64_t n = a.dim(-1);
  for (std::int64_t row = 0; row < others.size(); row += n) {
    const Real* s = parts.s.value().data() + row;
    for (std::int64_t i = 0; i < n; ++i) {
      c[row + i] = 1;
      for (std::int64_t j = 0; j < n; ++j) c[row + i] *= j == i ? 1 : s[j];
    }
  }
  const Tensor sign = det(parts.u) * det(parts.vh);
  return matmul(parts.u * for_columns(Tensor(others)) * for_matrices(sign), parts.vh).value();
}

}  // namespace

XGRAD_FORMULA det_formula{"det", "y = det a", "dL/da = gy y a^-T"};
Tensor det(const Tensor& a) {
  const Matrices sizes = checked_square("det", a);
  check_finite("det", a);
  const Factors factors(a);
  Array d(sizes.batch);
  for (std::int64_t i = 0; i < sizes.count; ++i) {
    Real product = factors.sign_of_pivots(i);
    for (std::int64_t j = 0; j < sizes.n; ++j) product *= factors.diagonal(i, j);
    d.mutable_data()[i] = factors.singular(i) ? 0 : product;
  }
  // y neither overflowed nor lost digits.
  const bool divisible = std::ranges::all_of(d, [](Real v) { return std::isnormal(v); });
  return record("det", std::move(d),
                wrt(a, [a, divisible, singular = factors.any_singular()](const Tensor& gy, const Tensor& y) {
                  if (divisible || (recording() && !singular)) return for_matrices(gy * y) * transpose(inv(a));
                  if (recording()) {
                    fail<NumericError>("det", "no second derivative: a matrix of the batch is singular");
                  }
                  return for_matrices(gy) * Tensor(cofactors(a));
                }));
}

XGRAD_FORMULA slogdet_formula{"slogdet", "y = ln |det a|", "dL/da = gy a^-T"};
SignAndLog slogdet(const Tensor& a) {
  const Matrices sizes = checked_square("slogdet", a);
  check_finite("slogdet", a);
  const Factors factors(a);
  Array sign(sizes.batch), log(sizes.batch);
  std::int64_t singular = -1;
  for (std::int64_t i = sizes.count - 1; i >= 0; --i) {
    Real s = factors.sign_of_pivots(i), sum = 0;
    for (std::int64_t j = 0; j < sizes.n; ++j) {
      const Real u = factors.diagonal(i, j);
      if (u < 0) s = -s;
      sum += std::log(std::abs(u));
    }
    sign.mutable_data()[i] = factors.singular(i) ? 0 : s;
    log.mutable_data()[i] = factors.singular(i) ? -std::numeric_limits<Real>::infinity() : sum;
    if (factors.singular(i)) singular = i;
  }
  return {.sign = sign, .logabsdet = record("slogdet", std::move(log), wrt(a, [a, singular](const Tensor& gy) {
                                              if (singular >= 0) {
                                                fail<NumericError>("slogdet",
                                                                   "no gradient: ", Matrices(a.shape()).name(singular),
                                                                   " is singular");
                                              }
                                              return for_matrices(gy) * transpose(inv(a));
                                            }))};
}

// ---- Diagonals ------------------------------------------------------------------------------------------------------

namespace {

// A diagonal of matrices (m, n) that are flattened.
Slices diagonal_of(std::int64_t m, std::int64_t n, std::int64_t offset) {
  const std::int64_t row = offset < 0 ? 0 - std::max(offset, -m) : 0,
                     column = std::min(std::max<std::int64_t>(offset, 0), n);
  const std::int64_t length = std::min(m - row, n - column), first = row * n + column;
  if (length == 0) return {ellipsis, slice(0, 0)};
  return {ellipsis, slice(first, first + (length - 1) * (n + 1) + 1, n + 1)};
}

void check_rank(const char* op, const Tensor& a) {
  if (a.rank() < 2) fail<ShapeError>(op, "needs matrices (..., m, n), got shape ", a.shape());
}

}  // namespace

Tensor diagonal(const Tensor& a, std::int64_t offset) {
  check_rank("diagonal", a);
  const Matrices sizes(a.shape());
  return slice(reshape(a, sizes.with({sizes.size()})), diagonal_of(sizes.m, sizes.n, offset));
}

Tensor diag_embed(const Tensor& x, std::int64_t offset) {
  if (x.rank() == 0) fail<ShapeError>("diag_embed", "needs an axis, got shape ", x.shape());
  constexpr std::int64_t furthest = std::numeric_limits<std::int64_t>::max();
  const std::int64_t distance = offset < 0 ? 0 - std::max(offset, -furthest) : offset;
  const std::int64_t n = checked_add("diag_embed", x.dim(-1), distance);
  const Shape batch = leading(x.shape(), 1), line = joined(batch, {checked_multiply("diag_embed", n, n)});
  return reshape(place(x, diagonal_of(n, n, offset), line), joined(batch, {n, n}));
}

Tensor diag(const Tensor& x, std::int64_t offset) {
  if (x.rank() == 1) return diag_embed(x, offset);
  if (x.rank() == 2) return diagonal(x, offset);
  fail<ShapeError>("diag", "needs a list or a matrix, got shape ", x.shape());
}

Tensor trace(const Tensor& a) {
  check_rank("trace", a);
  return sum(diagonal(a), -1);
}

}  // namespace xgrad::linalg
