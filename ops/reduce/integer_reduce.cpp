// Reductions of integers and of masks; sums are checked for overflow.
#include "integer_reduce.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "../indexing/axis.h"
#include "../shape/shape.h"

namespace xgrad {
namespace {

// f(begin, end) for each group that is reduced together, elements in their order.
template <class T, class F>
Index reduced(const char* op, const BasicArray<T>& x, const AxisSet& axis, bool keepdim, const F& f) {
  const Axes axes = axis.resolve(op, x.rank());
  Axes order;
  for (int i = 0; i < x.rank(); ++i) {
    if (std::ranges::find(axes, i) == axes.end()) order.push_back(i);
  }
  for (const int last : axes) order.push_back(last);
  const BasicArray<T> rows = permute(x, order);
  const std::int64_t count = count_of(x.shape(), axes);
  Index result(reduced_shape(x.shape(), axes, keepdim));
  const T* in = rows.data();
  for (std::int64_t& out : std::span(result.mutable_data(), static_cast<std::size_t>(result.size()))) {
    out = f(in, in + count);
    in += count;
  }
  return result;
}

Index extremes(const char* op, const Index& x, const AxisSet& axis, bool keepdim, bool largest) {
  return reduced(op, x, axis, keepdim, [&](const std::int64_t* begin, const std::int64_t* end) {
    if (begin == end) {
      fail<ValueError>(op, "nothing to reduce in shape ", x.shape(), " over axes ", axis.resolve(op, x.rank()));
    }
    return largest ? *std::max_element(begin, end) : *std::min_element(begin, end);
  });
}

}  // namespace

Index sum(const Index& x, const AxisSet& axis, const KeepdimOptions& options) {
  return reduced("sum", x, axis, options.keepdim, [](const std::int64_t* begin, const std::int64_t* end) {
    const auto add = [](std::int64_t a, std::int64_t b) { return checked_add("sum", a, b); };
    return std::accumulate(begin, end, std::int64_t{0}, add);
  });
}
Index sum(const Mask& x, const AxisSet& axis, const KeepdimOptions& options) {
  return reduced("sum", x, axis, options.keepdim,
                 [](const bool* begin, const bool* end) { return std::count(begin, end, true); });
}
Index max(const Index& x, const AxisSet& axis, const KeepdimOptions& options) {
  return extremes("max", x, axis, options.keepdim, true);
}
Index min(const Index& x, const AxisSet& axis, const KeepdimOptions& options) {
  return extremes("min", x, axis, options.keepdim, false);
}

}  // namespace xgrad
