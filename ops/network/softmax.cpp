// Softmax and variants: each as its formula, and by a kernel (ops/kernels/network/softmax.cpp), whose rule is here.
#include "softmax.h"

#include <algorithm>

#include "../../core/base/formula.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../indexing/index.h"
#include "../kernels/network/softmax.h"
#include "../kernels/registers/loops.h"
#include "../record_fused.h"
#include "../reduce/reduce.h"
#include "../shape/shape.h"

namespace xgrad {

namespace {

// f(x) where f works along the last axis.
Tensor along(const char* op, const Tensor& x, int axis, const auto& f) {
  axis = normalize_axis(op, axis, std::max(x.rank(), 1));
  if (x.rank() == 0) return reshape(f(reshape(x, {1})), {});
  if (axis == x.rank() - 1) return f(x);
  return transpose(f(transpose(x, axis, -1)), axis, -1);
}

// The sum of every row, as a column.
Tensor row_sum(const Tensor& x) { return sum(x, -1, {.keepdim = true}); }

// The gradient of softmax along the last axis, from its result.
Tensor softmax_gradient(const Tensor& gy, const Tensor& y) { return y * (gy - row_sum(gy * y)); }

// x minus the largest of each row, which leaves softmax unchanged and avoids overflow. A row of -inf stays as it is.
Tensor below_largest(const Tensor& x) {
  if (x.size() == 0) return x;
  const Tensor largest = max(x.detach(), Axes{-1}, {.keepdim = true});
  const Mask nothing = largest == -infinity;
  return x - (any(nothing) ? where(nothing, 0, largest) : largest);
}
// The sums of rows, with 1 for those that hold nothing but -inf.
Tensor divisors(const Tensor& sums) { return any(sums == 0) ? where(sums == 0, 1, sums) : sums; }

RowLengths checked_lengths(const Shape& x, const Index& lengths) {
  if (x.rank() < 2) fail<ShapeError>("masked_softmax", "needs sequences and entries, got ", x);
  const bool fits = x.rank() > lengths.rank() && (lengths.rank() == 1 || lengths.rank() == 2) &&
                    lengths.dim(0) == x.dim(0) && (lengths.rank() == 1 || lengths.dim(1) == x.dim(-2));
  if (!fits) {
    fail<ShapeError>("masked_softmax", "lengths ", lengths.shape(), " fit neither the sequences nor the rows of ", x);
  }
  for (std::int64_t i = 0; i < lengths.size(); ++i) {
    const std::int64_t length = lengths.data()[i];
    if (length < 0 || length > x.back()) {
      fail<ValueError>("masked_softmax", "length ", length, " at position ", i, " is not in [0, ", x.back(), "]");
    }
  }
  RowLengths result{.lengths = lengths, .steps = lengths.rank() == 2 ? lengths.dim(1) : 1};
  for (int axis = 1; axis < x.rank() - 1; ++axis) result.rows_per_sequence *= x[axis];
  return result;
}

// True for the entries after the length of their row.
Mask after_length(const RowLengths& length, const Shape& shape) {
  Mask mask(shape);
  bool* out = mask.mutable_data();
  for (std::int64_t row = 0; row < mask.size() / std::max<std::int64_t>(shape.back(), 1); ++row, out += shape.back()) {
    std::fill(std::fill_n(out, length(row), false), out + shape.back(), true);
  }
  return mask;
}

}  // namespace

XGRAD_FORMULA softmax_formula{"softmax", "y_i = e^x_i / sum_j e^x_j", "dL/dx_i = y_i (gy_i - sum_j gy_j y_j)"};
Tensor plain::softmax(const Tensor& x, int axis) {
  return along("softmax", x, axis, [](const Tensor& u) {
    const Tensor e = exp(below_largest(u));
    return e / divisors(row_sum(e));
  });
}
Tensor softmax(const Tensor& x, int axis) {
  return along("softmax", x, axis, [](const Tensor& u) {
    return record_fused(
        "softmax", u, [](const Tensor& v) { return plain::softmax(v); }, [](const Array& v) { return softmax_rows(v); },
        [](const Array& gy, const Array& y) { return softmax_gradient_rows(gy, y); }, softmax_gradient);
  });
}

XGRAD_FORMULA log_softmax_formula{"log_softmax", "y_i = x_i - ln sum_j e^x_j", "dL/dx_i = gy_i - e^y_i sum_j gy_j"};
Tensor plain::log_softmax(const Tensor& x, int axis) {
  return along("log_softmax", x, axis, [](const Tensor& u) {
    const Tensor v = below_largest(u);
    return v - log(divisors(row_sum(exp(v))));
  });
}
Tensor log_softmax(const Tensor& x, int axis) {
  return along("log_softmax", x, axis, [](const Tensor& u) {
    return record_fused(
        "log_softmax", u, [](const Tensor& v) { return plain::log_softmax(v); }, log_softmax_rows,
        log_softmax_gradient_rows, [](const Tensor& gy, const Tensor& y) { return gy - exp(y) * row_sum(gy); });
  });
}

XGRAD_FORMULA masked_softmax_formula{"masked_softmax", "y_i = e^x_i / sum_j e^x_j among the entries that count, else 0",
                                     "dL/dx_i = y_i (gy_i - sum_j gy_j y_j)"};
Tensor plain::masked_softmax(const Tensor& x, const Mask& masked) {
  const Tensor y = xgrad::softmax(masked_fill(x, masked, -infinity));
  return masked_fill(y, masked, 0);  // y is 0 there already; keeps the gradients 0, even where gy is NaN
}
Tensor plain::masked_softmax(const Tensor& x, const Index& lengths) {
  return plain::masked_softmax(x, after_length(checked_lengths(x.shape(), lengths), x.shape()));
}

Tensor masked_softmax(const Tensor& x, const Index& lengths) {
  const RowLengths length = checked_lengths(x.shape(), lengths);
  return record_fused(
      "masked_softmax", x, [&](const Tensor& v) { return plain::masked_softmax(v, lengths); },
      [&](const Array& v) { return softmax_rows(v, length); },
      [length](const Array& gy, const Array& y) { return softmax_gradient_rows(gy, y, length); },
      [length](const Tensor& gy, const Tensor& y) {
        return softmax_gradient(where(after_length(length, y.shape()), 0, gy), y);
      },
      attribute("lengths", lengths));
}

Tensor masked_softmax(const Tensor& x, const Mask& masked) {
  if (x.rank() == 0) fail<ShapeError>("masked_softmax", "needs an axis");
  if (!broadcasts_to(masked.shape(), x.shape())) {
    fail<ShapeError>("masked_softmax", "masked of shape ", masked.shape(), " cannot become ", x.shape());
  }
  // Entries of weight 0 have gradient 0, even where gy is NaN.
  const auto rule = [](const Tensor& gy, const Tensor& y) {
    return where(y == 0, 0, softmax_gradient(where(y == 0, 0, gy), y));
  };
  return record_fused(
      "masked_softmax", x, [&](const Tensor& v) { return plain::masked_softmax(v, masked); },
      [&](const Array& v) {
        const auto visible = [](Real each, bool hidden) { return hidden ? -infinity : each; };
        return softmax_rows(map_elements<Real>(v.shape(), visible, v, masked));
      },
      [rule](const Array& gy, const Array& y) { return rule(gy, y).value(); }, rule, attribute("masked", masked));
}

}  // namespace xgrad
