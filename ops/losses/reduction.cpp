// Reductions of losses, and the shape check of losses of two tensors.
#include "reduction.h"

#include "../../core/array/shape_hints.h"
#include "../reduce/reduce.h"

namespace xgrad::detail {

void refuse_nothing(const char* op, const Tensor& x, std::int64_t samples, Reduction reduction) {
  if (reduction == Reduction::mean && samples == 0) {
    fail<ValueError>(op, "no elements to average, the shape is ", x.shape());
  }
}

Tensor reduced(const char* op, const Tensor& losses, Reduction reduction) {
  refuse_nothing(op, losses, losses.size(), reduction);
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::sum ? sum(losses) : mean(losses);
}

void check_same_shape(const char* op, const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape()) return;
  fail<ShapeError>(op, "shapes differ: ", a.shape(), " and ", b.shape(), same_shape_hint(a.shape(), b.shape()));
}

}  // namespace xgrad::detail
