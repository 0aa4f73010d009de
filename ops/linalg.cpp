// Linear algebra: checks, the way through a batch, and the rules.
#include "linalg.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../core/parallel.h"
#include "../core/record.h"
#include "arithmetic.h"
#include "create.h"
#include "elementwise.h"
#include "index.h"
#include "lapack.h"
#include "matmul.h"
#include "shape.h"

namespace xgrad::linalg {
namespace {

using lapack::Form;
using lapack::Triangle;

constexpr Real eps = std::numeric_limits<Real>::epsilon();

// ---- Batches of matrices --------------------------------------------------------------------------------------------

// The sizes of the matrices behind one another in memory.
struct Matrices {
  Shape batch;
  std::int64_t m, n, count;

  explicit Matrices(const Shape& shape)
      : batch(ShortList<std::int64_t>(std::span(shape.begin(), shape.end() - 2))),
        m(shape.dim(-2)),
        n(shape.dim(-1)),
        count(batch.numel()) {}
  std::int64_t size() const { return m * n; }
  std::int64_t k() const { return std::min(m, n); }

  // The batch's shape with these sizes behind it.
  Shape with(std::initializer_list<std::int64_t> sizes) const {
    Shape shape = batch;
    for (const std::int64_t size : sizes) shape.push_back(size);
    return shape;
  }

  // `the matrix` or `matrix [1, 0] of the batch`.
  std::string name(std::int64_t i) const {
    if (batch.empty()) return "the matrix";
    Shape at = batch;
    for (int axis = batch.rank() - 1; axis >= 0; --axis) {
      at[axis] = i % batch[axis];
      i /= batch[axis];
    }
    return cat("matrix ", at, " of the batch");
  }

  // Calls f(i) for every matrix, in parallel where a matrix takes `work` multiplications.
  template <class F>
  void each(std::int64_t work, const F& f) const {
    constexpr std::int64_t enough = 1 << 16;
    parallel_for(count, std::max<std::int64_t>(1, enough / std::max<std::int64_t>(work, 1)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) f(i);
                 });
  }
};

Matrices checked(const char* op, const Tensor& a) {
  const Shape& shape = a.shape();
  if (shape.rank() < 2) fail<ShapeError>(op, "expected matrices (..., m, n), got shape ", shape);
  if (shape.dim(-1) == 0 || shape.dim(-2) == 0) {
    fail<ShapeError>(op, "expected matrices with at least one row and one column, got shape ", shape);
  }
  if (std::max(shape.dim(-1), shape.dim(-2)) > lapack::largest_size) {
    fail<LimitError>(op, "matrices of shape ", shape, " are larger than ", lapack::largest_size);
  }
  return Matrices(shape);
}

Matrices checked_square(const char* op, const Tensor& a) {
  const Matrices sizes = checked(op, a);
  if (sizes.m != sizes.n) fail<ShapeError>(op, "expected square matrices, got shape ", a.shape());
  return sizes;
}

void check_finite(const char* op, const Tensor& a, const char* which = "") {
  const Array& values = a.value();
  const Real* bad = std::find_if_not(values.begin(), values.end(), [](Real value) { return std::isfinite(value); });
  if (bad == values.end()) return;
  const Matrices sizes(a.shape());
  const std::int64_t at = bad - values.begin(), within = at % sizes.size();
  fail<NumericError>(op, which, sizes.name(at / sizes.size()), " has ", *bad, " at [", within / sizes.n, ", ",
                     within % sizes.n, "]; expected finite numbers");
}

// Throws what `error(i, code)` throws for the first matrix that failed.
template <class F>
void check_codes(const std::vector<int>& codes, const F& error) {
  const auto bad = std::find_if(codes.begin(), codes.end(), [](int code) { return code != 0; });
  if (bad != codes.end()) error(bad - codes.begin(), *bad);
}

std::vector<int> codes_for(const Matrices& sizes) { return std::vector<int>(static_cast<std::size_t>(sizes.count)); }

[[noreturn]] void refuse_singular(const char* op, const Matrices& sizes, std::int64_t i) {
  fail<NumericError>(op, sizes.name(i), " is singular; expected one that has an inverse");
}

// ---- Words for rules ------------------------------------------------------------------------------------------------

// a' b and a b'.
Tensor transposed_times(const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_a = true}); }
Tensor times_transposed(const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_b = true}); }
Tensor symmetric(const Tensor& x) { return (x + transpose(x)) / 2; }
// One number for every matrix (...) -> (..., 1, 1); for every row (..., m) -> (..., m, 1); every column -> (..., 1, n).
Tensor for_matrices(const Tensor& x) { return unsqueeze(unsqueeze(x, -1), -1); }
Tensor for_rows(const Tensor& x) { return unsqueeze(x, -1); }
Tensor for_columns(const Tensor& x) { return unsqueeze(x, -2); }
// The lower triangle with half of the diagonal.
Tensor lower_half(const Tensor& x) { return tril(x) * (1 - eye(x.dim(-1)) / 2); }

