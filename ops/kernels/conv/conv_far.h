// Convolutions whose kernels reach far beyond images, or whose results are far apart: one place of the kernel at a time,
// over the pixels seen through it alone, without memory besides the result.
#pragma once

#include "../../../core/array/array.h"
#include "conv_sizes.h"

namespace xgrad::detail {

/// As conv_rows, conv_image_rows and conv_kernel_rows (conv.h). Arrays are not empty.
Array far_conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias);
Array far_conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias);
Array far_conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result);

}  // namespace xgrad::detail
