// Padding as layers.
#include "padding.h"

namespace xgrad::nn {
namespace {

ShortList<Padding> of_axes(const Tensor& x, const Padding2& width) {
  if (x.rank() < 1) fail<ShapeError>("pad", "needs (..., L), got ", x.shape());
  auto paddings = ShortList<Padding>::filled(x.rank(), {});
  paddings[x.rank() - 1] = {width.left, width.right};
  return paddings;
}

ShortList<Padding> of_axes(const Tensor& x, const Padding4& width) {
  if (x.rank() < 2) fail<ShapeError>("pad", "needs (..., H, W), got ", x.shape());
  auto paddings = ShortList<Padding>::filled(x.rank(), {});
  paddings[x.rank() - 2] = {width.top, width.bottom};
  paddings[x.rank() - 1] = {width.left, width.right};
  return paddings;
}

std::string text_of(const Padding2& width) { return cat(width.left, ", ", width.right); }
std::string text_of(const Padding4& width) {
  return cat(width.left, ", ", width.right, ", ", width.top, ", ", width.bottom);
}

}  // namespace

Tensor ReflectionPad1d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), PadMode::reflect));
}

std::string ReflectionPad1d::settings() const { return text_of(padding); }

Tensor ReflectionPad2d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), PadMode::reflect));
}

std::string ReflectionPad2d::settings() const { return text_of(padding); }

Tensor ReplicationPad1d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), PadMode::replicate));
}

std::string ReplicationPad1d::settings() const { return text_of(padding); }

Tensor ReplicationPad2d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), PadMode::replicate));
}

std::string ReplicationPad2d::settings() const { return text_of(padding); }

Tensor CircularPad1d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), PadMode::circular));
}

std::string CircularPad1d::settings() const { return text_of(padding); }

Tensor CircularPad2d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), PadMode::circular));
}

std::string CircularPad2d::settings() const { return text_of(padding); }

Tensor ConstantPad1d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), value));
}

std::string ConstantPad1d::settings() const { return cat(text_of(padding), ", value ", value); }

Tensor ConstantPad2d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(pad(x, of_axes(x, padding), value));
}

std::string ConstantPad2d::settings() const { return cat(text_of(padding), ", value ", value); }

}  // namespace xgrad::nn
