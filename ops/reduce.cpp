// Reductions.
#include <xgrad/ops/reduce.h>

#include <xgrad/core/record.h>
#include <xgrad/ops/shape.h>

namespace xgrad::inline XGRAD_ABI {

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!broadcasts_to(shape, x.shape())) fail<ShapeError>("sum_to", x.shape(), " cannot be summed to ", shape);
  Array sum(shape, Real(0));
  Real* out = sum.mutable_data();
  const auto sizes = x.shape();
  const auto strides = broadcast_strides(shape, sizes);
  const Real* in = x.value().data();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = i, offset = 0;
    for (int axis = sizes.rank() - 1; axis >= 0; --axis) {
      offset += rest % sizes[axis] * strides[axis];
      rest /= sizes[axis];
    }
    out[offset] += in[i];
  }
  return record("sum_to", std::move(sum),
                wrt(x, [to = x.shape()](const Tensor& gy) { return broadcast_to(gy, to); }));
}

}  // namespace xgrad::inline XGRAD_ABI
