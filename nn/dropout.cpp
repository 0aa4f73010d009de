// Dropout of elements and of whole samples.
#include "dropout.h"

#include "../ops/arithmetic.h"
#include "../ops/create.h"
#include "../ops/dropout.h"

namespace xgrad::nn {

Dropout::Dropout(At here, double probability) : Module(std::move(here)), p(probability) {
  const Scope scope(place());
  if (!(p >= 0 && p <= 1)) fail<ValueError>("dropout", "p must be in [0, 1], got ", p);
}

Tensor Dropout::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(training() && p > 0 ? dropout(x, p, next_random_key()) : x);
}

DropPath::DropPath(At here, double probability) : Module(std::move(here)), p(probability) {
  const Scope scope(place());
  if (!(p >= 0 && p <= 1)) fail<ValueError>("drop_path", "p must be in [0, 1], got ", p);
}

Tensor DropPath::operator()(const Tensor& x) const {
  const auto here = enter(x);
  if (x.rank() == 0) fail<ShapeError>("drop_path", "needs (B, ...), got ", x.shape());
  if (!training() || p == 0) return here(x);
  Shape samples = Shape::filled(x.rank(), 1);
  samples[0] = x.dim(0);
  return here(x * dropout(ones(samples), p));
}

}  // namespace xgrad::nn
