// Padding of sequences (..., L) and pictures (..., H, W) as layers, under PyTorch's names. Each is pad() along the last
// axis, or the last two, and throws as pad.
#pragma once

#include "../../ops/arrange/slice.h"
#include "function_layer.h"

namespace xgrad::nn {

/// How many elements to add around a picture; a single number is for all four sides.
struct Sides2d {
  Sides2d(std::int64_t each) : left(each), right(each), top(each), bottom(each) {}
  Sides2d(std::int64_t l, std::int64_t r, std::int64_t t, std::int64_t b) : left(l), right(r), top(t), bottom(b) {}
  std::string text() const { return str(left, ", ", right, ", ", top, ", ", bottom); }

  std::int64_t left, right, top, bottom;
};

/// How many elements to add to a sequence; a single number is for both ends.
struct Sides1d {
  Sides1d(std::int64_t each) : left(each), right(each) {}
  Sides1d(std::int64_t l, std::int64_t r) : left(l), right(r) {}
  std::string text() const { return str(left, ", ", right); }

  std::int64_t left, right;
};

namespace detail {

/// The padding of all axes of x.
template <class Sides>
ShortList<Padding> pad_axes(const Tensor& x, const Sides& sides) {
  constexpr bool picture = std::same_as<Sides, Sides2d>;
  if (x.rank() < (picture ? 2 : 1)) {
    fail<ShapeError>("pad", picture ? "needs (..., H, W), got " : "needs (..., L), got ", x.shape());
  }
  auto paddings = ShortList<Padding>::filled(x.rank(), {});
  if constexpr (picture) paddings[x.rank() - 2] = {sides.top, sides.bottom};
  paddings[x.rank() - 1] = {sides.left, sides.right};
  return paddings;
}

template <class Sides, PadMode mode>
Tensor pad_by_mode(const Tensor& x, const Sides& sides) {
  return pad(x, pad_axes(x, sides), mode);
}

/// The value of elements that are added.
struct PadValue {
  PadValue(double number = 0) : value(number) {}
  std::string text() const { return str("value ", value); }

  double value;
};
template <class Sides>
Tensor pad_by_value(const Tensor& x, const Sides& sides, const PadValue& with) {
  return pad(x, pad_axes(x, sides), with.value);
}

template <ClassName name, class Sides, PadMode mode>
using PadLayer = FunctionLayer<name, pad_by_mode<Sides, mode>, NoOptions, Sides>;

}  // namespace detail

/// Pads a sequence by reflection at its ends: PadMode::reflect.
using ReflectionPad1d = detail::PadLayer<"ReflectionPad1d", Sides1d, PadMode::reflect>;
/// Pads a picture by reflection at its borders: PadMode::reflect.
using ReflectionPad2d = detail::PadLayer<"ReflectionPad2d", Sides2d, PadMode::reflect>;
/// Pads a sequence with its first and last element: PadMode::replicate.
using ReplicationPad1d = detail::PadLayer<"ReplicationPad1d", Sides1d, PadMode::replicate>;
/// Pads a picture with its outermost elements: PadMode::replicate.
using ReplicationPad2d = detail::PadLayer<"ReplicationPad2d", Sides2d, PadMode::replicate>;
/// Pads a sequence with elements from its other end: PadMode::circular.
using CircularPad1d = detail::PadLayer<"CircularPad1d", Sides1d, PadMode::circular>;
/// Pads a picture with elements from its other side: PadMode::circular.
using CircularPad2d = detail::PadLayer<"CircularPad2d", Sides2d, PadMode::circular>;
/// Pads a sequence with a value: nn::ConstantPad1d pad{at("pad"), 2, 0.5}.
using ConstantPad1d =
    detail::FunctionLayer<"ConstantPad1d", detail::pad_by_value<Sides1d>, detail::NoOptions, Sides1d, detail::PadValue>;
/// Pads a picture with a value.
using ConstantPad2d =
    detail::FunctionLayer<"ConstantPad2d", detail::pad_by_value<Sides2d>, detail::NoOptions, Sides2d, detail::PadValue>;
/// Pads a sequence with zeros.
using ZeroPad1d = detail::FunctionLayer<"ZeroPad1d", detail::pad_by_value<Sides1d>, detail::PadValue, Sides1d>;
/// Pads a picture with zeros.
using ZeroPad2d = detail::FunctionLayer<"ZeroPad2d", detail::pad_by_value<Sides2d>, detail::PadValue, Sides2d>;

}  // namespace xgrad::nn
