// Softmax and its kin. The kernels are in ops/kernels/layers/softmax.cpp, the rules here, in numbers and in operations.
#include "softmax.h"

#include <algorithm>
#include <limits>

#include "../../core/graph/record_fused.h"
#include "../../core/watch/formula.h"
#include "../arrange/shape.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../kernels/layers/softmax.h"
#include "../reduce/reduce.h"

namespace xgrad {
namespace {

// f(x) where f works along the last axis.
template <class F>
Tensor along(const char* op, const Tensor& x, int axis, const F& f) {
  axis = normalize_axis(op, axis, std::max(x.rank(), 1));
  if (x.rank() == 0) return reshape(f(reshape(x, {1})), {});
  if (axis == x.rank() - 1) return f(x);
  return transpose(f(transpose(x, axis, -1)), axis, -1);
}

// The sum of every row, as a column.
Tensor row_sum(const Tensor& x) { return sum(x, {.axis = -1, .keepdim = true}); }

}  // namespace

XGRAD_FORMULA softmax_formula{"softmax", "y_i = e^x_i / sum_j e^x_j", "dL/dx_i = y_i (gy_i - sum_j gy_j y_j)"};
Tensor softmax(const Tensor& x, int axis) {
  return along("softmax", x, axis, [](const Tensor& u) {
    return record_fused(
        "softmax", softmax_rows(u.value()), u,
        [](const Array& gy, const Array& y) { return softmax_gradient_rows(gy, y); },
        [](const Tensor& gy, const Tensor& y) { return y * (gy - row_sum(gy * y)); });
  });
}

XGRAD_FORMULA log_softmax_formula{"log_softmax", "y_i = x_i - ln sum_j e^x_j", "dL/dx_i = gy_i - e^y_i sum_j gy_j"};
Tensor log_softmax(const Tensor& x, int axis) {
  return along("log_softmax", x, axis, [](const Tensor& u) {
    return record_fused("log_softmax", log_softmax_rows(u.value()), u, log_softmax_gradient_rows,
                        [](const Tensor& gy, const Tensor& y) { return gy - exp(y) * row_sum(gy); });
  });
}

namespace {

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

// True for the entries behind the length of their row.
Mask behind(const RowLengths& length, const Shape& shape) {
  Mask mask(shape);
  bool* out = mask.mutable_data();
  for (std::int64_t row = 0; row < mask.size() / std::max<std::int64_t>(shape.back(), 1); ++row, out += shape.back()) {
    std::fill(std::fill_n(out, length(row), false), out + shape.back(), true);
  }
  return mask;
}

}  // namespace

XGRAD_FORMULA masked_softmax_formula{"masked_softmax", "y_i = e^x_i / sum_j e^x_j among the entries that count, else 0",
                                     "dL/dx_i = y_i (gy_i - sum_j gy_j y_j)"};
Tensor masked_softmax(const Tensor& x, const Index& lengths) {
  const RowLengths length = checked_lengths(x.shape(), lengths);
  return record_fused(
      "masked_softmax", softmax_rows(x.value(), length), x,
      [length](const Array& gy, const Array& y) { return softmax_gradient_rows(gy, y, length); },
      [length](const Tensor& gy, const Tensor& y) {
        const Tensor seen = where(behind(length, y.shape()), 0, gy);
        return y * (seen - row_sum(seen * y));
      },
      told("lengths", lengths));
}

Tensor masked_softmax(const Tensor& x, const Mask& masked) {
  if (x.rank() == 0) fail<ShapeError>("masked_softmax", "needs an axis");
  if (!broadcasts_to(masked.shape(), x.shape())) {
    fail<ShapeError>("masked_softmax", "masked of shape ", masked.shape(), " cannot become ", x.shape());
  }
  Array y = softmax_rows(where(masked, -std::numeric_limits<Real>::infinity(), x.detach()).value());
  return record("masked_softmax", std::move(y),
                wrt(x,
                    [](const Tensor& gy, const Tensor& y) {
                      // What has no weight has no gradient, whatever comes from above.
                      const Tensor above = where(y == 0, 0, gy);
                      return where(y == 0, 0, y * (above - row_sum(above * y)));
                    }),
                told("masked", masked));
}

}  // namespace xgrad