// The matrix behind matrix i of the larger batch `to`, where a batch is repeated.
std::int64_t behind(std::int64_t i, const Shape& to, const ShortList<std::int64_t>& strides) {
  std::int64_t at = 0;
  for (int axis = to.rank() - 1; axis >= 0; --axis) {
    at += i % to[axis] * strides[axis];
    i /= to[axis];
  }
  return at;
}

// b repeated to the batch in which it meets a, and solve(i, x) of a's matrix i and b's part x, in place.
template <class F>
Array solved_in_place(const char* op, const Matrices& a, const Array& b, const F& solve) {
  const Matrices own(b.shape());
  const Shape batch = broadcast_shapes(op, a.batch, own.batch);
  Shape shape = batch;
  shape.push_back(own.m);
  shape.push_back(own.n);
  Array x = broadcast_to(b, shape);
  if (x.size() == 0) return x;
  Real* out = x.mutable_data();
  const auto strides = broadcast_strides(a.batch, batch);
  Matrices(shape).each(own.m * own.m * own.n,
                       [&](std::int64_t i) { solve(behind(i, batch, strides), out + i * own.size()); });
  return x;
}

// ---- Systems ----------------------------------------------------------------------------------------------------

// The factors of all matrices of a, shared by a solution and its gradients.
struct Factors {
  Matrices sizes;
  Array numbers;
  std::vector<int> pivots, codes;

  explicit Factors(const Tensor& a) : sizes(a.shape()), numbers(a.value()), codes(codes_for(sizes)) {
    const std::int64_t n = sizes.n;
    pivots.resize(static_cast<std::size_t>(sizes.count * n));
    Real* all = numbers.mutable_data();
    sizes.each(n * n * n, [&](std::int64_t i) {
      codes[static_cast<std::size_t>(i)] = lapack::lu(n, all + i * sizes.size(), pivots.data() + i * n);
    });
  }
  bool singular(std::int64_t i) const { return codes[static_cast<std::size_t>(i)] != 0; }
  bool any_singular() const {
    return std::any_of(codes.begin(), codes.end(), [](int code) { return code != 0; });
  }
  Real diagonal(std::int64_t i, std::int64_t j) const { return numbers.data()[i * sizes.size() + j * (sizes.n + 1)]; }
  // The determinant's sign, -1 for every pair of rows that was exchanged.
  Real sign_of_pivots(std::int64_t i) const {
    Real sign = 1;
    for (std::int64_t j = 0; j < sizes.n; ++j) {
      if (pivots[static_cast<std::size_t>(i * sizes.n + j)] != j + 1) sign = -sign;
    }
    return sign;
  }
};

constexpr Form other(Form form) { return form == Form::plain ? Form::transposed : Form::plain; }

// a^-1 b or a'^-1 b.
Tensor solved(const Tensor& a, const std::shared_ptr<const Factors>& factors, const Tensor& b, Form form) {
  const std::int64_t n = factors->sizes.n, columns = b.dim(-1);
  Array x = solved_in_place("solve", factors->sizes, b.value(), [&](std::int64_t i, Real* part) {
    lapack::lu_solve(n, columns, factors->numbers.data() + i * n * n, factors->pivots.data() + i * n, form, part);
  });
  return record("solve", std::move(x),
                jointly(
                    [a = kept(a), factors, form, shape_a = a.shape(), shape_b = b.shape()](
                        const Tensor& gx, const Tensor& y, Wanted wanted) {
                      const Tensor gb = solved(a, factors, gx, other(form));
                      std::array<Tensor, 2> g;
                      if (wanted[0]) {
                        g[0] = sum_to(-(form == Form::plain ? times_transposed(gb, y) : times_transposed(y, gb)),
                                      shape_a);
                      }
                      if (wanted[1]) g[1] = sum_to(gb, shape_b);
                      return g;
                    },
                    a, b));
}

