// Operations along lines of an array, one after the other or side by side, against plain loops: for tests in double and
// in float, whose registers and sorting differ.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

namespace xgrad::testing {

/// An axis of a shape, before and behind which lie sizes below, at and above the width of registers and of blocks.
struct LineCase {
  Shape shape;
  int axis;
};
inline std::vector<LineCase> line_cases() {
  return {{{0}, 0},      {{1}, 0},       {{5}, 0},        {{300}, 0},       {{3, 0}, 1},     {{0, 3}, 1},   {{2, 3}, 0},
          {{15, 40}, 1}, {{16, 7}, 1},   {{16, 16}, 1},   {{17, 33}, 1},    {{64, 64}, 1},   {{65, 131}, 1}, {{200, 17}, 1},
          {{40, 15}, 0}, {{33, 65}, 0},  {{7, 128}, 0},   {{4, 9, 3}, 1},   {{3, 20, 70}, 1}, {{2, 5, 64}, 1}, {{2, 30, 33}, 2}};
}

/// Numbers of which many are equal, with NaN and infinities among them where that is asked for.
inline Array with_ties(const Shape& shape, bool special) {
  Array x(shape);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    Real v = static_cast<Real>((i * 7919) % 23) / 4 - 2;
    if (special && i % 29 == 3) v = i % 58 == 3 ? infinity : -infinity;
    if (special && i % 41 == 17) v = not_a_number;
    if (i % 13 == 5) v = Real(-0.0);
    x.mutable_data()[i] = v;
  }
  return x;
}

/// Calls f(line) for each line of numbers along an axis.
template <class F>
void each_line_of(const Array& x, int axis, const F& f) {
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.shape()[i];
  const std::int64_t count = x.shape()[axis];
  if (x.size() == 0) return;
  for (std::int64_t line = 0; line < x.size() / count; ++line) {
    f(line / inner * count * inner + line % inner, inner, count);
  }
}

inline bool alike(Real a, Real b) { return a == b || (a != a && b != b); }

/// Running sums and products have the bits of a loop in double over one line.
inline void check_scans() {
  for (const LineCase& each : line_cases()) {
    const Shape& shape = each.shape;
    const int axis = each.axis;
    for (const bool special : {false, true}) {
      INFO(str(shape), " along ", axis, special ? " with NaN" : "");
      const Array x = special ? with_ties(shape, true) : normal(shape, 3);
      const Array sums = cumsum(Tensor(x), axis).value(), products = cumprod(Tensor(x), axis).value();
      int wrong = 0;
      each_line_of(x, axis, [&](std::int64_t at, std::int64_t step, std::int64_t count) {
        double sum = 0, product = 1;
        const auto value = [&](std::int64_t k) { return x.data()[at + k * step]; };
        for (std::int64_t k = 0; k < count; ++k) {
          const Real v = value(k);
          sum += static_cast<double>(v);
          product *= static_cast<double>(v);
          const std::int64_t here = at + k * step;
          wrong += !alike(sums.data()[here], static_cast<Real>(sum));
          wrong += !alike(products.data()[here], static_cast<Real>(product));
        }
      });
      CHECK(wrong == 0);
    }
  }
}

/// Sorting, choosing the first ones, the k-th and the most frequent one, and extremes with their places, as a stable sort has it.
inline void check_orders() {
  std::vector<LineCase> cases = line_cases();
  cases.push_back({{3, 1000}, 1});
  cases.push_back({{700, 2}, 0});
  for (const LineCase& each : cases) {
    const Shape& shape = each.shape;
    const int axis = each.axis;
    const std::int64_t size = shape[axis];
    if (shape.numel() == 0) continue;
    for (const bool special : {false, true}) {
      INFO(str(shape), " along ", axis, special ? " with NaN" : "");
      const Array x = with_ties(shape, special);
      const Tensor t(x);
      const std::int64_t few = std::max<std::int64_t>(1, size / 7);
      const Sorted up = sort(t, axis), down = sort(t, axis, {.descending = true});
      const Sorted top = topk(t, few, axis), middle_up = topk(t, few, axis, {.largest = false});
      const ValuesAndIndices kth = kthvalue(t, few, axis, {.keepdim = true});
      const ValuesAndIndices highest = max(t, axis, {.keepdim = true}), lowest = min(t, axis, {.keepdim = true});
      const ValuesAndIndices centre = median(t, axis, {.keepdim = true});
      int wrong = 0;
      std::int64_t line = 0;
      std::int64_t inner = 1;
      for (int i = axis + 1; i < x.rank(); ++i) inner *= shape[i];
      each_line_of(x, axis, [&](std::int64_t at, std::int64_t step, std::int64_t count) {
        const auto value = [&](std::int64_t k) { return x.data()[at + k * step]; };
        const auto below = [&](std::int64_t a, std::int64_t b) {
          return value(a) < value(b) || (value(a) == value(a) && value(b) != value(b));
        };
        std::vector<std::int64_t> order(static_cast<std::size_t>(count)), reverse;
        std::iota(order.begin(), order.end(), 0);
        reverse = order;
        std::ranges::stable_sort(order, below);
        std::ranges::stable_sort(reverse, [&](std::int64_t a, std::int64_t b) { return below(b, a); });
        for (std::int64_t k = 0; k < count; ++k) {
          const auto i = static_cast<std::size_t>(k);
          const std::int64_t here = at + k * step;
          wrong += up.indices.data()[here] != order[i] || down.indices.data()[here] != reverse[i];
          wrong += !alike(up.values.value().data()[here], value(order[i]));
          if (k >= few) continue;
          const std::int64_t there = line / inner * few * inner + line % inner + k * inner;
          wrong += top.indices.data()[there] != reverse[i] || middle_up.indices.data()[there] != order[i];
        }
        wrong += kth.indices.data()[line] != order[static_cast<std::size_t>(few - 1)];
        const auto nan = std::ranges::find_if(order, [&](std::int64_t k) { return value(k) != value(k); });
        const bool has_nan = nan != order.end();
        wrong += highest.indices.data()[line] != (has_nan ? *nan : reverse[0]);
        wrong += lowest.indices.data()[line] != (has_nan ? *nan : order[0]);
        wrong += centre.indices.data()[line] != (has_nan ? *nan : order[static_cast<std::size_t>((count - 1) / 2)]);
        ++line;
      });
      CHECK(wrong == 0);
    }
  }
}

/// Distinct numbers of many.
inline void check_distinct() {
  const Array many = with_ties({40, 50}, true);
  const Unique<Real> distinct = unique(Tensor(many));
  int wrong = 0;
  for (std::int64_t i = 0; i < many.size(); ++i) {
    wrong += !alike(distinct.values.data()[distinct.inverse.data()[i]], many.data()[i]);
  }
  CHECK(wrong == 0);
  CHECK(std::accumulate(distinct.counts.begin(), distinct.counts.end(), std::int64_t{0}) == many.size());
  for (std::int64_t i = 1; i < distinct.values.size(); ++i) CHECK(!(distinct.values.data()[i] <= distinct.values.data()[i - 1]));
}

}  // namespace xgrad::testing
