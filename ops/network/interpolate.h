// Resizing images.
#pragma once

#include <optional>
#include <string_view>

#include "../../core/graph/tensor.h"
#include "size2d.h"

namespace xgrad {

/// The interpolation between the pixels of an image.
enum class Interpolation {
  nearest,   ///< the pixel at or before the point
  bilinear,  ///< the mean of the four pixels around the point, weighted by nearness
};

/// The points of the image and of the result that coincide.
enum class AlignCorners {
  no,   ///< the outer corners of the corner pixels: source = (target + 1/2) / scale - 1/2, not below 0
  yes,  ///< the centres of the corner pixels: source = target (in - 1) / (out - 1)
};

/// A factor for the rows of an image and one for its columns; a single number stands for both.
struct Scale2d {
  Scale2d(double both) : height(both), width(both) {}
  Scale2d(double rows, double columns) : height(rows), width(columns) {}

  double height;
  double width;
};

struct InterpolateOptions {
  std::optional<Size2d> size{};           ///< the size of the result; give either this or scale_factor
  std::optional<Scale2d> scale_factor{};  ///< the size of the result is floor(scale_factor * size of x)
  Interpolation mode = Interpolation::nearest;
  AlignCorners align_corners = AlignCorners::no;  ///< for bilinear interpolation
  bool antialias = false;  ///< for bilinear shrinking: the mean of all pixels that fall on a result pixel, not of four
};
/// x (B, C, H, W) resized to another height and width, by PyTorch's formulas; linear in x.
///
///     nearest:   y_ij = x_(floor(i / scale))(floor(j / scale))
///     bilinear:  y_ij = (1 - a) (1 - b) x_rs + (1 - a) b x_r(s+1) + a (1 - b) x_(r+1)s + a b x_(r+1)(s+1),
///                source of i = r + a, source of j = s + b
///     antialias: the weight of x_r in y_i is max(0, 1 - |r + 1/2 - (i + 1/2) / scale| min(1, scale)), divided by the
///                sum of these weights, and the same for columns; equals bilinear if the result is larger
///
/// scale is the given factor, or out / in if a size is given. A neighbour of weight 0 has no effect, even if it is NaN.
/// Throws ShapeError unless x has four axes and x and the result are not empty. Throws ValueError unless exactly one of
/// size and scale_factor is given, for a factor that is not positive and finite, and for antialias unless the
/// interpolation is bilinear without aligned corners. Throws LimitError for a size beyond 2^31.
Tensor interpolate(const Tensor& x, const InterpolateOptions& options);

struct Band;
namespace detail {
/// Attributes of windows or of an interpolation, without those at their defaults.
struct WindowAttributes {
  std::optional<Shape> kernel = {}, stride = {}, padding = {};
  std::optional<bool> ceil_mode = {}, count_include_pad = {};

  std::optional<std::string_view> mode = {};
  std::optional<bool> align_corners = {}, antialias = {};
  std::optional<double> scale_height = {}, scale_width = {};
};
/// Multiplies the planes of x (..., rows.in, columns.in) by a matrix for the rows and one for the columns. The result
/// has the shape `to`. The dual has both matrices transposed.
Tensor resample(const char* op, const Tensor& x, const Band& rows, const Band& columns, const Shape& to,
                const WindowAttributes& windows = {});
}  // namespace detail

}  // namespace xgrad
