// Pooling as layers, under PyTorch's names. Each layer calls the function of ops/network/pooling.h with its name, and
// throws the same errors.
#pragma once

#include "../../ops/network/pooling.h"
#include "function_layer.h"

namespace xgrad::nn {

/// See max_pool1d.
using MaxPool1d = detail::FunctionLayer<"MaxPool1d", max_pool1d, MaxPool1dOptions, std::int64_t>;
/// See max_pool2d. Example: `nn::MaxPool2d pool{at("pool"), 2}`.
using MaxPool2d = detail::FunctionLayer<"MaxPool2d", max_pool2d, MaxPool2dOptions, Size2d>;
/// See avg_pool1d.
using AvgPool1d = detail::FunctionLayer<"AvgPool1d", avg_pool1d, AvgPool1dOptions, std::int64_t>;
/// See avg_pool2d.
using AvgPool2d = detail::FunctionLayer<"AvgPool2d", avg_pool2d, AvgPool2dOptions, Size2d>;

/// See adaptive_avg_pool1d.
using AdaptiveAvgPool1d =
    detail::FunctionLayer<"AdaptiveAvgPool1d", adaptive_avg_pool1d, detail::NoOptions, std::int64_t>;
/// See adaptive_avg_pool2d. For one number per channel: `nn::AdaptiveAvgPool2d pool{at("pool"), 1}`.
using AdaptiveAvgPool2d = detail::FunctionLayer<"AdaptiveAvgPool2d", adaptive_avg_pool2d, detail::NoOptions, Size2d>;

}  // namespace xgrad::nn