// a^-1 b or a'^-1 b for the triangle of a.
Tensor triangular(const Tensor& a, const Tensor& b, const Triangle& triangle, Form form) {
  const Matrices sizes(a.shape());
  Array x = solved_in_place("solve_triangular", sizes, b.value(), [&](std::int64_t i, Real* part) {
    lapack::triangular_solve(sizes.n, b.dim(-1), a.value().data() + i * sizes.size(), triangle, form, part);
  });
  return record("solve_triangular", std::move(x),
                jointly(
                    [a, triangle, form, shape_a = a.shape(), shape_b = b.shape()](const Tensor& gx, const Tensor& y,
                                                                                  Wanted wanted) {
                      const Tensor gb = triangular(a, gx, triangle, other(form));
                      std::array<Tensor, 2> g;
                      if (wanted[0]) {
                        const Tensor all = -(form == Form::plain ? times_transposed(gb, y) : times_transposed(y, gb));
                        const std::int64_t offset = triangle.unit ? 1 : 0;
                        g[0] = sum_to(triangle.upper ? triu(all, offset) : tril(all, -offset), shape_a);
                      }
                      if (wanted[1]) g[1] = sum_to(gb, shape_b);
                      return g;
                    },
                    a, b));
}

void check_right_side(const char* op, const Tensor& a, const Tensor& b, int axis_a, int axis_b) {
  if (b.rank() < 2 || a.dim(axis_a) != b.dim(axis_b)) {
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
  Shape shape = a.shape();
  shape.erase(shape.rank() - 1);
  return b.shape() == shape;
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b, const SolveOptions& options) {
  checked_square("solve", a);
  if (is_vector(a, b)) {
    if (!options.left) fail<ShapeError>("solve", "x a = b needs matrices on the right, got ", b.shape());
    return squeeze(solve(a, unsqueeze(b, -1)), {-1});
  }
  check_right_side("solve", a, b, -1, options.left ? -2 : -1);
  if (!options.left) return transpose(solve(transpose(a), transpose(b)));
  check_finite("solve", a);
  check_finite("solve", b, "on the right-hand side ");
  const auto factors = std::make_shared<const Factors>(a);
  check_codes(factors->codes, [&](std::int64_t i, int) { refuse_singular("solve", factors->sizes, i); });
  return solved(a, factors, b, Form::plain);
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options) {
  const char* op = "solve_triangular";
  const Matrices sizes = checked_square(op, a);
  if (b.rank() == 1) {
    if (!options.left) fail<ShapeError>(op, "x a = b needs matrices on the right, got ", b.shape());
    return squeeze(solve_triangular(a, unsqueeze(b, -1), options), {-1});
  }
  check_right_side(op, a, b, -1, options.left ? -2 : -1);
  check_finite(op, a);
  check_finite(op, b, "on the right-hand side ");
  for (std::int64_t i = 0; !options.unitriangular && i < sizes.count; ++i) {
    for (std::int64_t j = 0; j < sizes.n; ++j) {
      if (a.value().data()[i * sizes.size() + j * (sizes.n + 1)] == 0) {
        fail<NumericError>(op, sizes.name(i), " is singular: 0 at [", j, ", ", j, "]");
      }
    }
  }
  const Triangle triangle{.upper = options.upper, .unit = options.unitriangular};
  return options.left ? triangular(a, b, triangle, Form::plain)
                      : transpose(triangular(a, transpose(b), triangle, Form::transposed));
}

Tensor inv(const Tensor& a) {
  const Matrices sizes = checked_square("inv", a);
  check_finite("inv", a);
  Array y = a.value();
  Real* all = y.mutable_data();
  std::vector<int> codes = codes_for(sizes);
  sizes.each(sizes.n * sizes.n * sizes.n, [&](std::int64_t i) {
    codes[static_cast<std::size_t>(i)] = lapack::inverse(sizes.n, all + i * sizes.size());
  });
  check_codes(codes, [&](std::int64_t i, int) { refuse_singular("inv", sizes, i); });
  return record("inv", std::move(y), wrt(a, [](const Tensor& gy, const Tensor& y) {
                  return -times_transposed(transposed_times(y, gy), y);
                }));
}

// ---- Determinants ---------------------------------------------------------------------------------------------------

namespace {

// The cofactors, from the singular values, which a matrix without an inverse has too:
//   det(u) det(vh) u diag(c) vh, c_i the product of the other singular values
Array cofactors(const Tensor& a) {
  const NoGrad off;
  const Svd parts = svd(a, {.full_matrices = false});
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
  return record("det", std::move(d), wrt(a, [a, singular = factors.any_singular()](const Tensor& gy, const Tensor& y) {
                  if (!singular) return for_matrices(gy * y) * transpose(inv(a));
                  if (recording()) {
                    fail<NumericError>("det", "no second derivative: a matrix of the batch is singular");
                  }
                  return for_matrices(gy) * Tensor(cofactors(a));
                }));
}

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
                                                fail<NumericError>("slogdet", "no gradient: ",
                                                                   Matrices(a.shape()).name(singular), " is singular");
                                              }
                                              return for_matrices(gy) * transpose(inv(a));
                                            }))};
}

