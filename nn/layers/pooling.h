// Pooling, and pictures in another size, as layers, under PyTorch's names. Each is the function of
// ops/network/pooling.h or ops/network/interpolate.h that it names, and throws the same errors.
#pragma once

#include "../../ops/network/interpolate.h"
#include "../../ops/network/pooling.h"
#include "function_layer.h"

namespace xgrad::nn {

/// See max_pool1d.
using MaxPool1d = detail::FunctionLayer<"MaxPool1d", max_pool1d, MaxPool1dOptions, std::int64_t>;
/// See max_pool2d: `nn::MaxPool2d pool{at("pool"), 2}`.
using MaxPool2d = detail::FunctionLayer<"MaxPool2d", max_pool2d, MaxPool2dOptions, Size2d>;
/// See avg_pool1d.
using AvgPool1d = detail::FunctionLayer<"AvgPool1d", avg_pool1d, AvgPool1dOptions, std::int64_t>;
/// See avg_pool2d.
using AvgPool2d = detail::FunctionLayer<"AvgPool2d", avg_pool2d, AvgPool2dOptions, Size2d>;

namespace detail {
/// function(x, size).
template <class Self, auto function, class Size>
struct AdaptivePoolLayer : FunctionLayerOf<Self, function, NoOptions, Size> {
  using FunctionLayerOf<Self, function, NoOptions, Size>::FunctionLayerOf;

 protected:
  std::string settings() const override { return str("to ", text_of(std::get<0>(this->arguments))); }
};
}  // namespace detail

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
struct Upsample : detail::FunctionLayerOf<Upsample, interpolate, InterpolateOptions> {
  using FunctionLayerOf::FunctionLayerOf;

 protected:
  std::string settings() const override {
    if (options.size) return str("to ", detail::text_of(*options.size));
    return options.scale_factor ? str("by ", options.scale_factor->height, " x ", options.scale_factor->width) : "";
  }
};

}  // namespace xgrad::nn
