// Convolutions whose kernels reach far beyond images, or whose results stand far apart: place by place of the kernel,
// of what is seen through it alone, so that they take no memory but for what they give.
#pragma once

#include "../../../core/array/array.h"
#include "conv_sizes.h"

namespace xgrad::detail {

/// As conv_rows, conv_image_rows and conv_kernel_rows (conv.h). Arrays are not empty.
Array far_conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias);
Array far_conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias);
Array far_conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result);

}  // namespace xgrad::detail