Tensor logdet(const Tensor& a) {
  checked_square("logdet", a);
  check_finite("logdet", a);
  const SignAndLog parts = slogdet(a);
  const Mask negative = parts.sign < Tensor(0);
  return any(negative) ? parts.logabsdet + masked_fill(zeros_like(parts.sign), negative,
                                                       std::numeric_limits<Real>::quiet_NaN())
                       : parts.logabsdet;
}

// ---- Factorisations -------------------------------------------------------------------------------------------------

Tensor cholesky(const Tensor& a, const CholeskyOptions& options) {
  const Matrices sizes = checked_square("cholesky", a);
  check_finite("cholesky", a);
  Array l = a.value();
  Real* all = l.mutable_data();
  std::vector<int> codes = codes_for(sizes);
  sizes.each(sizes.n * sizes.n * sizes.n / 3, [&](std::int64_t i) {
    codes[static_cast<std::size_t>(i)] = lapack::cholesky(sizes.n, all + i * sizes.size());
  });
  check_codes(codes, [&](std::int64_t i, int order) {
    fail<NumericError>("cholesky", sizes.name(i), " is not positive definite: its leading block of ", order, " rows");
  });
  const Tensor result = record("cholesky", std::move(l), wrt(a, [](const Tensor& gl, const Tensor& l) {
                                 const Tensor half = triangular(l, lower_half(transposed_times(l, gl)), {},
                                                                Form::transposed);
                                 return symmetric(triangular(l, transpose(half), {}, Form::transposed));
                               }));
  return options.upper ? transpose(result) : result;
}

namespace {

// The gradient with respect to (..., m, k) by the orthonormal factor of its reduced factorisation.
Tensor orthonormal_gradient(const Tensor& a, const Tensor& gq, const Tensor& q) {
  const Tensor r = triu(transposed_times(q, a));
  const Matrices sizes(r.shape());
  for (std::int64_t i = 0; i < sizes.count; ++i) {
    const Real* first = r.value().data() + i * sizes.size();
    Real most = 0;
    for (std::int64_t j = 0; j < sizes.size(); ++j) most = std::max(most, std::abs(first[j]));
    for (std::int64_t j = 0; j < sizes.n; ++j) {
      if (std::abs(first[j * (sizes.n + 1)]) <= static_cast<Real>(a.dim(-2)) * eps * most) {
        fail<NumericError>("qr", "no gradient of q: column ", j, " of ", sizes.name(i), " depends on those before it");
      }
    }
  }
  const Tensor upper = -transpose(lower_half(transposed_times(gq, q)));
  const Tensor g = gq + matmul(q, upper + transpose(upper));
  return transpose(triangular(r, transpose(g), {.upper = true}, Form::plain));
}

}  // namespace

Qr qr(const Tensor& a, const QrOptions& options) {
  const Matrices sizes = checked("qr", a);
  check_finite("qr", a);
  const std::int64_t m = sizes.m, n = sizes.n, k = sizes.k();
  const bool complete = options.mode == QrMode::complete && m > n;
  const std::int64_t columns = complete ? m : k;
  Array q(sizes.with({m, columns})), r(sizes.with({k, n}));
  Real *to_q = q.mutable_data(), *to_r = r.mutable_data();
  sizes.each(m * n * k, [&](std::int64_t i) {
    lapack::qr(m, n, a.value().data() + i * m * n, columns, to_q + i * m * columns, to_r + i * k * n);
  });
  const Tensor reduced = record("qr", complete ? slice(q, {ellipsis, slice(0, k)}) : q,
                                wrt(a, [a, n, k](const Tensor& gq, const Tensor& q) {
                                  if (n == k) return orthonormal_gradient(a, gq, q);
                                  return place(orthonormal_gradient(narrow(a, -1, 0, k), gq, q),
                                               {ellipsis, slice(0, k)}, a.shape());
                                }));
  // r = q' a.
  const Tensor upper = record("qr", std::move(r),
                              wrt(reduced, [a](const Tensor& gr) { return times_transposed(a, triu(gr)); }),
                              wrt(a, [reduced](const Tensor& gr) { return matmul(reduced, triu(gr)); }));
  if (!complete) return {.q = reduced, .r = upper};
  const Tensor whole = record("qr", std::move(q), wrt(a, [](const Tensor&) -> Tensor {
                                fail<GraphError>("qr", "the complete q of more rows than columns has no gradient");
                              }));
  ShortList<Padding> paddings = ShortList<Padding>::filled(a.rank(), Padding{});
  paddings[a.rank() - 2].after = m - k;
  return {.q = whole, .r = pad(upper, paddings)};
}

