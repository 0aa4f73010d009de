// Layers that change shapes only, or nothing.
#include "shape_layers.h"

#include "../../ops/arrange/shape.h"
#include "../../ops/layers/pictures.h"

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

Tensor PixelShuffle::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pixel_shuffle(x, factor));
}

std::string PixelShuffle::settings() const { return cat(factor); }

Tensor PixelUnshuffle::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pixel_unshuffle(x, factor));
}

std::string PixelUnshuffle::settings() const { return cat(factor); }

Tensor ChannelShuffle::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(channel_shuffle(x, groups));
}

std::string ChannelShuffle::settings() const { return cat(groups, " groups"); }

}  // namespace xgrad::nn
