// Each row in two passes: its maximum, then the powers and their sum.
#include "softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rows.h"

namespace xgrad {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// y = softmax(x) of n numbers.
void softmax_row(const Real* x, Real* y, std::int64_t n) {
  Real most = max_of_row(x, n);
  if (most == -infinity) {
    // All of them are -inf, or NaN.
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] == -infinity ? 0 : x[i];
    return;
  }
  if (most == infinity) {
    replace_infinities(x, y, n);
    x = y;
    most = 0;
  }
  const Pack shift(most);
  const Real total = sum_packs(n, [&](std::int64_t i, auto part) {
    const Pack e = exp(part.load(x + i, -infinity) - shift);
    part.store(e, y + i);
    return e;
  });
  const Pack scale(1 / total);
  each_pack(n, [&](std::int64_t i, auto part) { part.store(part.load(y + i) * scale, y + i); });
}

void softmax_gradient_row(const Real* gy, const Real* y, Real* gx, std::int64_t n) {
  const Pack mean(sum_packs(n, [&](std::int64_t i, auto part) { return part.load(gy + i) * part.load(y + i); }));
  each_pack(n, [&](std::int64_t i, auto part) { part.store(part.load(y + i) * (part.load(gy + i) - mean), gx + i); });
}

// y = x - ln sum e^x of n numbers.
void log_softmax_row(const Real* x, Real* y, std::int64_t n) {
  Real most = max_of_row(x, n);
  if (most == -infinity) {
    std::copy_n(x, n, y);
    return;
  }
  if (most == infinity) {
    replace_infinities(x, y, n);
    x = y;
    most = 0;
  }
  const Pack shift(most);
  const Pack log_total(
      std::log(sum_packs(n, [&](std::int64_t i, auto part) { return exp(part.load(x + i, -infinity) - shift); })));
  each_pack(n, [&](std::int64_t i, auto part) { part.store(part.load(x + i) - shift - log_total, y + i); });
}

void log_softmax_gradient_row(const Real* gy, const Real* y, Real* gx, std::int64_t n) {
  const Pack total(sum_packs(n, [&](std::int64_t i, auto part) { return part.load(gy + i); }));
  each_pack(n,
            [&](std::int64_t i, auto part) { part.store(part.load(gy + i) - exp(part.load(y + i)) * total, gx + i); });
}

// f(from, to, n) for every row of an array and of a new one like it.
template <class F>
Array by_rows(const Array& x, const F& f) {
  Array y(x.shape());
  const Real* in = x.data();
  Real* out = y.mutable_data();
  const std::int64_t n = x.shape().back();
  each_row(x.shape(), [&](std::int64_t, std::int64_t at) { f(in + at, out + at, n); });
  return y;
}

// f(gy, y, gx, n), likewise.
template <class F>
Array by_rows(const Array& gy, const Array& y, const F& f) {
  Array gx(y.shape());
  const Real *g = gy.data(), *v = y.data();
  Real* out = gx.mutable_data();
  const std::int64_t n = y.shape().back();
  each_row(y.shape(), [&](std::int64_t, std::int64_t at) { f(g + at, v + at, out + at, n); });
  return gx;
}

}  // namespace

Array softmax_rows(const Array& x) { return by_rows(x, softmax_row); }
Array softmax_gradient_rows(const Array& gy, const Array& y) { return by_rows(gy, y, softmax_gradient_row); }
Array log_softmax_rows(const Array& x) { return by_rows(x, log_softmax_row); }
Array log_softmax_gradient_rows(const Array& gy, const Array& y) { return by_rows(gy, y, log_softmax_gradient_row); }

Array softmax_rows(const Array& x, const RowLengths& length) {
  Array y(x.shape());
  const Real* in = x.data();
  Real* out = y.mutable_data();
  const std::int64_t n = x.shape().back();
  each_row(x.shape(), [&](std::int64_t row, std::int64_t at) {
    softmax_row(in + at, out + at, length(row));
    std::fill(out + at + length(row), out + at + n, Real(0));
  });
  return y;
}

Array softmax_gradient_rows(const Array& gy, const Array& y, const RowLengths& length) {
  Array gx(y.shape());
  const Real *g = gy.data(), *p = y.data();
  Real* out = gx.mutable_data();
  const std::int64_t n = y.shape().back();
  each_row(y.shape(), [&](std::int64_t row, std::int64_t at) {
    softmax_gradient_row(g + at, p + at, out + at, length(row));
    std::fill(out + at + length(row), out + at + n, Real(0));
  });
  return gx;
}

}  // namespace xgrad