namespace {

// Where the largest number of a line is negative, the line with the other sign, and its partner.
void make_largest_positive(Real* line, std::int64_t size, std::int64_t step, Real* partner, std::int64_t partner_size,
                           std::int64_t partner_step) {
  std::int64_t largest = 0;
  for (std::int64_t i = 1; i < size; ++i) {
    if (std::abs(line[i * step]) > std::abs(line[largest * step])) largest = i;
  }
  if (line[largest * step] >= 0) return;
  for (std::int64_t i = 0; i < size; ++i) line[i * step] = -line[i * step];
  for (std::int64_t i = 0; i < partner_size; ++i) partner[i * partner_step] = -partner[i * partner_step];
}

// 1 / (x_j - x_i), 0 on the diagonal. Refuses two of x's numbers that are no further apart than `tolerance` times the
// largest magnitude among `values`, which x is in the first place: `what` says of what, `values` what to show.
Tensor inverse_gaps(const char* op, const char* what, const Tensor& x, const Array& shown, Real tolerance) {
  const std::int64_t n = x.dim(-1);
  Shape batch = x.shape();
  batch.erase(batch.rank() - 1);
  batch.push_back(n);
  batch.push_back(n);
  const Matrices sizes(batch);
  for (std::int64_t row = 0; row < sizes.count; ++row) {
    const Real* values = x.value().data() + row * n;
    const auto bound = tolerance * std::abs(*std::max_element(
                                       values, values + n, [](Real a, Real b) { return std::abs(a) < std::abs(b); }));
    for (std::int64_t i = 0; i + 1 < n; ++i) {
      if (std::abs(values[i + 1] - values[i]) <= bound) {
        const Real* pair = shown.data() + row * n + i;
        fail<NumericError>(op, "no gradient of the ", what, "vectors: ", what, "values ", i, " and ", i + 1, " of ",
                           sizes.name(row), " are equal: ", pair[0], " and ", pair[1]);
      }
    }
  }
  const Tensor one = eye(n);
  return (1 - one) / (for_columns(x) - for_rows(x) + one);
}

}  // namespace

Eigh eigh(const Tensor& a) {
  const Matrices sizes = checked_square("eigh", a);
  check_finite("eigh", a);
  const std::int64_t n = sizes.n;
  Array rows = a.value(), w(sizes.with({n}));
  Real *vectors = rows.mutable_data(), *values = w.mutable_data();
  std::vector<int> codes = codes_for(sizes);
  sizes.each(9 * n * n * n, [&](std::int64_t i) {
    Real* of_matrix = vectors + i * n * n;
    codes[static_cast<std::size_t>(i)] = lapack::eigh(n, of_matrix, values + i * n);
    for (std::int64_t j = 0; j < n; ++j) make_largest_positive(of_matrix + j * n, n, 1, nullptr, 0, 0);
  });
  check_codes(codes, [&](std::int64_t i, int) { fail<NumericError>("eigh", sizes.name(i), ": no convergence"); });
  const Tensor v = record("eigh", transpose(rows), wrt(a, [a, w, n](const Tensor& gv, const Tensor& v) {
                            // Eigenvalues as functions of the vectors: these can be differentiated.
                            const Tensor x = recording() ? sum(v * matmul(a, v), {.axis = -2}) : Tensor(w);
                            const Tensor f = inverse_gaps("eigh", "eigen", x, w, static_cast<Real>(n) * eps);
                            return symmetric(times_transposed(matmul(v, f * transposed_times(v, gv)), v));
                          }));
  const Tensor all = record("eigh", std::move(w), wrt(a, [v](const Tensor& gw) {
                              return times_transposed(v * for_columns(gw), v);
                            }));
  return {.eigenvalues = all, .eigenvectors = v};
}

Tensor eigvalsh(const Tensor& a) { return eigh(a).eigenvalues; }

namespace {

// The gradient of a (..., m, n) by the vectors u (..., m, k) of its shorter decomposition.
Tensor singular_gradient(const Tensor& a, const Array& s, const Tensor& gu, const Tensor& u) {
  const std::int64_t m = a.dim(-2), n = a.dim(-1), k = s.dim(-1);
  const Tensor rest = transposed_times(a, u);  // v diag(s), (..., n, k)
  const Tensor squares = sum(square(rest), {.axis = -2});
  const Real tolerance = static_cast<Real>(std::max(m, n)) * eps;
  const Tensor f = inverse_gaps("svd", "singular ", squares, s, tolerance);
  const Tensor inner = transposed_times(u, gu);
  Tensor g = matmul(u, f * (inner - transpose(inner)));
  if (m > k) {
    const Matrices sizes(a.shape());
    for (std::int64_t i = 0; i < sizes.count; ++i) {
      const Real first = s.data()[i * k], last = s.data()[(i + 1) * k - 1];
      if (last * last <= tolerance * first * first) {
        fail<NumericError>("svd", "no gradient of the singular vectors: singular value ", k - 1, " of ", sizes.name(i),
                           " is 0: ", last, " with the largest ", first);
      }
    }
    g = g + (gu - matmul(u, inner)) / for_columns(squares);
  }
  return times_transposed(g, rest);
}

}  // namespace

