// Interpolation, and the operation under it and average pooling: band matrices for rows and columns.
#include "interpolate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/array/shape_hints.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../elementwise/arithmetic.h"
#include "../kernels/conv/resample.h"
#include "../shape/shape.h"

namespace xgrad {

XGRAD_FORMULA resample_formula{"resample", "y = r x c^T with a matrix r for the rows, c for the columns",
                               "dL/dx = r^T gy c"};
Tensor detail::resample(const char* op, const Tensor& x, const Band& rows, const Band& columns, const Shape& to,
                        const WindowAttributes& windows) {
  Array y = resampled(x.size() / (rows.in * columns.in), x.value(), rows, columns).reshaped(to);
  return record(op, std::move(y),
                wrt(x,
                    [rows, columns, from = x.shape()](const Tensor& gy) {
                      const bool divided = rows.divisors.size() > 0;
                      const Tensor g = divided ? gy / (unsqueeze(Tensor(rows.divisors), 1) * columns.divisors) : gy;
                      return resample("resample", g, transposed(rows), transposed(columns), from);
                    }),
                attribute("kernel", windows.kernel), attribute("stride", windows.stride),
                attribute("padding", windows.padding), attribute("ceil_mode", windows.ceil_mode),
                attribute("count_include_pad", windows.count_include_pad), attribute("mode", windows.mode),
                attribute("align_corners", windows.align_corners), attribute("antialias", windows.antialias),
                attribute("scale_height", windows.scale_height), attribute("scale_width", windows.scale_width));
}

namespace {

// The size of the result along an axis.
std::int64_t scaled_size(std::int64_t in, double factor) {
  if (!(std::isfinite(factor) && factor > 0)) {
    fail<ValueError>("interpolate", "scale_factor ", factor, " is not positive and finite");
  }
  const double out = std::floor(static_cast<double>(in) * factor);
  return static_cast<std::int64_t>(std::min(out, static_cast<double>(largest_image_side) + 1));
}

// One axis: its sizes, and the step from a number of the result to the next, in numbers of x.
struct ScaledAxis {
  std::int64_t in, out;
  std::optional<double> factor;

  double step(AlignCorners align) const {
    if (align == AlignCorners::yes) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
    return factor ? 1 / *factor : static_cast<double>(in) / static_cast<double>(out);
  }
};

Band nearest_band(const ScaledAxis& axis) {
  const auto source = [&](std::int64_t i) {
    const std::int64_t at = axis.factor
                                ? static_cast<std::int64_t>(static_cast<double>(i) * axis.step(AlignCorners::no))
                                : i * axis.in / axis.out;
    return std::min(at, axis.in - 1);
  };
  return make_band(
      axis.in, axis.out,
      [&](std::int64_t i) {
        return Span{source(i), 1};
      },
      [](std::int64_t, std::int64_t) { return Real(1); });
}

Band linear_band(const ScaledAxis& axis, AlignCorners align) {
  const double step = axis.step(align);
  const auto source = [&](std::int64_t i) {
    const double at = align == AlignCorners::yes ? static_cast<double>(i) * step
                                                 : std::max((static_cast<double>(i) + 0.5) * step - 0.5, 0.0);
    return std::min(at, static_cast<double>(axis.in - 1));
  };
  return make_band(
      axis.in, axis.out,
      [&](std::int64_t i) {
        const double at = source(i), before = std::floor(at);
        return Span{static_cast<std::int64_t>(before), at > before ? 2 : 1};
      },
      [&](std::int64_t i, std::int64_t column) {
        return static_cast<Real>(1 - std::abs(source(i) - static_cast<double>(column)));
      });
}

// The triangular filter of a number of the result is as wide as two of its pixels, and at least as two of x's.
Band triangle_band(const ScaledAxis& axis) {
  const double step = axis.step(AlignCorners::no), width = std::max(step, 1.0);
  const auto centre = [&](std::int64_t i) { return (static_cast<double>(i) + 0.5) * step; };
  // NOLINTBEGIN(bugprone-incorrect-roundings): sums of less than 0 become 0 in any case
  const auto span = [&](std::int64_t i) {
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre(i) - width + 0.5), 0);
    return Span{first, std::min(static_cast<std::int64_t>(centre(i) + width + 0.5), axis.in) - first};
  };
  // NOLINTEND(bugprone-incorrect-roundings)
  const auto height = [&](std::int64_t i, std::int64_t column) {
    return std::max(1 - std::abs(static_cast<double>(column) + 0.5 - centre(i)) / width, 0.0);
  };
  std::vector<double> sums;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const auto [first, count] = span(i);
    double& sum = sums.emplace_back();
    for (std::int64_t column = first; column < first + count; ++column) sum += height(i, column);
  }
  return make_band(axis.in, axis.out, span, [&](std::int64_t i, std::int64_t column) {
    return static_cast<Real>(height(i, column) / sums[static_cast<std::size_t>(i)]);
  });
}

Band band_of(const ScaledAxis& axis, const InterpolateOptions& options) {
  if (options.antialias) return triangle_band(axis);
  return options.mode == Interpolation::nearest ? nearest_band(axis) : linear_band(axis, options.align_corners);
}

}  // namespace

XGRAD_FORMULA interpolate_formula{"interpolate", "y = r x c^T with the weights r of the rows, c of the columns",
                                  "dL/dx = r^T gy c"};
Tensor interpolate(const Tensor& x, const InterpolateOptions& options) {
  if (x.rank() != 4 || x.dim(2) == 0 || x.dim(3) == 0) {
    fail<ShapeError>("interpolate", "needs (B, C, H, W) with H and W above 0, got ", x.shape(),
                     detail::batch_axis_hint(x.shape(), Shape{-1, -1, -1}), detail::volume_hint(x.shape()));
  }
  if (options.size.has_value() == options.scale_factor.has_value()) {
    fail<ValueError>("interpolate", "needs either a size or a scale_factor");
  }
  if (options.antialias && (options.mode == Interpolation::nearest || options.align_corners == AlignCorners::yes)) {
    fail<ValueError>("interpolate", "antialias needs bilinear interpolation that does not align corners");
  }
  const std::int64_t H = x.dim(2), W = x.dim(3);
  const auto& factor = options.scale_factor;
  const Size2d size = factor ? Size2d{scaled_size(H, factor->height), scaled_size(W, factor->width)} : *options.size;
  if (size.height < 1 || size.width < 1) {
    fail<ShapeError>("interpolate", "size ", size.height, " x ", size.width, " from ", x.shape(), " is empty");
  }
  if (std::max({H, W, size.height, size.width}) > largest_image_side) {
    fail<LimitError>("interpolate", "from ", H, " x ", W, " to ", size.height, " x ", size.width, ", sides go up to ",
                     largest_image_side);
  }
  const Shape shape{x.dim(0), x.dim(1), size.height, size.width};
  (void)shape.numel();
  const ScaledAxis rows{H, size.height, factor ? std::optional(factor->height) : std::nullopt};
  const ScaledAxis columns{W, size.width, factor ? std::optional(factor->width) : std::nullopt};
  const bool nearest = options.mode == Interpolation::nearest;
  return detail::resample("interpolate", x, band_of(rows, options), band_of(columns, options), shape,
                          {.mode = unless<std::string_view>("nearest", nearest ? "nearest" : "bilinear"),
                           .align_corners = unless(false, !nearest && options.align_corners == AlignCorners::yes),
                           .antialias = unless(false, options.antialias),
                           .scale_height = rows.factor,
                           .scale_width = columns.factor});
}

}  // namespace xgrad
