// Pooling. A sequence is treated as an image of one row, with its options converted. The largest number of a window is
// taken from its position, and the gradient is put back there; these two are each other's dual. A mean is a sum, taken
// by a band matrix for each axis, divided by the number of its terms.
#include "pooling.h"

#include <algorithm>
#include <utility>

#include "../../core/array/shape_hints.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../indexing/axis.h"
#include "../kernels/conv/pooling.h"
#include "../kernels/conv/resample.h"
#include "interpolate.h"

namespace xgrad {
namespace {

// ---- Arguments of a call --------------------------------------------------------------------------------------------

// The windows along one axis.
struct WindowAxis {
  std::int64_t in, kernel, stride, padding;
  std::int64_t out = 0;

  std::int64_t begin(std::int64_t i) const { return i * stride - padding; }
  // The inputs in window i, of which there is one because no more than half of the kernel is padding.
  Span inputs(std::int64_t i) const {
    const std::int64_t first = std::max<std::int64_t>(begin(i), 0);
    return {first, std::min(begin(i) + kernel, in) - first};
  }
};

void check_window(const char* op, const WindowAxis& axis) {
  for (const auto& [what, value] : {std::pair{"kernel", axis.kernel}, std::pair{"stride", axis.stride}}) {
    if (value < 1) fail<ValueError>(op, what, " ", value, " is not positive");
    if (value > largest_image_side) fail<LimitError>(op, what, " ", value, " is beyond ", largest_image_side);
  }
  if (axis.padding < 0 || axis.padding > axis.kernel / 2) {
    fail<ValueError>(op, "padding ", axis.padding, " is not in [0, ", axis.kernel / 2, "], half of the kernel");
  }
}

// `axis` with its number of windows.
WindowAxis counted(const char* op, WindowAxis axis, bool ceil_mode) {
  check_window(op, axis);
  const std::int64_t padded = axis.in + 2 * axis.padding, slack = padded - axis.kernel;
  if (slack < 0) {
    fail<ShapeError>(op, "a window of ", axis.kernel, " is larger than the input with its padding, ", padded);
  }
  axis.out = (slack + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
  // A window that begins in the padding after the end does not count.
  if (ceil_mode && axis.begin(axis.out - 1) >= axis.in) --axis.out;
  return axis;
}

// x as planes: (C, H, W) or (B, C, H, W); a sequence has H = 1.
struct PoolingInput {
  std::int64_t count, height, width;
  Shape leading;
  int axes;  // 1 or 2

  PoolingInput(const char* op, const Tensor& x, int window_axes) : axes(window_axes) {
    const int rank = x.rank();
    const auto empty = [&](int axis) { return x.dim(-axis) == 0; };
    if ((rank != axes + 1 && rank != axes + 2) || empty(1) || (axes == 2 && empty(2))) {
      fail<ShapeError>(op, "needs ", axes == 1 ? "(C, L) or (B, C, L)" : "(C, H, W) or (B, C, H, W)",
                       ", not empty, got ", x.shape(), detail::volume_hint(x.shape()));
    }
    leading = xgrad::leading(x.shape(), axes);
    count = leading.numel();
    height = axes == 1 ? 1 : x.dim(-2);
    width = x.dim(-1);
    if (height > largest_image_side / width) {
      fail<LimitError>(op, "the picture of ", x.shape(), " has more than ", largest_image_side, " elements");
    }
  }

  Shape result(std::int64_t rows, std::int64_t columns) const {
    Shape shape = joined(leading, axes == 2 ? Shape{rows, columns} : Shape{columns});
    (void)shape.numel();
    return shape;
  }
};

// A call whose windows are over one axis of x or two: x as planes, their windows, and the attributes.
struct WindowCall {
  PoolingInput planes;
  WindowAxis rows, columns;
  detail::WindowAttributes attributes;

  template <class Options>
  WindowCall(const char* op, int axes, const Tensor& x, const Size2d& kernel, const Options& options)
      : planes(op, x, axes) {
    const Size2d stride = options.stride.value_or(kernel), &padding = options.padding;
    rows = counted(op, {planes.height, kernel.height, stride.height, padding.height}, options.ceil_mode);
    columns = counted(op, {planes.width, kernel.width, stride.width, padding.width}, options.ceil_mode);
    const auto by_axis = [axes](const Size2d& size) {
      return axes == 1 ? Shape{size.width} : Shape{size.height, size.width};
    };
    attributes = {.kernel = by_axis(kernel),
                  .stride = unless(by_axis(kernel), by_axis(stride)),
                  .padding = unless(by_axis(0), by_axis(padding)),
                  .ceil_mode = unless(false, options.ceil_mode)};
  }
};

// Options for a sequence as those for an image of one row.
std::optional<Size2d> of_row(const std::optional<std::int64_t>& size) {
  return size ? std::optional(Size2d(1, *size)) : std::nullopt;
}
MaxPool2dOptions of_row(const MaxPool1dOptions& options) {
  return {.stride = of_row(options.stride), .padding = {0, options.padding}, .ceil_mode = options.ceil_mode};
}
AvgPool2dOptions of_row(const AvgPool1dOptions& options) {
  return {.stride = of_row(options.stride),
          .padding = {0, options.padding},
          .ceil_mode = options.ceil_mode,
          .count_include_pad = options.count_include_pad};
}

// ---- The largest number ---------------------------------------------------------------------------------------------

Windows windows_of(const WindowAxis& axis) {
  Windows windows{.in = axis.in,
                  .out = axis.out,
                  .stride = axis.stride,
                  .first = Index(Shape{axis.out}),
                  .last = Index(Shape{axis.out})};
  std::int64_t *first = windows.first.mutable_data(), *last = windows.last.mutable_data();
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const Span inputs = axis.inputs(i);
    first[i] = inputs.first;
    last[i] = inputs.first + inputs.count - 1;
    windows.longest = std::max(windows.longest, inputs.count);
  }
  const auto full = [&](std::int64_t i) { return axis.inputs(i).count == axis.kernel; };
  while (windows.full_begin < axis.out && !full(windows.full_begin)) ++windows.full_begin;
  windows.full_end = windows.full_begin;
  while (windows.full_end < axis.out && full(windows.full_end)) ++windows.full_end;
  return windows;
}

// Numbers chosen from planes by their positions: places (planes, out).
struct Choice {
  std::int64_t in;
  Index positions;

