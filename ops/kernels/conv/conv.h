// Convolutions of images on plain memory, as products that are summed where the image lies: no matrix of its columns is
// ever made.
#pragma once

#include <cstdint>

#include "../../../core/array/array.h"
#include "conv_sizes.h"
#include "../products/product.h"

namespace xgrad {

/// y_bop = bias_o + sum_ck x_bc(stride p - padding + dilation k) w_ock, where the image is 0 outside. bias (groups out)
/// or nullptr. Each number is summed in an order that depends on the sizes alone. This and those below: sizes may be 0,
/// but for strides, dilations and groups; with a unit (bfloat16.h) factors are rounded to bfloat16, which it
/// multiplies, unless kernels reach far beyond the images (conv_far.h).
Array conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias,
                const detail::BfloatUnit* unit);

/// The gradient to the image, which is the transposed convolution: x_bcq = bias_c + sum over o, k, and the p with
/// stride p - padding + dilation k = q, of y_bop w_ock. bias (groups in) or nullptr.
Array conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias,
                      const detail::BfloatUnit* unit);

/// The gradient to the kernel: w_ock = sum_bp y_bop x_bc(stride p - padding + dilation k). Sums are taken over about a
/// thousand pixels, of these over blocks of images, then over the blocks, so they are the same for any number of threads.
Array conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result, const detail::BfloatUnit* unit);

/// What each result looks at, as columns (batch, groups in h.kernel w.kernel, h.out w.out), 0 outside of the image; and
/// the transposed map, which adds up at each place of an image what the columns hold of it.
Array unfold_rows(const ConvSizes& sizes, const Real* image);
Array fold_rows(const ConvSizes& sizes, const Real* columns);

}  // namespace xgrad
