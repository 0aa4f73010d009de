// Pooling: the largest element or the mean of each window over a sequence or an image.
//
// Images are (C, H, W) or (B, C, H, W), sequences (C, L) or (B, C, L). Sizes, rounding and edges are PyTorch's.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"
#include "size2d.h"

namespace xgrad {

struct MaxPool1dOptions {
  std::optional<std::int64_t> stride{};  ///< from window to window; the kernel's size if not given
  std::int64_t padding = 0;              ///< at both ends, with elements that are never the largest
  bool ceil_mode = false;                ///< one more window where one begins inside, but does not end there
};
/// y_i = max over k < kernel of x_(i stride - padding + k), NaN if there is one. The gradient goes to the first largest
/// number. Throws ShapeError for other axes than (C, L) or (B, C, L) and a window that is larger than the padded
/// sequence, ValueError for a kernel or stride below 1 and a padding outside [0, kernel / 2], LimitError for sizes
/// beyond 2^31.
Tensor max_pool1d(const Tensor& x, std::int64_t kernel, const MaxPool1dOptions& options = {});

struct MaxPool2dOptions {
  std::optional<Size2d> stride{};  ///< from window to window; the kernel's size if not given
  Size2d padding = 0;              ///< on both sides, with elements that are never the largest
  bool ceil_mode = false;          ///< one more window where one begins inside, but does not end there
};
/// Max pooling of windows over H and W of x (..., C, H, W). Throws as max_pool1d.
Tensor max_pool2d(const Tensor& x, const Size2d& kernel, const MaxPool2dOptions& options = {});

struct AvgPool1dOptions {
  std::optional<std::int64_t> stride{};  ///< from window to window; the kernel's size if not given
  std::int64_t padding = 0;              ///< at both ends, with zeros
  bool ceil_mode = false;                ///< one more window where one begins inside, but does not end there
  bool count_include_pad = true;         ///< the zeros of the padding count in the mean
};
/// y_i = mean over k < kernel of x_(i stride - padding + k). Throws as max_pool1d.
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel, const AvgPool1dOptions& options = {});

struct AvgPool2dOptions {
  std::optional<Size2d> stride{};  ///< from window to window; the kernel's size if not given
  Size2d padding = 0;              ///< on both sides, with zeros
  bool ceil_mode = false;          ///< one more window where one begins inside, but does not end there
  bool count_include_pad = true;   ///< the zeros of the padding count in the mean
};
/// Average pooling of windows over H and W of x (..., C, H, W). Throws as max_pool1d.
Tensor avg_pool2d(const Tensor& x, const Size2d& kernel, const AvgPool2dOptions& options = {});

/// Means of x of any length L in `size` windows: window i covers floor(i L / size) ... ceil((i + 1) L / size) - 1.
/// Throws ShapeError for other axes than (C, L) or (B, C, L) or an empty sequence, ValueError for a size below 1,
/// LimitError for sizes beyond 2^31.
Tensor adaptive_avg_pool1d(const Tensor& x, std::int64_t size);
/// Means over H and W of x (..., C, H, W): for size 1 the mean of each image. Throws likewise.
Tensor adaptive_avg_pool2d(const Tensor& x, const Size2d& size);

}  // namespace xgrad
