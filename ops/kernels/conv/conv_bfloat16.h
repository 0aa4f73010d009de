// The convolutions of conv.h on factors rounded to bfloat16. Arguments as there; no result is empty.
#pragma once

#include "../../../core/array/array.h"
#include "../bfloat16/bfloat16.h"
#include "conv_sizes.h"

namespace xgrad::detail {

Array bfloat_conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias,
                       const BfloatUnit& unit);
Array bfloat_conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias,
                             const BfloatUnit& unit);
Array bfloat_conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result, const BfloatUnit& unit);

}  // namespace xgrad::detail
