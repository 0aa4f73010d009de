// Linear algebra: factorisations and their rules.
#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../elementwise/elementwise.h"
#include "linalg.h"
#include "matrices.h"

namespace xgrad::linalg {

using lapack::Transposed, lapack::Triangle;

XGRAD_FORMULA cholesky_formula{"cholesky", "a = y y^T, y triangular",
                               "dL/da = sym(y^-T P y^-1) with P = tril(y^T gy), half of its diagonal"};
Tensor cholesky(const Tensor& a, const CholeskyOptions& options) {
  const Matrices sizes = checked_square("cholesky", a);
  check_finite("cholesky", a, "", {.last = 0});
  Array l = a.value();
  Real* all = l.mutable_data();
  const std::vector<int> codes = sizes.codes_of_each(sizes.n * sizes.n * sizes.n / 3, [&](std::int64_t i) {
    return lapack::cholesky(sizes.n, all + i * sizes.size());
  });
  check_codes(codes, [&](std::int64_t i, int order) {
    fail<NumericError>("cholesky", sizes.name(i), " is not positive definite: its leading block of ", order, " rows");
  });
  const Tensor result = record("cholesky", std::move(l), wrt(a, [](const Tensor& gl, const Tensor& l) {
                                 const Tensor inner = lower_half(transposed_times(l, gl));
                                 const Tensor half = triangular(l, inner, Triangle::lower, Transposed::yes);
                                 return symmetric(triangular(l, transpose(half), Triangle::lower, Transposed::yes));
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
  return transpose(triangular(r, transpose(g), Triangle::upper, Transposed::no));
}

}  // namespace

XGRAD_FORMULA qr_formula{"qr", "a = q r, q^T q = 1, r triangular",
                         "dL/da = (gq + q S) r^-T with S symmetric, its upper triangle that of -q^T gq; r = q^T a"};
Qr qr(const Tensor& a) {
  const Matrices sizes = checked("qr", a);
  check_finite("qr", a);
  const std::int64_t m = sizes.m, n = sizes.n, k = sizes.k();
  Array values(sizes.with({m, k})), triangle(sizes.with({k, n}));
  Real *to_q = values.mutable_data(), *to_r = triangle.mutable_data();
  sizes.each(m * n * k, [&](std::int64_t i) {
    lapack::qr(m, n, a.value().data() + i * m * n, to_q + i * m * k, to_r + i * k * n);
  });
  const Tensor q =
      record("qr", std::move(values),
             wrt(a,
                 [a, n, k](const Tensor& gq, const Tensor& q) {
                   if (n == k) return orthonormal_gradient(a, gq, q);
                   return place(orthonormal_gradient(narrow(a, -1, 0, k), gq, q), {ellipsis, slice(0, k)}, a.shape());
                 }),
             attribute("output", "q"));
  // r = q' a.
  const Tensor r =
      record("qr", std::move(triangle), wrt(q, [a](const Tensor& gr) { return times_transposed(a, triu(gr)); }),
             wrt(a, [q](const Tensor& gr) { return matmul(q, triu(gr)); }), attribute("output", "r"));
  return {.q = q, .r = r};
}

namespace {

// Flips the sign of a line and its partner where the number of largest magnitude in the line is negative.
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

// 1 / (x_j - x_i), 0 on the diagonal. Throws if two neighbours in x are no further apart than `tolerance` times its
// largest magnitude; the error names `what` ("eigen", "singular") and prints the numbers of `shown`.
Tensor inverse_gaps(const char* op, const char* what, const Tensor& x, const Array& shown, Real tolerance) {
  const std::int64_t n = x.dim(-1);
  const Matrices sizes(joined(x.shape(), {n}));
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

// The eigenvalues w of a, whose eigenvectors are v.
Tensor eigenvalues(const Tensor& a, const Array& w, const Tensor& v) {
  return record("eigh", w, wrt(a, [v](const Tensor& gw) { return times_transposed(v * for_columns(gw), v); }),
                attribute("output", "eigenvalues"));
}

}  // namespace

XGRAD_FORMULA eigh_formula{"eigh", "a = v diag(w) v^T, v^T v = 1",
                           "dL/da = v (diag(gw) + F * v^T gv) v^T with F_ij = 1/(w_j - w_i), 0 on the diagonal"};
Eigh eigh(const Tensor& a) {
  const Matrices sizes = checked_square("eigh", a);
  check_finite("eigh", a, "", {.last = 0});
  const std::int64_t n = sizes.n;
  Array rows = a.value(), w(sizes.with({n}));
  Real *vectors = rows.mutable_data(), *values = w.mutable_data();
  const std::vector<int> codes = sizes.codes_of_each(9 * n * n * n, [&](std::int64_t i) {
    Real* of_matrix = vectors + i * n * n;
    const int code = lapack::eigh(n, of_matrix, values + i * n);
    for (std::int64_t j = 0; j < n; ++j) make_largest_positive(of_matrix + j * n, n, 1, nullptr, 0, 0);
    return code;
  });
  check_codes(codes, [&](std::int64_t i, int) { fail<NumericError>("eigh", sizes.name(i), ": no convergence"); });
  const Tensor v = record("eigh", transpose(rows),
                          wrt(a,
                              [a, w, n](const Tensor& gv, const Tensor& v) {
                                const Tensor x = eigenvalues(a, w, v);
                                const Tensor f = inverse_gaps("eigh", "eigen", x, w, static_cast<Real>(n) * eps);
                                return symmetric(times_transposed(matmul(v, f * transposed_times(v, gv)), v));
                              }),
                          attribute("output", "eigenvectors"));
  return {.eigenvalues = eigenvalues(a, w, v), .eigenvectors = v};
}

namespace {

// The gradient of a (..., m, n) by the vectors u (..., m, k) of its shorter decomposition.
Tensor singular_gradient(const Tensor& a, const Array& s, const Tensor& gu, const Tensor& u) {
  const std::int64_t m = a.dim(-2), n = a.dim(-1), k = s.dim(-1);
  const Tensor v_s = transposed_times(a, u);  // v diag(s), (..., n, k)
  const Tensor squares = sum(square(v_s), -2);
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
  return times_transposed(g, v_s);
}

}  // namespace

XGRAD_FORMULA svd_formula{"svd", "a = u diag(s) vh, u^T u = 1, vh vh^T = 1", "dL/da by s = u diag(gs) vh"};
Svd svd(const Tensor& a) {
  const Matrices sizes = checked("svd", a);
  check_finite("svd", a);
  const std::int64_t m = sizes.m, n = sizes.n, k = sizes.k();
  Array input = a.value(), u(sizes.with({m, k})), s(sizes.with({k})), vh(sizes.with({k, n}));
  Real *from = input.mutable_data(), *to_u = u.mutable_data(), *to_s = s.mutable_data(), *to_vh = vh.mutable_data();
  const std::vector<int> codes = sizes.codes_of_each(20 * m * n * k, [&](std::int64_t i) {
    Real *of_u = to_u + i * m * k, *of_vh = to_vh + i * k * n;
    const int code = lapack::svd(m, n, from + i * m * n, of_u, to_s + i * k, of_vh);
    for (std::int64_t j = 0; j < k; ++j) make_largest_positive(of_u + j, m, k, of_vh + j * n, n, 1);
    return code;
  });
  check_codes(codes, [&](std::int64_t i, int) { fail<NumericError>("svd", sizes.name(i), ": no convergence"); });
  const Tensor left = record(
      "svd", std::move(u), wrt(a, [a, s](const Tensor& gu, const Tensor& u) { return singular_gradient(a, s, gu, u); }),
      attribute("output", "u"));
  const Tensor right = record("svd", std::move(vh),
                              wrt(a,
                                  [a, s](const Tensor& gvh, const Tensor& vh) {
                                    return transpose(singular_gradient(transpose(a), s, transpose(gvh), transpose(vh)));
                                  }),
                              attribute("output", "vh"));
  const Tensor values = record(
      "svd", std::move(s), wrt(a, [left, right](const Tensor& gs) { return matmul(left * for_columns(gs), right); }),
      attribute("output", "s"));
  return {.u = left, .s = values, .vh = right};
}

}  // namespace xgrad::linalg
