// Layers that only change shapes, and Identity.
#pragma once

#include <tuple>

#include "../../ops/shape/shape.h"
#include "../layer.h"

namespace xgrad::nn {

/// y = x
struct Identity : Layer<Identity> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return x; }
};

/// Flattens the axes first ... last into one; by default (B, ...) becomes (B, n).
struct Flatten : Layer<Flatten> {
  explicit Flatten(At here, int from = 1, int to = -1) : Layer(std::move(here)), first(from), last(to) {}
  explicit Flatten(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Throws ValueError if an axis is out of range or `first` is after `last`.
  Tensor forward(const Tensor& x) const { return flatten(x, first, last); }

  /// The arguments of the constructor after the place, for nn::clone().
  std::tuple<int, int> arguments() const { return {first, last}; }

  const int first, last;

 protected:
  std::string extra_repr() const override { return str(first, " to ", last); }
};

/// Splits one axis: nn::Unflatten{at("split"), 1, {3, 4}} turns (B, 12) into (B, 3, 4). One of the sizes may be -1.
struct Unflatten : Layer<Unflatten> {
  Unflatten(At here, int split, const Shape& parts) : Layer(std::move(here)), axis(split), sizes(parts) {}
  explicit Unflatten(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Throws ShapeError if the product of the sizes is not the size of the axis, and ValueError for an axis out of
  /// range.
  Tensor forward(const Tensor& x) const { return unflatten(x, axis, sizes); }

  /// The arguments of the constructor after the place, for nn::clone().
  std::tuple<int, Shape> arguments() const { return {axis, sizes}; }

  const int axis;
  const Shape sizes;

 protected:
  std::string extra_repr() const override { return str("axis ", axis, " to ", sizes); }
};

}  // namespace xgrad::nn