Svd svd(const Tensor& a, const SvdOptions& options) {
  const Matrices sizes = checked("svd", a);
  check_finite("svd", a);
  const std::int64_t m = sizes.m, n = sizes.n, k = sizes.k();
  const std::int64_t rows = options.full_matrices ? m : k, columns = options.full_matrices ? n : k;
  Array input = a.value(), u(sizes.with({m, rows})), s(sizes.with({k})), vh(sizes.with({columns, n}));
  Real *from = input.mutable_data(), *to_u = u.mutable_data(), *to_s = s.mutable_data(), *to_vh = vh.mutable_data();
  std::vector<int> codes = codes_for(sizes);
  sizes.each(20 * m * n * k, [&](std::int64_t i) {
    Real *of_u = to_u + i * m * rows, *of_vh = to_vh + i * columns * n;
    codes[static_cast<std::size_t>(i)] =
        lapack::svd(m, n, from + i * m * n, options.full_matrices ? lapack::Vectors::full : lapack::Vectors::reduced,
                    of_u, to_s + i * k, of_vh);
    for (std::int64_t j = 0; j < k; ++j) make_largest_positive(of_u + j, m, rows, of_vh + j * n, n, 1);
  });
  check_codes(codes, [&](std::int64_t i, int) { fail<NumericError>("svd", sizes.name(i), ": no convergence"); });
  const Tensor left = record("svd", rows == k ? u : slice(u, {ellipsis, slice(0, k)}),
                             wrt(a, [a, s](const Tensor& gu, const Tensor& u) {
                               return singular_gradient(a, s, gu, u);
                             }));
  const Tensor right = record("svd", columns == k ? vh : slice(vh, {ellipsis, slice(0, k), _}),
                              wrt(a, [a, s](const Tensor& gvh, const Tensor& vh) {
                                return transpose(singular_gradient(transpose(a), s, transpose(gvh), transpose(vh)));
                              }));
  const Tensor values = record("svd", std::move(s), wrt(a, [left, right](const Tensor& gs) {
                                 return matmul(left * for_columns(gs), right);
                               }));
  const auto without_gradient = [&](Array whole) {
    return record("svd", std::move(whole), wrt(a, [](const Tensor&) -> Tensor {
                    fail<GraphError>("svd", "the vectors that full_matrices adds have no gradient");
                  }));
  };
  return {.u = rows == k ? left : without_gradient(std::move(u)),
          .s = values,
          .vh = columns == k ? right : without_gradient(std::move(vh))};
}

Tensor svdvals(const Tensor& a) {
  checked("svdvals", a);
  check_finite("svdvals", a);
  return svd(a, {.full_matrices = false}).s;
}

namespace {

// The singular values of `op`'s argument and, for each matrix, the tolerance below which they count as 0.
struct Spectrum {
  Svd parts;
  std::vector<Real> tolerances;

  Spectrum(const char* op, const Tensor& a, const PinvOptions& options) {
    const Matrices sizes = checked(op, a);
    const Real rtol = options.rtol.value_or(static_cast<Real>(std::max(sizes.m, sizes.n)) * eps);
    if (!(options.atol >= 0) || !(rtol >= 0)) {
      fail<ValueError>(op, "tolerances must be 0 or more, got atol ", options.atol, ", rtol ", rtol);
    }
    check_finite(op, a);
    const NoGrad off;
    parts = svd(a, {.full_matrices = false});
    for (std::int64_t i = 0; i < sizes.count; ++i) {
      tolerances.push_back(std::max(options.atol, rtol * parts.s.value().data()[i * sizes.k()]));
    }
  }
  Index rank() const {
    Shape batch = parts.s.shape();
    batch.erase(batch.rank() - 1);
    Index result(batch, 0);
    const Array& s = parts.s.value();
    const std::int64_t k = s.dim(-1);
    for (std::int64_t i = 0; i < s.size(); ++i) {
      result.mutable_data()[i / k] += s.data()[i] > tolerances[static_cast<std::size_t>(i / k)];
    }
    return result;
  }
  // v diag(1/s) u', over what does not count as 0.
  Array inverse() const {
    const NoGrad off;
    Array inverses = parts.s.value();
    Real* s = inverses.mutable_data();
    const std::int64_t k = inverses.dim(-1);
    for (std::int64_t i = 0; i < inverses.size(); ++i) {
      s[i] = s[i] > tolerances[static_cast<std::size_t>(i / k)] ? 1 / s[i] : 0;
    }
    return matmul(parts.vh * for_rows(Tensor(inverses)), parts.u, {.transpose_a = true, .transpose_b = true}).value();
  }
};

Tensor pseudo_inverse(const Tensor& a, const Spectrum& spectrum) {
  return record("pinv", spectrum.inverse(), wrt(a, [a](const Tensor& gy, const Tensor& y) {
                  const Tensor g = transpose(gy), yt = transpose(y);
                  const Tensor left = matmul(matmul(g, y), yt), right = matmul(matmul(yt, y), g);
                  return left - matmul(a, matmul(y, left)) + right - matmul(matmul(right, y), a) -
                         matmul(matmul(yt, gy), yt);
                }));
}

}  // namespace

