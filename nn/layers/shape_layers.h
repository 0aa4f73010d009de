// Layers that change shapes only, or nothing.
#pragma once

#include "../module.h"

namespace xgrad::nn {

/// y = x
struct Identity : Module {
  explicit Identity(At here) : Module(std::move(here)) {}
  explicit Identity(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// Axes first ... last as one; as they stand by default, (B, ...) becomes (B, n).
struct Flatten : Module {
  explicit Flatten(At here, int from = 1, int to = -1) : Module(std::move(here)), first(from), last(to) {}
  explicit Flatten(Placeless, ...);  ///< does not compile: no place

  /// Throws ValueError for an axis out of range or first after last.
  Tensor operator()(const Tensor& x) const;

  const int first, last;

 protected:
  std::string settings() const override;
};

/// One axis as several: nn::Unflatten{at("split"), 1, {3, 4}} makes (B, 12) to (B, 3, 4). One size may be -1.
struct Unflatten : Module {
  Unflatten(At here, int split, const Shape& parts) : Module(std::move(here)), axis(split), sizes(parts) {}
  explicit Unflatten(Placeless, ...);  ///< does not compile: no place

  /// Throws ShapeError when the sizes do not make up the axis, ValueError for an axis out of range.
  Tensor operator()(const Tensor& x) const;

  const int axis;
  const Shape sizes;

 protected:
  std::string settings() const override;
};

/// See pixel_shuffle.
struct PixelShuffle : Module {
  PixelShuffle(At here, std::int64_t number) : Module(std::move(here)), factor(number) {}
  explicit PixelShuffle(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const std::int64_t factor;

 protected:
  std::string settings() const override;
};

/// See pixel_unshuffle.
struct PixelUnshuffle : Module {
  PixelUnshuffle(At here, std::int64_t number) : Module(std::move(here)), factor(number) {}
  explicit PixelUnshuffle(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const std::int64_t factor;

 protected:
  std::string settings() const override;
};

/// See channel_shuffle.
struct ChannelShuffle : Module {
  ChannelShuffle(At here, std::int64_t number) : Module(std::move(here)), groups(number) {}
  explicit ChannelShuffle(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const std::int64_t groups;

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
