// The convolutions of conv.h on factors in bfloat16 parts. Arguments as there; no result is empty.
#pragma once

#include "../../../core/array/array.h"
#include "../bfloat16/bfloat16.h"
#include "conv_sizes.h"

namespace xgrad::detail {

/// Whether a convolution with these factors, of these shapes, is rounded to bfloat16 parts.
bool bfloat_conv_pays(const Rounding& rounding, const ConvSizes& sizes, const Real* a, const Shape& a_shape,
                      const Real* b, const Shape& b_shape);
Array bfloat_conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias,
                       const Rounding& rounding);
Array bfloat_conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias,
                             const Rounding& rounding);
Array bfloat_conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result, const Rounding& rounding);

}  // namespace xgrad::detail
