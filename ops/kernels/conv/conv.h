// Convolutions of images on plain memory. The columns of all images are never stored.
#pragma once

#include "../../../core/array/array.h"
#include "conv_sizes.h"

namespace xgrad {

/// y_bop = bias_o + sum_ck x_bc(stride p - padding + dilation k) w_ock, where the image is 0 outside. bias (groups out)
/// or nullptr. Each number is summed in an order that depends on the sizes alone. Here and below: sizes may be 0,
/// except strides, dilations and groups.
///
/// The padding consists of zeros, which are multiplied like the pixels of the image: an infinite weight gives NaN
/// there. The kernels for finite numbers skip some of them; for others, and where the padding is most of the image,
/// the maps are products with the columns (unfold.cpp).
Array conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias);

/// The gradient to the image, which is the transposed convolution: x_bcq = bias_c + sum over o, k, and the p with
/// stride p - padding + dilation k = q, of y_bop w_ock. bias (groups in) or nullptr.
Array conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias);

/// The gradient to the kernel: w_ock = sum_bp y_bop x_bc(stride p - padding + dilation k). Sums are taken over
/// some hundred pixels, of these over blocks of pixels, then over the blocks, so they are the same for any number of
/// threads.
Array conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result);

/// The image patches of the results, as columns (batch, groups in h.kernel w.kernel, h.out w.out), 0 outside the image;
/// and the transposed map, which sums at each pixel of an image its copies in the columns.
Array unfold_rows(const ConvSizes& sizes, const Real* image);
Array fold_rows(const ConvSizes& sizes, const Real* columns);

namespace detail {
/// The three maps as products with the columns of one image at a time. Results are not empty.
Array conv_rows_by_columns(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias);
Array conv_image_rows_by_columns(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias);
Array conv_kernel_rows_by_columns(const ConvSizes& sizes, const Real* image, const Real* result);
}  // namespace detail

}  // namespace xgrad