Tensor pinv(const Tensor& a, const PinvOptions& options) {
  return pseudo_inverse(a, Spectrum("pinv", a, options));
}

Index matrix_rank(const Tensor& a, const PinvOptions& options) { return Spectrum("matrix_rank", a, options).rank(); }

LeastSquares lstsq(const Tensor& a, const Tensor& b, const PinvOptions& options) {
  checked("lstsq", a);
  if (is_vector(a, b)) {
    const auto [solution, rank] = lstsq(a, unsqueeze(b, -1), options);
    return {.solution = squeeze(solution, {-1}), .rank = rank};
  }
  check_right_side("lstsq", a, b, -2, -2);
  check_finite("lstsq", b, "on the right-hand side ");
  const Spectrum spectrum("lstsq", a, options);
  return {.solution = matmul(pseudo_inverse(a, spectrum), b), .rank = spectrum.rank()};
}

// ---- Norms ----------------------------------------------------------------------------------------------------------

namespace {

// y of reduced axes as x's rank has it.
Tensor with_axes(const Tensor& y, const Axes& axes, bool has_them) {
  Tensor result = y;
  for (int i = 0; !has_them && i < axes.size(); ++i) result = unsqueeze(result, axes[i]);
  return result;
}

}  // namespace

Tensor vector_norm(const Tensor& x, const VectorNormOptions& options) {
  const char* op = "vector_norm";
  const double ord = options.ord;
  if (std::isnan(ord)) fail<ValueError>(op, "ord is NaN");
  const Axes axes = options.axis.resolve(op, x.rank());
  const ReduceOptions reduced{.axis = axes, .keepdim = options.keepdim};
  if (std::isinf(ord)) return ord > 0 ? max(abs(x), reduced) : min(abs(x), reduced);
  if (ord == 1) return sum(abs(x), reduced);
  if (ord == 0) return sum(to_real(x != Tensor(0)), reduced);

  Array y;
  const Real p = static_cast<Real>(ord);
  {
    // In units of the largest (smallest, for a negative ord) element, so that no power overflows.
    const NoGrad off;
    const Tensor sizes = abs(Tensor(x.value()));
    const ReduceOptions all{.axis = axes, .keepdim = true};
    const Tensor none = sum(zeros_like(sizes), all);
    if (x.size() == 0) {
      y = (ord > 0 ? none : none + std::numeric_limits<Real>::infinity()).value();
    } else {
      const Tensor largest = ord > 0 ? max(sizes, all) : min(sizes, all);
      const Tensor unit = where(largest > none && largest < none + std::numeric_limits<Real>::infinity(), largest,
                                ones_like(largest));
      const Tensor parts = sizes / unit;
      const Tensor total = sum(ord == 2 ? square(parts) : pow(parts, p), all);
      y = (unit * (ord == 2 ? sqrt(total) : pow(total, 1 / p))).value();
    }
    if (!options.keepdim) y = squeeze(Tensor(y), axes).value();
  }
  return record(op, std::move(y), wrt(x, [x, axes, p, keepdim = options.keepdim](const Tensor& gy, const Tensor& y) {
                  const Tensor g = with_axes(gy, axes, keepdim), size = with_axes(y, axes, keepdim);
                  // Where x or y is 0 the gradient is 0; 1 stands there, so that nothing is divided by 0.
                  const Tensor divisor = masked_fill(size, size == Tensor(0), 1);
                  if (p == 2) return g * (x / divisor);
                  const Mask nothing = x == Tensor(0);
                  const Tensor ratio = abs(masked_fill(x, nothing, 1)) / divisor;
                  return masked_fill(g * sign(x) * pow(ratio, p - 1), nothing, 0);
                }));
}

Tensor norm(const Tensor& x, const ReduceOptions& options) {
  return vector_norm(x, {.ord = 2, .axis = options.axis, .keepdim = options.keepdim});
}

