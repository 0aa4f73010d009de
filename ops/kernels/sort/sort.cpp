// Sorting and selecting elements together with their positions. (xtensor's argsort and argpartition are not stable, and
// compare NaN as no order does.)
#include "sort.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../reduce/reduce.h"
#include "../registers/copy.h"

namespace xgrad {
namespace {

Shape with_size(Shape shape, int axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

// An element of a line, and its position along the axis.
template <class T>
struct Item {
  T value;
  std::int64_t position;
};

// Equal items in the order of their positions, so that sorting is stable.
struct InOrder {
  bool descending = false;

  template <class T>
  bool operator()(const Item<T>& a, const Item<T>& b) const {
    if (precedes(a.value, b.value)) return !descending;
    if (precedes(b.value, a.value)) return descending;
    return a.position < b.position;
  }
};

// f(items) for each line along the axis: it brings those to the front whose positions are the `count` results.
template <class T, class F>
Index each_line(const BasicArray<T>& x, int axis, std::int64_t count, const F& f) {
  constexpr std::int64_t elements_at_a_time = 1 << 15;
  Index result(with_size(x.shape(), axis, count));
  if (result.size() == 0) return result;
  const std::int64_t size = x.shape()[axis], inner = strides_of(x.shape())[axis];
  const T* in = x.data();
  std::int64_t* out = result.mutable_data();
  parallel_for(result.size() / count, std::max<std::int64_t>(1, elements_at_a_time / size),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<Item<T>> items(static_cast<std::size_t>(size));
                 for (std::int64_t n = begin; n < end; ++n) {
                   const T* from = in + n / inner * size * inner + n % inner;
                   std::int64_t* to = out + n / inner * count * inner + n % inner;
                   for (std::int64_t i = 0; i < size; ++i) items[static_cast<std::size_t>(i)] = {from[i * inner], i};
                   f(items);
                   for (std::int64_t i = 0; i < count; ++i) to[i * inner] = items[static_cast<std::size_t>(i)].position;
                 }
               });
  return result;
}

}  // namespace

template <class T>
Index first_in_order(const BasicArray<T>& x, int axis, std::int64_t count, bool descending) {
  XGRAD_ASSERT(x.rank() == 0 || (0 <= count && count <= x.dim(axis)));
  return each_line(x, axis, count, [count, order = InOrder{descending}](std::vector<Item<T>>& items) {
    const auto last = items.begin() + count;
    if (last != items.end()) std::nth_element(items.begin(), last, items.end(), order);
    std::sort(items.begin(), last, order);
  });
}

template Index first_in_order(const Array&, int, std::int64_t, bool);
template Index first_in_order(const Index&, int, std::int64_t, bool);

Index kth_in_order(const Array& x, int axis, std::int64_t k, NanOrder nan) {
  XGRAD_ASSERT(x.rank() == 0 || (0 <= k && k < x.dim(axis)));
  return each_line(x, axis, 1, [k, nan](std::vector<Item<Real>>& items) {
    const auto is_nan = [](const Item<Real>& item) { return std::isnan(item.value); };
    auto found = nan == NanOrder::wins ? std::ranges::find_if(items, is_nan) : items.end();
    if (found == items.end()) {
      found = items.begin() + k;
      std::nth_element(items.begin(), found, items.end(), InOrder());
    }
    items.front() = *found;
  });
}

// The extremes are found first, then their positions.
Index first_extreme(const Array& x, int axis, bool largest) {
  const Shape shape = with_size(x.shape(), axis, 1);
  Index result(shape, 0);
  if (result.size() == 0) return result;
  const std::int64_t count = x.shape()[axis], inner = strides_of(x.shape())[axis];
  const Array extremes = largest ? max_over(x, {axis}, shape) : min_over(x, {axis}, shape);
  std::int64_t* out = result.mutable_data();
  // Without branches, so that the loops run in registers.
  const auto is = [](Real value, Real wanted) {
    return static_cast<int>(value == wanted) | (static_cast<int>(value != value) & static_cast<int>(wanted != wanted));
  };
  // Lines side by side are searched backwards, so that the first position is written last.
  const auto search_lines = [&](const Real* in, const Real* wanted, std::int64_t lines, std::int64_t* found) {
    for (std::int64_t k = count - 1; k >= 0; --k) {
      for (std::int64_t j = 0; j < lines; ++j) found[j] = is(in[k * inner + j], wanted[j]) ? k : found[j];
    }
  };
  const auto search_line = [&](const Real* in, Real wanted) {
    constexpr std::int64_t chunk = 64;  // elements searched between checks for a hit
    const auto among = [&](std::int64_t first) {
      int found = 0;
      for (std::int64_t k = first; k < first + chunk; ++k) found |= is(in[k], wanted);
      return found != 0;
    };
    std::int64_t k = 0;
    while (k + chunk <= count && !among(k)) k += chunk;
    while (!is(in[k], wanted)) ++k;
    return k;
  };
  const std::int64_t together = std::min<std::int64_t>(inner, 256), blocks = (inner + together - 1) / together;
  const std::int64_t grain = std::max<std::int64_t>(1, copy_block / (count * together));
  parallel_for(result.size() / inner * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t j = n % blocks * together, at = n / blocks * inner + j;
      const Real *in = x.data() + n / blocks * inner * count + j, *wanted = extremes.data() + at;
      if (inner > 1) {
        search_lines(in, wanted, std::min(together, inner - j), out + at);
      } else {
        out[at] = search_line(in, *wanted);
      }
    }
  });
  return result;
}

}  // namespace xgrad
