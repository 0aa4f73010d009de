// Repeating along axes, and its dual, summing.
#include "broadcast.h"

#include <algorithm>

#include "../../core/array/shape_hints.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../kernels/reduce/reduce.h"
#include "../kernels/registers/copy.h"

namespace xgrad {

template <class T>
BasicArray<T> broadcast_to(const BasicArray<T>& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Shape to = shape;
  for (int i = 1; i <= std::min(x.rank(), to.rank()); ++i) {
    if (to[to.rank() - i] == -1) to[to.rank() - i] = x.shape()[x.rank() - i];
  }
  if (!broadcasts_to(x.shape(), to)) {
    const bool larger = x.rank() < to.rank() && std::ranges::all_of(to, [](std::int64_t size) { return size >= 0; });
    fail<ShapeError>("broadcast_to", x.shape(), " cannot become ", shape,
                     larger ? detail::broadcast_hint(x.shape(), to) : std::string());
  }
  return copy_part(x, {.sizes = to, .strides = broadcast_strides(x.shape(), to)});
}

XGRAD_FORMULA broadcast_to_formula{"broadcast_to", "y = x, repeated", "dL/dx = gy, summed over the copies",
                                   OperationKind::rearranges};
Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (detail::only_computes() && x.shape() == shape) return x;
  return record("broadcast_to", broadcast_to(x.value(), shape),
                wrt(x, [from = x.shape()](const Tensor& gy) { return sum_to(gy, from); }));
}

XGRAD_FORMULA sum_to_formula{"sum_to", "y = x, summed to a smaller shape", "dL/dx = gy, repeated"};
Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (detail::Engine::value(x).shape() == shape) return x;
  if (!broadcasts_to(shape, x.shape())) fail<ShapeError>("sum_to", x.shape(), " cannot be summed to ", shape);
  Axes axes;
  const int more = x.rank() - shape.rank();
  for (int i = 0; i < x.rank(); ++i) {
    if (i < more || (shape[i - more] == 1 && x.shape()[i] != 1)) axes.push_back(i);
  }
  return record("sum_to", sum_over(x.value(), axes, shape),
                wrt(x, [to = x.shape()](const Tensor& gy) { return broadcast_to(gy, to); }));
}

template Index broadcast_to(const Index&, const Shape&);
template Array broadcast_to(const Array&, const Shape&);
template Mask broadcast_to(const Mask&, const Shape&);

}  // namespace xgrad
