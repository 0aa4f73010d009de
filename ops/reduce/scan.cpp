// Cumulative sums and products. The gradients run the other way: sums from each position on and, where there
// are factors in between, the recurrence y_i = a_i y_(i-1) + b_i, whose gradient is a recurrence, too.
#include "scan.h"

#include <array>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../elementwise/arithmetic.h"
#include "../indexing/axis.h"
#include "../kernels/reduce/scan.h"
#include "../shape/shape.h"
#include "../shape/slice.h"

namespace xgrad {
namespace {

// f(x, axis) with the axis counted from 0, a scalar as a list of one.
Tensor along(const char* op, const Tensor& x, int axis, const auto& f) {
  axis = normalize_axis_or_scalar(op, axis, x.rank());
  return x.rank() > 0 ? f(x, axis) : reshape(f(reshape(x, {1}), 0), {});
}

ScanDirection reversed(ScanDirection direction) {
  return direction == ScanDirection::forwards ? ScanDirection::backwards : ScanDirection::forwards;
}

// The predecessors in that direction: z_i = x_(i-1) going forwards, x_(i+1) backwards, and `first` where there is none.
Tensor before(const Tensor& x, int axis, ScanDirection direction, Real first) {
  const std::int64_t size = x.shape()[axis];
  if (size == 0) return x;
  const bool forwards = direction == ScanDirection::forwards;
  auto paddings = ShortList<Padding>::filled(x.rank(), Padding());
  paddings[axis] = {.before = forwards, .after = !forwards};
  return pad(narrow(x, axis, forwards ? 0 : 1, size - 1), paddings, first);
}

XGRAD_FORMULA recurrence_formula{"recurrence", "y_i = a_i y_(i-1) + b_i, or from the last one back with y_(i+1)",
                                 "dL/da_i = g_i y_(i-1) with g_i = gy_i + a_(i+1) g_(i+1); dL/db_i = g_i"};
Tensor recurrence(const Tensor& a, const Tensor& b, int axis, ScanDirection direction) {
  return record("recurrence", running_recurrence(a.value(), b.value(), axis, direction),
                jointly(
                    [a, axis, direction](const Tensor& gy, const Tensor& y, Wanted wanted) {
                      const Tensor g =
                          recurrence(before(a, axis, reversed(direction), 0), gy, axis, reversed(direction));
                      return std::array{wanted[0] ? g * before(y, axis, direction, 0) : Tensor(), g};
                    },
                    a, b),
                attribute("axis", axis), attribute("backwards", unless(false, direction == ScanDirection::backwards)));
}

XGRAD_FORMULA cumsum_formula{"cumsum", "y_i = x_0 + ... + x_i", "dL/dx_i = sum of gy_j over j >= i"};
// Each direction is the other's gradient.
Tensor cumulate(const Tensor& x, int axis, ScanDirection direction) {
  return record("cumsum", running_sum(x.value(), axis, direction),
                wrt(x, [axis, direction](const Tensor& gy) { return cumulate(gy, axis, reversed(direction)); }),
                attribute("axis", axis), attribute("backwards", unless(false, direction == ScanDirection::backwards)));
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  return along("cumsum", x, axis, [](const Tensor& u, int axis) { return cumulate(u, axis, ScanDirection::forwards); });
}

XGRAD_FORMULA cumprod_formula{"cumprod", "y_i = x_0 x_1 ... x_i",
                              "dL/dx_i = y_(i-1) s_i with s_i = gy_i + x_(i+1) s_(i+1)"};
Tensor cumprod(const Tensor& x, int axis) {
  return along("cumprod", x, axis, [](const Tensor& u, int axis) {
    return record("cumprod", running_product(u.value(), axis),
                  wrt(u,
                      [u = saved(u), axis](const Tensor& gy, const Tensor& y) {
                        const Tensor next = before(u, axis, ScanDirection::backwards, 0);
                        return before(y, axis, ScanDirection::forwards, 1) *
                               recurrence(next, gy, axis, ScanDirection::backwards);
                      }),
                  attribute("axis", axis));
  });
}

}  // namespace xgrad
