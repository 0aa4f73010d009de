// Padding of sequences (..., L) and pictures (..., H, W) as layers, under PyTorch's names. Each is pad() along the last
// axis, or the last two, and throws as pad.
#pragma once

#include "../../ops/arrange/slice.h"
#include "../layer.h"

namespace xgrad::nn {

/// How many elements to add around a picture; a single number stands for all four sides.
struct Sides2d {
  Sides2d(std::int64_t each) : left(each), right(each), top(each), bottom(each) {}
  Sides2d(std::int64_t l, std::int64_t r, std::int64_t t, std::int64_t b) : left(l), right(r), top(t), bottom(b) {}

  std::int64_t left, right, top, bottom;
};

/// How many elements to add to a sequence; a single number stands for both ends.
struct Sides1d {
  Sides1d(std::int64_t each) : left(each), right(each) {}
  Sides1d(std::int64_t l, std::int64_t r) : left(l), right(r) {}

  std::int64_t left, right;
};

namespace detail {

ShortList<Padding> pad_axes(const Tensor& x, const Sides1d& sides);
ShortList<Padding> pad_axes(const Tensor& x, const Sides2d& sides);
std::string text_of(const Sides1d& sides);
std::string text_of(const Sides2d& sides);

/// pad() in one mode.
template <class Self, class Sides, PadMode mode>
struct PadLayer : Layer<Self> {
  PadLayer(At here, const Sides& sides) : Layer<Self>(std::move(here)), padding(sides) {}
  template <class... Rest>
  explicit PadLayer(Module::Placeless, const Rest&...);

  Tensor forward(const Tensor& x) const { return pad(x, pad_axes(x, padding), mode); }

  const Sides padding;

 protected:
  std::string settings() const override { return text_of(padding); }
};

/// pad() with a value.
template <class Self, class Sides>
struct ConstantPadLayer : Layer<Self> {
  ConstantPadLayer(At here, const Sides& sides, double number)
      : Layer<Self>(std::move(here)), padding(sides), value(number) {}
  template <class... Rest>
  explicit ConstantPadLayer(Module::Placeless, const Rest&...);

  Tensor forward(const Tensor& x) const { return pad(x, pad_axes(x, padding), value); }

  const Sides padding;
  const double value;

 protected:
  std::string settings() const override { return cat(text_of(padding), ", value ", value); }
};

}  // namespace detail

/// Pads a sequence by reflection at its ends: PadMode::reflect.
struct ReflectionPad1d : detail::PadLayer<ReflectionPad1d, Sides1d, PadMode::reflect> {
  using PadLayer::PadLayer;
};
/// Pads a picture by reflection at its borders: PadMode::reflect.
struct ReflectionPad2d : detail::PadLayer<ReflectionPad2d, Sides2d, PadMode::reflect> {
  using PadLayer::PadLayer;
};
/// Pads a sequence with its first and last element: PadMode::replicate.
struct ReplicationPad1d : detail::PadLayer<ReplicationPad1d, Sides1d, PadMode::replicate> {
  using PadLayer::PadLayer;
};
/// Pads a picture with its outermost elements: PadMode::replicate.
struct ReplicationPad2d : detail::PadLayer<ReplicationPad2d, Sides2d, PadMode::replicate> {
  using PadLayer::PadLayer;
};
/// Pads a sequence with elements from its other end: PadMode::circular.
struct CircularPad1d : detail::PadLayer<CircularPad1d, Sides1d, PadMode::circular> {
  using PadLayer::PadLayer;
};
/// Pads a picture with elements from its other side: PadMode::circular.
struct CircularPad2d : detail::PadLayer<CircularPad2d, Sides2d, PadMode::circular> {
  using PadLayer::PadLayer;
};
/// Pads a sequence with a value: nn::ConstantPad1d pad{at("pad"), 2, 0.5}.
struct ConstantPad1d : detail::ConstantPadLayer<ConstantPad1d, Sides1d> {
  using ConstantPadLayer::ConstantPadLayer;
};
/// Pads a picture with a value.
struct ConstantPad2d : detail::ConstantPadLayer<ConstantPad2d, Sides2d> {
  using ConstantPadLayer::ConstantPadLayer;
};
/// Pads a sequence with zeros.
struct ZeroPad1d : detail::ConstantPadLayer<ZeroPad1d, Sides1d> {
  ZeroPad1d(At here, const Sides1d& sides) : ConstantPadLayer(std::move(here), sides, 0) {}
  explicit ZeroPad1d(Placeless, ...);  ///< does not compile: no place
};
/// Pads a picture with zeros.
struct ZeroPad2d : detail::ConstantPadLayer<ZeroPad2d, Sides2d> {
  ZeroPad2d(At here, const Sides2d& sides) : ConstantPadLayer(std::move(here), sides, 0) {}
  explicit ZeroPad2d(Placeless, ...);  ///< does not compile: no place
};

}  // namespace xgrad::nn
