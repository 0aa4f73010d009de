// Convolutions of sequences and images, and the columns (im2col) that turn convolutions into matrix products. Images
// are (B, C, H, W), or (C, H, W) for one image; a convolution is a cross-correlation, as in PyTorch.
//
// All throw ShapeError when shapes do not fit or the kernel is larger than the padded image, ValueError for a stride,
// dilation or number of groups below 1 or a negative padding, LimitError for sizes that overflow.
#pragma once

#include "../../core/graph/tensor.h"
#include "size2d.h"

namespace xgrad {

/// Zero padding that makes the result as large as the image. If the number of zeros is odd, the end gets one more. For
/// stride 1 only.
struct SamePadding {};
inline constexpr SamePadding same_padding;

/// The number of zeros on each side of a sequence, or same_padding.
class Padding1d {
 public:
  constexpr Padding1d(std::int64_t each) : each_(each) {}
  constexpr Padding1d(SamePadding) : same_(true) {}
  bool same() const { return same_; }
  std::int64_t each() const { return each_; }

 private:
  bool same_ = false;
  std::int64_t each_ = 0;
};

/// The number of zeros on each side of an image, or same_padding. One number is for both axes, two are for H and W.
class Padding2d {
 public:
  Padding2d(std::int64_t each) : each_(each) {}
  Padding2d(std::int64_t h, std::int64_t w) : each_(h, w) {}
  Padding2d(SamePadding) : same_(true) {}
  bool same() const { return same_; }
  Size2d each() const { return each_; }

 private:
  bool same_ = false;
  Size2d each_ = 0;
};

struct Conv1dFuncOptions {
  std::int64_t stride = 1;
  Padding1d padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;  ///< the number of groups of channels; each result channel is computed from one group
};
/// Convolution along one axis, as conv2d.     x (B, C, T) or (C, T), weight (O, C / groups, k), bias (O) -> (B, O, T')
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv1dFuncOptions& options = {});

struct Conv2dFuncOptions {
  Size2d stride = 1;
  Padding2d padding = 0;
  Size2d dilation = 1;
  std::int64_t groups = 1;  ///< the number of groups of channels; each result channel is computed from one group
};
/// y_bop = bias_o + sum_ck x_bc(stride p - padding + dilation k) weight_ock over the kernel's taps k and the channels
/// c of o's group.      x (B, C, H, W), weight (O, C / groups, kh, kw), bias (O) or none -> (B, O, H', W')
///
/// H' = floor((H + 2 padding - dilation (kh - 1) - 1) / stride) + 1 (LeCun et al. 1989). With groups = C = O it is
/// depthwise. The gradient with respect to x is the transposed convolution of gy; with respect to the weight it is the
/// correlation of x and gy.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dFuncOptions& options = {});

namespace plain {
/// Unfused conv2d: for each group, the product of the kernel with the columns of the images (unfold).
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dFuncOptions& options = {});
}  // namespace plain

struct ConvTranspose2dFuncOptions {
  Size2d stride = 1;
  Size2d padding = 0;
  Size2d output_padding = 0;  ///< added to the size of the result at its end; less than stride or dilation
  Size2d dilation = 1;
  std::int64_t groups = 1;
};
/// The transposed map of conv2d, from its results to its images.      x (B, C, H, W), weight (C, O / groups, kh, kw),
/// bias (O) or none -> (B, O, H', W'),   H' = (H - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose2dFuncOptions& options = {});

struct UnfoldOptions {
  Size2d dilation = 1;
  Size2d padding = 0;
  Size2d stride = 1;
};
/// The image patches under the kernel, as columns (im2col). The gradient is fold.
///   (B, C, H, W) -> (B, C kh kw, H' W'), or both shapes without B
Tensor unfold(const Tensor& x, const Size2d& kernel, const UnfoldOptions& options = {});

/// The transposed map of unfold (col2im): each element of the image is the sum of its copies in the columns. The
/// gradient is unfold. `size` is (H, W).
///   (B, C kh kw, H' W') -> (B, C, H, W), or both shapes without B
Tensor fold(const Tensor& x, const Size2d& size, const Size2d& kernel, const UnfoldOptions& options = {});

}  // namespace xgrad
