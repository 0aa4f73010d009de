// Cumulative sums, products and extremes. The gradients run the other way: sums from each position on and, where there
// are factors in between, the recurrence y_i = a_i y_(i-1) + b_i, an operation of its own, because its gradient is a
// recurrence, too.
#include "scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "../../core/graph/record.h"
#include "../../core/base/formula.h"
#include "../arrange/create.h"
#include "../arrange/shape.h"
#include "../arrange/slice.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../kernels/reduce/scan.h"
#include "../private/axis.h"
#include "../private/gathered.h"
#include "reduce.h"

namespace xgrad {
namespace {

using detail::infinity;


// f(x, axis) with the axis counted from 0, a scalar as a list of one.
template <class F>
auto along(const char* op, const Tensor& x, int axis, const F& f) {
  axis = normalize_axis_or_scalar(op, axis, x.rank());
  if (x.rank() > 0) return f(x, axis);
  auto y = f(reshape(x, {1}), 0);
  if constexpr (std::is_same_v<decltype(y), Tensor>) {
    return reshape(y, {});
  } else {
    return ValuesAndIndices{reshape(y.values, {}), y.indices.reshaped({})};
  }
}

ScanOrder turned(ScanOrder order) { return order == ScanOrder::forwards ? ScanOrder::backwards : ScanOrder::forwards; }

// The predecessors in that order: z_i = x_(i-1) going forwards, x_(i+1) backwards, and `first` where there is none.
Tensor before(const Tensor& x, int axis, ScanOrder order, Real first) {
  const std::int64_t size = x.shape()[axis];
  if (size == 0) return x;
  const bool forwards = order == ScanOrder::forwards;
  auto paddings = ShortList<Padding>::filled(x.rank(), Padding());
  paddings[axis] = {.before = forwards, .after = !forwards};
  return pad(narrow(x, axis, forwards ? 0 : 1, size - 1), paddings, first);
}

XGRAD_FORMULA recurrence_formula{"recurrence", "y_i = a_i y_(i-1) + b_i, or from the last one back with y_(i+1)",
                                 "dL/db_i = g_i with g_i = gy_i + a_(i+1) g_(i+1); dL/da_i = g_i y_(i-1)"};
Tensor recurrence(const Tensor& a, const Tensor& b, int axis, ScanOrder order) {
  return record("recurrence", running_recurrence(a.value(), b.value(), axis, order),
                jointly(
                    [a, axis, order](const Tensor& gy, const Tensor& y, Wanted wanted) {
                      const Tensor g = recurrence(before(a, axis, turned(order), 0), gy, axis, turned(order));
                      return std::array{wanted[0] ? g * before(y, axis, order, 0) : Tensor(), g};
                    },
                    a, b),
                told("axis", axis), told("backwards", unless(false, order == ScanOrder::backwards)));
}

XGRAD_FORMULA cumsum_formula{"cumsum", "y_i = x_0 + ... + x_i", "dL/dx_i = sum of gy_j over j >= i"};
// Each direction is the other's gradient.
Tensor cumulate(const Tensor& x, int axis, ScanOrder order) {
  return record("cumsum", running_sum(x.value(), axis, order),
                wrt(x, [axis, order](const Tensor& gy) { return cumulate(gy, axis, turned(order)); }),
                told("axis", axis), told("backwards", unless(false, order == ScanOrder::backwards)));
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  return along("cumsum", x, axis, [](const Tensor& u, int axis) { return cumulate(u, axis, ScanOrder::forwards); });
}

XGRAD_FORMULA cumprod_formula{"cumprod", "y_i = x_0 x_1 ... x_i",
                              "dL/dx_i = y_(i-1) s_i with s_i = gy_i + x_(i+1) s_(i+1)"};
Tensor cumprod(const Tensor& x, int axis) {
  return along("cumprod", x, axis, [](const Tensor& u, int axis) {
    return record("cumprod", running_product(u.value(), axis),
                  wrt(u,
                      [u = kept(u), axis](const Tensor& gy, const Tensor& y) {
                        const Tensor next = before(u, axis, ScanOrder::backwards, 0);
                        return before(y, axis, ScanOrder::forwards, 1) *
                               recurrence(next, gy, axis, ScanOrder::backwards);
                      }),
                  told("axis", axis));
  });
}

namespace {

// e^(a - b), but `share` where b is inf and 0 where a or b is -inf.
Tensor ratio(const Tensor& a, const Tensor& b, const Tensor& share) {
  const Mask nothing = a == -infinity || b == -infinity, whole = b == infinity, special = nothing || whole;
  return where(nothing, 0, where(whole, share, exp(where(special, 0, a) - where(special, 0, b))));
}

// The share of e^x_i in the sum up to i, and of that sum in the sum up to i + 1: all e^(x_i - y_j) are products of these,
// numbers up to 1.
struct Parts {
  Tensor own;
  Tensor sum;
};

Parts parts_of(const Tensor& x, const Tensor& y, int axis) {
  const auto earlier = [axis](const Tensor& u, Real first) { return before(u, axis, ScanOrder::forwards, first); };
  const Tensor previous = earlier(y, -infinity);
  const auto parts = [axis](const Tensor& own, const Tensor& sum) {
    return Parts{own, before(sum, axis, ScanOrder::backwards, 0)};
  };
  if (std::ranges::all_of(y.value(), [](Real v) { return std::abs(v) < infinity; })) {
    return parts(exp(x - y), exp(previous - y));
  }
  // Where the sum is inf, the infinite terms share it evenly.
  const Tensor is_inf = to_real(x == infinity), count = cumsum(is_inf, axis), divisor = where(count == 0, 1, count);
  return parts(ratio(x, y, is_inf / divisor), ratio(previous, y, earlier(count, 0) / divisor));
}

}  // namespace

XGRAD_FORMULA logcumsumexp_formula{"logcumsumexp", "y_i = ln sum_j e^x_j over j <= i",
                                   "dL/dx_i = sum of gy_j e^(x_i - y_j) over j >= i"};
Tensor logcumsumexp(const Tensor& x, int axis) {
  return along("logcumsumexp", x, axis, [](const Tensor& u, int axis) {
    return record("logcumsumexp", running_logsumexp(u.value(), axis),
                  wrt(u,
                      [u = kept(u), axis](const Tensor& gy, const Tensor& y) {
                        const Parts part = parts_of(u, y, axis);
                        return part.own * recurrence(part.sum, gy, axis, ScanOrder::backwards);
                      }),
                  told("axis", axis));
  });
}

namespace {

ValuesAndIndices running(const char* op, const Tensor& x, int axis, bool largest) {
  return along(op, x, axis, [largest](const Tensor& u, int axis) {
    RunningExtremes extremes = running_extremes(u.value(), axis, largest);
    return ValuesAndIndices{gathered(u, axis, extremes.positions, std::move(extremes.values)), extremes.positions};
  });
}

}  // namespace

ValuesAndIndices cummax(const Tensor& x, int axis) { return running("cummax", x, axis, true); }
ValuesAndIndices cummin(const Tensor& x, int axis) { return running("cummin", x, axis, false); }

}  // namespace xgrad
