// Arithmetic on integers, checked for overflow.
#include "integer.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "../arrange/broadcast.h"
#include "../arrange/shape.h"
#include "../kernels/registers/loops.h"
#include "../private/axis.h"

namespace xgrad {
namespace {

[[noreturn]] void refuse_overflow(const char* op, std::int64_t a, std::int64_t b) {
  fail<LimitError>(op, "the result for ", a, " and ", b, " does not fit 64 bits");
}

template <class F>
Index elementwise(const char* op, const Index& a, const Index& b, const F& f) {
  return map_elements<std::int64_t>({broadcast_shapes(op, a.shape(), b.shape()), {op}}, f, a, b);
}

// Throws where C++ leaves a division undefined.
void check_divisor(const char* op, std::int64_t a, std::int64_t b) {
  if (b == 0) fail<ValueError>(op, a, " divided by 0");
  if (b == -1 && a == std::numeric_limits<std::int64_t>::min()) refuse_overflow(op, a, b);
}

std::int64_t added(const char* op, std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_add_overflow(a, b, &result)) refuse_overflow(op, a, b);
  return result;
}

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

Index operator+(const Index& a, const Index& b) {
  return elementwise("add", a, b, [](std::int64_t p, std::int64_t q) { return added("add", p, q); });
}

Index operator-(const Index& a, const Index& b) {
  return elementwise("sub", a, b, [](std::int64_t p, std::int64_t q) {
    std::int64_t result;
    if (__builtin_sub_overflow(p, q, &result)) refuse_overflow("sub", p, q);
    return result;
  });
}

Index operator*(const Index& a, const Index& b) {
  return elementwise("mul", a, b, [](std::int64_t p, std::int64_t q) {
    std::int64_t result;
    if (__builtin_mul_overflow(p, q, &result)) refuse_overflow("mul", p, q);
    return result;
  });
}

Index operator/(const Index& a, const Index& b) {
  return elementwise("div", a, b, [](std::int64_t p, std::int64_t q) {
    check_divisor("div", p, q);
    return p / q;
  });
}

Index operator%(const Index& a, const Index& b) {
  return elementwise("remainder", a, b, [](std::int64_t p, std::int64_t q) {
    check_divisor("remainder", p, q);
    return p % q;
  });
}

Index operator-(const Index& x) { return Index(Shape{}, 0) - x; }

Index sum(const Index& x, const AxisSet& axis, const KeepdimOptions& options) {
  return reduced("sum", x, axis, options.keepdim, [](const std::int64_t* begin, const std::int64_t* end) {
    return std::accumulate(begin, end, std::int64_t{0}, [](auto a, auto b) { return added("sum", a, b); });
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