Tensor matrix_norm(const Tensor& a, const MatrixNormOptions& options) {
  const char* op = "matrix_norm";
  checked(op, a);
  const Axes both{a.rank() - 2, a.rank() - 1};
  const auto done = [&](const Tensor& y) { return with_axes(y, both, !options.keepdim); };
  const auto sums = [&](int axis) { return sum(abs(a), {.axis = axis}); };
  switch (options.ord) {
    case MatrixNorm::frobenius: return done(norm(a, {.axis = both}));
    case MatrixNorm::infinity: return done(max(sums(-1), {.axis = -1}));
    case MatrixNorm::minus_infinity: return done(min(sums(-1), {.axis = -1}));
    case MatrixNorm::one: return done(max(sums(-2), {.axis = -1}));
    case MatrixNorm::minus_one: return done(min(sums(-2), {.axis = -1}));
    case MatrixNorm::nuclear:
    case MatrixNorm::two:
    case MatrixNorm::minus_two: break;
  }
  check_finite(op, a);
  const Tensor s = svd(a, {.full_matrices = false}).s;
  if (options.ord == MatrixNorm::nuclear) return done(sum(s, {.axis = -1}));
  return done(s[{ellipsis, options.ord == MatrixNorm::two ? 0 : -1}]);
}

// ---- Diagonals, powers ----------------------------------------------------------------------------------------------

namespace {

// The diagonal of matrices whose rows stand in one line.
Slices diagonal_of(std::int64_t m, std::int64_t n) { return {ellipsis, slice(0, std::min(m, n) * n, n + 1)}; }

void check_rank(const char* op, const Tensor& a) {
  if (a.rank() < 2) fail<ShapeError>(op, "expected matrices (..., m, n), got shape ", a.shape());
}

}  // namespace

Tensor diagonal(const Tensor& a) {
  check_rank("diagonal", a);
  const Matrices sizes(a.shape());
  return slice(reshape(a, sizes.with({sizes.size()})), diagonal_of(sizes.m, sizes.n));
}

Tensor diag_embed(const Tensor& x) {
  if (x.rank() == 0) fail<ShapeError>("diag_embed", "expected an axis, got shape ", x.shape());
  const std::int64_t n = x.dim(-1);
  Shape line = x.shape(), square = x.shape();
  line[line.rank() - 1] = n * n;
  square.push_back(n);
  return reshape(place(x, diagonal_of(n, n), line), square);
}

Tensor trace(const Tensor& a) {
  check_rank("trace", a);
  return sum(diagonal(a), {.axis = -1});
}

Tensor matrix_power(const Tensor& a, std::int64_t exponent) {
  checked_square("matrix_power", a);
  check_finite("matrix_power", a);
  if (exponent == 0) return broadcast_to(eye(a.dim(-1)), a.shape());
  Tensor square = exponent < 0 ? inv(a) : a, result;
  for (auto rest = exponent < 0 ? 0 - static_cast<std::uint64_t>(exponent) : static_cast<std::uint64_t>(exponent);;) {
    if (rest & 1) result = result.defined() ? matmul(result, square) : square;
    if ((rest >>= 1) == 0) return result;
    square = matmul(square, square);
  }
}

Tensor matrix_exp(const Tensor& a) {
  const Matrices sizes = checked_square("matrix_exp", a);
  check_finite("matrix_exp", a);
  // Each matrix is halved until its norm is at most 1/2; then 14 terms leave an error of (1/2)^15 / 15! < 3e-17.
  Array scale(sizes.batch);
  std::vector<int> halvings = codes_for(sizes);
  int most = 0;
  for (std::int64_t i = 0; i < sizes.count; ++i) {
    double norm = 0;
    for (std::int64_t row = 0; row < sizes.m; ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < sizes.n; ++j) {
        sum += std::abs(static_cast<double>(a.value().data()[i * sizes.size() + row * sizes.n + j]));
      }
      norm = std::max(norm, sum);
    }
    int& count = halvings[static_cast<std::size_t>(i)];
    if (norm > 0.5) std::frexp(2 * norm, &count);
    most = std::max(most, count);
    scale.mutable_data()[i] = static_cast<Real>(std::ldexp(1.0, -count));
  }
  const Tensor x = a * for_matrices(Tensor(scale)), one = eye(sizes.n);
  Tensor y = one + x / 14;
  for (int term = 13; term >= 1; --term) y = one + matmul(x, y) / static_cast<Real>(term);
  for (int step = 0; step < most; ++step) {
    Mask squared(sizes.with({1, 1}));
    for (std::int64_t i = 0; i < sizes.count; ++i) {
      squared.mutable_data()[i] = step < halvings[static_cast<std::size_t>(i)];
    }
    y = where(squared, matmul(y, y), y);
  }
  return y;
}

}  // namespace xgrad::linalg
