// Pooling, and pictures in another size, as layers, under PyTorch's names. Each is the function of ops/layers/pooling.h
// or ops/layers/interpolate.h that its comment names, and throws the same errors.
#pragma once

#include "../../ops/layers/interpolate.h"
#include "../../ops/layers/pooling.h"
#include "../layer.h"

namespace xgrad::nn {
namespace detail {

inline std::string text_of(std::int64_t size) { return cat(size); }
inline std::string text_of(const Size2d& size) { return cat(size.height, " x ", size.width); }

/// function(x, kernel, options).
template <class Self, auto function, class Kernel, class Options>
struct PoolLayer : Layer<Self> {
  PoolLayer(At here, const Kernel& size, const Options& given = {})
      : Layer<Self>(std::move(here)), kernel(size), options(given) {}
  template <class... Rest>
  explicit PoolLayer(Module::Placeless, const Rest&...);

  Tensor forward(const Tensor& x) const { return function(x, kernel, options); }

  const Kernel kernel;
  const Options options;

 protected:
  std::string settings() const override { return text_of(kernel); }
};

/// function(x, size).
template <class Self, auto function, class Size>
struct AdaptivePoolLayer : Layer<Self> {
  AdaptivePoolLayer(At here, const Size& of_result) : Layer<Self>(std::move(here)), size(of_result) {}
  template <class... Rest>
  explicit AdaptivePoolLayer(Module::Placeless, const Rest&...);

  Tensor forward(const Tensor& x) const { return function(x, size); }

  const Size size;

 protected:
  std::string settings() const override { return cat("to ", text_of(size)); }
};

}  // namespace detail

/// See max_pool1d.
struct MaxPool1d : detail::PoolLayer<MaxPool1d, max_pool1d, std::int64_t, MaxPool1dOptions> {
  using Options = MaxPool1dOptions;
  using PoolLayer::PoolLayer;
};
/// See max_pool2d: `nn::MaxPool2d pool{at("pool"), 2}`.
struct MaxPool2d : detail::PoolLayer<MaxPool2d, max_pool2d, Size2d, MaxPool2dOptions> {
  using Options = MaxPool2dOptions;
  using PoolLayer::PoolLayer;
};
/// See avg_pool1d.
struct AvgPool1d : detail::PoolLayer<AvgPool1d, avg_pool1d, std::int64_t, AvgPool1dOptions> {
  using Options = AvgPool1dOptions;
  using PoolLayer::PoolLayer;
};
/// See avg_pool2d.
struct AvgPool2d : detail::PoolLayer<AvgPool2d, avg_pool2d, Size2d, AvgPool2dOptions> {
  using Options = AvgPool2dOptions;
  using PoolLayer::PoolLayer;
};
/// See adaptive_max_pool1d.
struct AdaptiveMaxPool1d : detail::AdaptivePoolLayer<AdaptiveMaxPool1d, adaptive_max_pool1d, std::int64_t> {
  using AdaptivePoolLayer::AdaptivePoolLayer;
};
/// See adaptive_max_pool2d.
struct AdaptiveMaxPool2d : detail::AdaptivePoolLayer<AdaptiveMaxPool2d, adaptive_max_pool2d, Size2d> {
  using AdaptivePoolLayer::AdaptivePoolLayer;
};
/// See adaptive_avg_pool1d.
struct AdaptiveAvgPool1d : detail::AdaptivePoolLayer<AdaptiveAvgPool1d, adaptive_avg_pool1d, std::int64_t> {
  using AdaptivePoolLayer::AdaptivePoolLayer;
};
/// See adaptive_avg_pool2d: one number a channel, `nn::AdaptiveAvgPool2d pool{at("pool"), 1}`.
struct AdaptiveAvgPool2d : detail::AdaptivePoolLayer<AdaptiveAvgPool2d, adaptive_avg_pool2d, Size2d> {
  using AdaptivePoolLayer::AdaptivePoolLayer;
};

/// See interpolate: `nn::Upsample up{at("up"), {.scale_factor = 2}}`.
struct Upsample : Layer<Upsample, InterpolateOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return interpolate(x, options); }

 protected:
  std::string settings() const override {
    if (options.size) return cat("to ", detail::text_of(*options.size));
    return options.scale_factor ? cat("by ", options.scale_factor->height, " x ", options.scale_factor->width) : "";
  }
};

}  // namespace xgrad::nn
