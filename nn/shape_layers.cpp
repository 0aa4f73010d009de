// Layers that change shapes only, or nothing.
#include "shape_layers.h"

#include "../ops/shape.h"

namespace xgrad::nn {

Tensor Identity::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(x);
}

Tensor Flatten::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(flatten(x, first, last));
}

std::string Flatten::settings() const { return cat(first, " to ", last); }

Tensor Unflatten::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(unflatten(x, axis, sizes));
}

std::string Unflatten::settings() const { return cat("axis ", axis, " to ", sizes); }

}  // namespace xgrad::nn
