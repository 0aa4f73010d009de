// Dropout of whole samples.
#include "dropout.h"

#include "../../ops/creation/create.h"
#include "../../ops/elementwise/arithmetic.h"

namespace xgrad::nn {

Tensor detail::drop_path(const Tensor& x, double p) {
  if (x.rank() == 0) fail<ShapeError>("drop_path", "needs (B, ...), got ", x.shape());
  Shape samples = Shape::filled(x.rank(), 1);
  samples[0] = x.dim(0);
  return x * dropout(ones(samples), p).named("kept samples");
}

}  // namespace xgrad::nn
