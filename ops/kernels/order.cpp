// Sorting and selecting by whole numbers that are in the order of the values.
#include "order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "../../core/parallel.h"
#include "copy.h"
#include "reduce.h"

namespace xgrad {
namespace {

// That one thread sorts.
constexpr std::int64_t numbers_at_a_time = 1 << 15;

// A line along the axis: keys, and where they stand.
using Line = std::vector<std::pair<OrderKey, std::int64_t>>;

Shape with_size(Shape shape, int axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

// f(line, to, step) for each line of x, its keys exclusive-ored with `flip`: it writes its results to to[i * step].
template <class F>
Index each_line(const Array& x, int axis, std::int64_t count, OrderKey flip, const F& f) {
  Index result(with_size(x.shape(), axis, count));
  if (result.size() == 0) return result;
  const std::int64_t size = x.shape()[axis], inner = strides_of(x.shape())[axis];
  const Real* in = x.data();
  std::int64_t* out = result.mutable_data();
  parallel_for(result.size() / count, std::max<std::int64_t>(1, numbers_at_a_time / std::max<std::int64_t>(size, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 Line line(static_cast<std::size_t>(size));
                 for (std::int64_t n = begin; n < end; ++n) {
                   const std::int64_t outer = n / inner, column = n % inner;
                   const Real* from = in + outer * size * inner + column;
                   for (std::int64_t i = 0; i < size; ++i)
                     line[static_cast<std::size_t>(i)] = {order_key(from[i * inner]) ^ flip, i};
                   f(line, out + outer * count * inner + column, inner);
                 }
               });
  return result;
}

}  // namespace

Index first_in_order(const Array& x, int axis, std::int64_t count, bool descending) {
  const OrderKey flip = descending ? ~OrderKey{0} : 0;
  return each_line(x, axis, count, flip, [count](Line& line, std::int64_t* to, std::int64_t step) {
    if (count == std::ssize(line)) {
      std::sort(line.begin(), line.end());
    } else {
      std::partial_sort(line.begin(), line.begin() + count, line.end());
    }
    for (std::int64_t i = 0; i < count; ++i) to[i * step] = line[static_cast<std::size_t>(i)].second;
  });
}

Index kth_in_order(const Array& x, int axis, std::int64_t k, NanOrder nan) {
  return each_line(x, axis, 1, 0, [k, nan](Line& line, std::int64_t* to, std::int64_t) {
    if (nan == NanOrder::wins) {
      const auto found = std::ranges::find(line, ~OrderKey{0}, &Line::value_type::first);
      if (found != line.end()) {
        *to = found->second;
        return;
      }
    }
    std::nth_element(line.begin(), line.begin() + k, line.end());
    *to = line[static_cast<std::size_t>(k)].second;
  });
}

Index most_frequent(const Array& x, int axis) {
  return each_line(x, axis, 1, 0, [](Line& line, std::int64_t* to, std::int64_t) {
    std::sort(line.begin(), line.end());
    std::ptrdiff_t most = 0;
    for (auto begin = line.begin(); begin != line.end();) {
      const auto end =
          std::find_if(begin, line.end(), [begin](const auto& each) { return each.first != begin->first; });
      if (end - begin > most) {
        most = end - begin;
        *to = std::prev(end)->second;
      }
      begin = end;
    }
  });
}

// Twice over memory, but in registers: first the largest, then who it is.
Index first_extreme(const Array& x, int axis, bool largest) {
  const Shape shape = with_size(x.shape(), axis, 1);
  const Array extremes = largest ? max_over(x, {axis}, shape) : min_over(x, {axis}, shape);
  Index result(shape, 0);
  if (result.size() == 0) return result;
  const std::int64_t count = x.shape()[axis], inner = strides_of(x.shape())[axis];
  const Real* in = x.data();
  const Real* wanted = extremes.data();
  std::int64_t* out = result.mutable_data();
  // Without branches, so that the loops run in registers.
  const auto is = [](Real value, Real wanted) {
    return static_cast<int>(value == wanted) | (static_cast<int>(value != value) & static_cast<int>(wanted != wanted));
  };
  if (inner == 1) {
    constexpr std::int64_t stretch = 64;  // that is looked through before anybody asks whether it was there
    const std::int64_t grain = std::max<std::int64_t>(1, copy_block / count);
    parallel_for(result.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Real *row = in + i * count, most = wanted[i];
        const auto among = [&](std::int64_t first) {
          int found = 0;
          for (std::int64_t k = first; k < first + stretch; ++k) found |= is(row[k], most);
          return found != 0;
        };
        std::int64_t k = 0;
        while (k + stretch <= count && !among(k)) k += stretch;
        while (!is(row[k], most)) ++k;
        out[i] = k;
      }
    });
    return result;
  }
  parallel_for(result.size() / inner, std::max<std::int64_t>(1, copy_block / (count * inner)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t plane = begin; plane < end; ++plane) {
                   for (std::int64_t k = count; k-- > 0;) {
                     const Real* row = in + (plane * count + k) * inner;
                     const Real* most = wanted + plane * inner;
                     std::int64_t* best = out + plane * inner;
                     for (std::int64_t j = 0; j < inner; ++j) best[j] = is(row[j], most[j]) ? k : best[j];
                   }
                 }
               });
  return result;
}

}  // namespace xgrad
