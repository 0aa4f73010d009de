// Each row in two passes: its maximum, then the powers and their sum.
#include "softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../registers/rows.h"

namespace xgrad {
namespace {

// A row without a largest number: `nothing` everywhere if all are -inf, else NaN, for one of them is NaN.
void write_without_largest(const Real* x, Real* y, std::int64_t n, Real nothing) {
  const bool all = std::all_of(x, x + n, [](Real v) { return v == -infinity; });
  std::fill_n(y, n, all ? nothing : std::numeric_limits<Real>::quiet_NaN());
}

// y = softmax(x) of n numbers.
void softmax_row(const Real* x, Real* y, std::int64_t n) {
  const Real most = max_of_row(x, n);
  if (most == -infinity) return write_without_largest(x, y, n, 0);
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
  const Real most = max_of_row(x, n);
  if (most == -infinity) return write_without_largest(x, y, n, -infinity);
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

// f(from, to, count) for every row of an array and of a new one like it, and 0 after the entries that count.
Array by_rows(const Array& x, const std::optional<RowLengths>& length, const auto& f) {
  Array y(x.shape());
  const Real* in = x.data();
  Real* out = y.mutable_data();
  const std::int64_t n = x.shape().back();
  if (y.size() == 0) return y;
  parallel_for(y.size() / n, rows_per_block(n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin, at = begin * n; row < end; ++row, at += n) {
      const std::int64_t count = length ? (*length)(row) : n;
      f(in + at, out + at, count);
      std::fill(out + at + count, out + at + n, Real(0));
    }
  });
  return y;
}

// f(gy, y, gx, count), likewise.
Array by_rows(const Array& gy, const Array& y, const std::optional<RowLengths>& length, const auto& f) {
  const Real* above = gy.data();
  const Real* first = y.data();
  return by_rows(y, length, [&](const Real* v, Real* gx, std::int64_t n) { f(above + (v - first), v, gx, n); });
}

}  // namespace

Array softmax_rows(const Array& x, const std::optional<RowLengths>& length) { return by_rows(x, length, softmax_row); }
Array softmax_gradient_rows(const Array& gy, const Array& y, const std::optional<RowLengths>& length) {
  return by_rows(gy, y, length, softmax_gradient_row);
}

Array log_softmax_rows(const Array& x) { return by_rows(x, {}, log_softmax_row); }
Array log_softmax_gradient_rows(const Array& gy, const Array& y) {
  return by_rows(gy, y, {}, log_softmax_gradient_row);
}

}  // namespace xgrad
