// Dropout of elements and of whole samples.
#include "dropout.h"

#include "../../ops/arrange/create.h"
#include "../../ops/elementwise/arithmetic.h"

namespace xgrad::nn {

Dropout::Dropout(At here, double given) : Layer(std::move(here)), p(probability("p", given)) {}

Tensor Dropout::forward(const Tensor& x) const { return training() && p > 0 ? dropout(x, p, next_random_key()) : x; }

DropPath::DropPath(At here, double given) : Layer(std::move(here)), p(probability("p", given)) {}

Tensor DropPath::forward(const Tensor& x) const {
  if (x.rank() == 0) fail<ShapeError>("drop_path", "needs (B, ...), got ", x.shape());
  if (!training() || p == 0) return x;
  Shape samples = Shape::filled(x.rank(), 1);
  samples[0] = x.dim(0);
  return x * dropout(ones(samples), p).named("kept samples");
}

}  // namespace xgrad::nn
