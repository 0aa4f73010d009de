// Pooling: the largest element or the mean of each window over a sequence or an image.
//
// Images are (C, H, W) or (B, C, H, W), sequences (C, L) or (B, C, L). Sizes, rounding and edges are as in PyTorch.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"
#include "size2d.h"

namespace xgrad {

struct MaxPool1dOptions {
  std::optional<std::int64_t> stride{};  ///< the step from window to window; by default the kernel's size
  std::int64_t padding = 0;              ///< the number of elements added at each end, which are never the largest
  bool ceil_mode = false;                ///< whether to add a last window that begins inside, but ends outside
};
/// y_i = max over k < kernel of x_(i stride - padding + k); NaN if the window contains one. The gradient goes to the
/// first of the largest elements. Throws ShapeError unless x is (C, L) or (B, C, L) and the padded sequence is no
/// shorter than a window; ValueError for a kernel or stride below 1 or a padding outside [0, kernel / 2]; LimitError
/// for sizes beyond 2^31.
Tensor max_pool1d(const Tensor& x, std::int64_t kernel, const MaxPool1dOptions& options = {});

struct MaxPool2dOptions {
  std::optional<Size2d> stride{};  ///< the step from window to window; by default the kernel's size
  Size2d padding = 0;              ///< the number of elements added on each side, which are never the largest
  bool ceil_mode = false;          ///< whether to add a last window that begins inside, but ends outside
};
/// Max pooling of windows over H and W of x (..., C, H, W). Throws as max_pool1d.
Tensor max_pool2d(const Tensor& x, const Size2d& kernel, const MaxPool2dOptions& options = {});

struct AvgPool1dOptions {
  std::optional<std::int64_t> stride{};  ///< the step from window to window; by default the kernel's size
  std::int64_t padding = 0;              ///< the number of zeros added at each end
  bool ceil_mode = false;                ///< whether to add a last window that begins inside, but ends outside
  bool count_include_pad = true;         ///< whether the mean counts the zeros of the padding
};
/// y_i = mean over k < kernel of x_(i stride - padding + k). Throws as max_pool1d.
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel, const AvgPool1dOptions& options = {});

struct AvgPool2dOptions {
  std::optional<Size2d> stride{};  ///< the step from window to window; by default the kernel's size
  Size2d padding = 0;              ///< the number of zeros added on each side
  bool ceil_mode = false;          ///< whether to add a last window that begins inside, but ends outside
  bool count_include_pad = true;   ///< whether the mean counts the zeros of the padding
};
/// Average pooling of windows over H and W of x (..., C, H, W). Throws as max_pool1d.
Tensor avg_pool2d(const Tensor& x, const Size2d& kernel, const AvgPool2dOptions& options = {});

/// The means of `size` windows over x of any length L: window i covers floor(i L / size) ... ceil((i + 1) L / size) -
/// 1. Throws ShapeError unless x is (C, L) or (B, C, L) and not empty, ValueError for a size below 1, LimitError for
/// sizes beyond 2^31.
Tensor adaptive_avg_pool1d(const Tensor& x, std::int64_t size);
/// The means of windows over H and W of x (..., C, H, W); for size 1 the mean of each channel. Throws as
/// adaptive_avg_pool1d.
Tensor adaptive_avg_pool2d(const Tensor& x, const Size2d& size);

}  // namespace xgrad