  std::int64_t planes() const { return positions.dim(0); }
  std::int64_t out() const { return positions.dim(1); }
};

Tensor chosen(const Tensor& x, const Choice& choice, const Shape& to);

XGRAD_FORMULA add_places_formula{"add_places", "y_j = sum of x_i with place_i = j", "dL/dx_i = gy_(place_i)"};
// The dual of `chosen`.
Tensor put_back(const Tensor& gy, const Choice& choice, const Shape& to) {
  Array x(to);
  add_places(choice.planes(), choice.in, choice.out(), choice.positions.data(), gy.value().data(), x.mutable_data());
  return record("add_places", std::move(x),
                wrt(gy, [choice, from = gy.shape()](const Tensor& g) { return chosen(g, choice, from); }));
}

XGRAD_FORMULA take_places_formula{"take_places", "y_i = x_(place_i)", "dL/dx_j = sum of gy_i with place_i = j"};
Tensor chosen(const Tensor& x, const Choice& choice, const Shape& to) {
  Array y(to);
  take_places(choice.planes(), choice.in, choice.out(), choice.positions.data(), x.value().data(), y.mutable_data());
  return record("take_places", std::move(y),
                wrt(x, [choice, from = x.shape()](const Tensor& g) { return put_back(g, choice, from); }));
}

// The largest numbers; their positions are saved if a gradient will need them.
Tensor max_pooled(const char* op, int axes, const Tensor& x, const Size2d& kernel, const MaxPool2dOptions& options) {
  const auto [planes, rows, columns, attributes] = WindowCall(op, axes, x, kernel, options);
  Array y(planes.result(rows.out, columns.out), {op});
  const PooledPlanes sizes{planes.count, windows_of(rows), windows_of(columns)};
  const bool keep = recording() && x.requires_grad();
  Choice choice{sizes.in(), Index(keep ? Shape{planes.count, sizes.out()} : Shape{0, 0})};
  max_of_windows(sizes, x.value().data(), y.mutable_data(), keep ? choice.positions.mutable_data() : nullptr);
  return record(
      op, std::move(y),
      wrt(x, [choice = std::move(choice), to = x.shape()](const Tensor& gy) { return put_back(gy, choice, to); }),
      attribute("kernel", attributes.kernel), attribute("stride", attributes.stride),
      attribute("padding", attributes.padding), attribute("ceil_mode", attributes.ceil_mode));
}

// ---- The mean -------------------------------------------------------------------------------------------------------

// The sums of a band divided by count(i).
Band mean_of(Band band, const auto& count) {
  band.divisors = Array(Shape{band.out});
  Real* to = band.divisors.mutable_data();
  for (std::int64_t i = 0; i < band.out; ++i) to[i] = static_cast<Real>(count(i));
  return band;
}

Band means_of(const WindowAxis& axis, bool count_include_pad) {
  const auto inputs = [&](std::int64_t i) { return axis.inputs(i); };
  return mean_of(make_band(axis.in, axis.out, inputs), [&](std::int64_t i) {
    const std::int64_t begin = axis.begin(i), end = std::min(begin + axis.kernel, axis.in + axis.padding);
    return count_include_pad ? end - begin : inputs(i).count;
  });
}

// The means of `out` windows of about the same length.
Band means_of(std::int64_t in, std::int64_t out) {
  const auto begin = [=](std::int64_t i) { return i * in / out; };
  const auto count = [=](std::int64_t i) { return ((i + 1) * in + out - 1) / out - begin(i); };
  const auto inputs = [&](std::int64_t i) { return Span{begin(i), count(i)}; };
  return mean_of(make_band(in, out, inputs), count);
}

Tensor mean_pooled(const char* op, int axes, const Tensor& x, const Size2d& kernel, const AvgPool2dOptions& options) {
  auto [planes, rows, columns, attributes] = WindowCall(op, axes, x, kernel, options);
  attributes.count_include_pad = unless(true, options.count_include_pad);
  return detail::resample(op, x, means_of(rows, options.count_include_pad),
                          means_of(columns, options.count_include_pad), planes.result(rows.out, columns.out),
                          attributes);
}

Tensor adaptive_mean_pooled(const char* op, int axes, const Tensor& x, const Size2d& size) {
  const PoolingInput planes(op, x, axes);
  for (const std::int64_t out : {size.height, size.width}) {
    if (out < 1) fail<ValueError>(op, "size ", out, " is not positive");
    if (out > largest_image_side) fail<LimitError>(op, "size ", out, " is beyond ", largest_image_side);
  }
  const Shape to = planes.result(size.height, size.width);
  return detail::resample(op, x, means_of(planes.height, size.height), means_of(planes.width, size.width), to);
}

constexpr const char *largest = "y_i = the largest x in window i",
                     *to_largest = "dL/dx_j = sum of gy_i with x_j the first largest in window i",
                     *mean_in_window = "y_i = the mean of x in window i",
                     *to_window = "dL/dx_j = sum of gy_i with j in window i, divided by its size";

}  // namespace

XGRAD_FORMULA max_pool1d_formula{"max_pool1d", largest, to_largest};
Tensor max_pool1d(const Tensor& x, std::int64_t kernel, const MaxPool1dOptions& options) {
  return max_pooled("max_pool1d", 1, x, {1, kernel}, of_row(options));
}
XGRAD_FORMULA max_pool2d_formula{"max_pool2d", largest, to_largest};
Tensor max_pool2d(const Tensor& x, const Size2d& kernel, const MaxPool2dOptions& options) {
  return max_pooled("max_pool2d", 2, x, kernel, options);
}
XGRAD_FORMULA avg_pool1d_formula{"avg_pool1d", mean_in_window, to_window};
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel, const AvgPool1dOptions& options) {
  return mean_pooled("avg_pool1d", 1, x, {1, kernel}, of_row(options));
}
XGRAD_FORMULA avg_pool2d_formula{"avg_pool2d", mean_in_window, to_window};
Tensor avg_pool2d(const Tensor& x, const Size2d& kernel, const AvgPool2dOptions& options) {
  return mean_pooled("avg_pool2d", 2, x, kernel, options);
}

XGRAD_FORMULA adaptive_avg_pool1d_formula{"adaptive_avg_pool1d", mean_in_window, to_window};
Tensor adaptive_avg_pool1d(const Tensor& x, std::int64_t size) {
  return adaptive_mean_pooled("adaptive_avg_pool1d", 1, x, {1, size});
}
XGRAD_FORMULA adaptive_avg_pool2d_formula{"adaptive_avg_pool2d", mean_in_window, to_window};
Tensor adaptive_avg_pool2d(const Tensor& x, const Size2d& size) {
  return adaptive_mean_pooled("adaptive_avg_pool2d", 2, x, size);
}

}  // namespace xgrad
