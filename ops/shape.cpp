// Changing shapes.
#include <xgrad/ops/shape.h>

#include <xgrad/core/record.h>
#include <xgrad/ops/loops.h>
#include <xgrad/ops/reduce.h>

namespace xgrad::inline XGRAD_ABI {

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!broadcasts_to(x.shape(), shape)) fail<ShapeError>("broadcast_to", x.shape(), " cannot become ", shape);
  return record("broadcast_to", map<1>(shape, {&x.value()}, [](auto v) { return v; }),
                wrt(x, [to = x.shape()](const Tensor& gy) { return sum_to(gy, to); }));
}

}  // namespace xgrad::inline XGRAD_ABI
