// Pixels are rearranged by reshape and permute; a picture is sampled by gathering the neighbours of each point.
#include "pictures.h"

#include <cmath>

#include "../../core/base/error.h"
#include "../arrange/broadcast.h"
#include "../arrange/create.h"
#include "../arrange/index.h"
#include "../arrange/join.h"
#include "../arrange/shape.h"
#include "../arrange/slice.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../elementwise/rounding.h"
#include "../products/matmul.h"
#include "../reduce/reduce.h"
#include "pooling.h"

namespace xgrad {
namespace {

void check_factor(const char* op, const Tensor& x, std::int64_t factor) {
  if (factor < 1) fail<ValueError>(op, "factor ", factor, " is not positive");
  if (x.rank() < 3) fail<ShapeError>(op, "needs (..., C, H, W), got ", x.shape());
}

// The axes before the last three as one.
Shape flat(const Tensor& x) {
  const std::int64_t C = x.dim(-3), H = x.dim(-2), W = x.dim(-1);
  std::int64_t count = 1;
  for (int axis = 0; axis < x.rank() - 3; ++axis) count *= x.shape()[axis];
  return {count, C, H, W};
}

Shape with_picture(Shape shape, std::int64_t C, std::int64_t H, std::int64_t W) {
  const int rank = shape.rank();
  shape[rank - 3] = C;
  shape[rank - 2] = H;
  shape[rank - 1] = W;
  return shape;
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, std::int64_t factor) {
  constexpr const char* op = "pixel_shuffle";
  check_factor(op, x, factor);
  const Shape all = flat(x);
  const std::int64_t block = checked_multiply(op, factor, factor), C = all[1] / block, H = all[2], W = all[3];
  if (all[1] % block != 0) {
    fail<ShapeError>(op, "the ", all[1], " channels of ", x.shape(), " are no multiple of ", block);
  }
  const Tensor parts = permute(reshape(x, {all[0], C, factor, factor, H, W}), {0, 1, 4, 2, 5, 3});
  return reshape(parts, with_picture(x.shape(), C, H * factor, W * factor));
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor) {
  constexpr const char* op = "pixel_unshuffle";
  check_factor(op, x, factor);
  const Shape all = flat(x);
  const std::int64_t C = all[1], H = all[2] / factor, W = all[3] / factor;
  if (all[2] % factor != 0 || all[3] % factor != 0) {
    fail<ShapeError>(op, "height and width of ", x.shape(), " are no multiples of ", factor);
  }
  const Tensor parts = permute(reshape(x, {all[0], C, H, factor, W, factor}), {0, 1, 3, 5, 2, 4});
  return reshape(parts, with_picture(x.shape(), C * factor * factor, H, W));
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups) {
  if (groups < 1) fail<ValueError>("channel_shuffle", "groups ", groups, " is not positive");
  if (x.rank() < 3 || x.dim(1) % groups != 0) {
    fail<ShapeError>("channel_shuffle", groups, " groups of the channels of ", x.shape());
  }
  const std::int64_t C = x.dim(1), pixels = x.size() == 0 ? 0 : x.size() / (x.dim(0) * C);
  return reshape(transpose(reshape(x, {x.dim(0), groups, C / groups, pixels}), 1, 2), x.shape());
}

Tensor local_response_norm(const Tensor& x, std::int64_t size, const LocalResponseNormOptions& options) {
  if (size < 1) fail<ValueError>("local_response_norm", "size ", size, " is not positive");
  if (x.rank() < 3) fail<ShapeError>("local_response_norm", "needs (B, C, ...), got ", x.shape());
  if (x.size() == 0) return x;
  // The channels are the rows of a picture whose columns are the pixels.
  const std::int64_t B = x.dim(0), C = x.dim(1);
  const Tensor squares = reshape(square(x), {B, C, x.size() / (B * C)});
  const Tensor around = pad(squares, {{0, 0}, {size / 2, (size - 1) / 2}, {0, 0}});
  const Tensor means = reshape(avg_pool2d(around, {size, 1}, {.stride = Size2d(1)}), x.shape());
  const Tensor scale = static_cast<Real>(options.k) + static_cast<Real>(options.alpha) * means;
  return x * pow(scale, static_cast<Real>(-options.beta));
}

// ---- Sampling -------------------------------------------------------------------------------------------------------

namespace {

// Coordinates of `size` pixels.
Tensor coordinates(std::int64_t size, AlignCorners align) {
  if (align == AlignCorners::yes) return size == 1 ? zeros({1}) : linspace(-1, 1, size);
  const Real n = static_cast<Real>(size);
  return (2 * to_real(arange(size)) + (1 - n)) / n;
}

// A coordinate from -1 to 1 as a place among `size` pixels.
Tensor place_of(const Tensor& at, std::int64_t size, AlignCorners align) {
  const Real n = static_cast<Real>(size);
  const Tensor number = where(at == at, at, -1);
  return align == AlignCorners::yes ? (number + 1) * ((n - 1) / 2) : ((number + 1) * n - 1) / 2;
}

// Places reflected at low and high, which lie in [low, high] then.
Tensor reflected(const Tensor& place, Real low, Real high) {
  if (high <= low) return place * 0 + low;
  const Real span = high - low;
  const Tensor away = abs(where(isfinite(place), place, low) - low);
  const Tensor turns = floor(away / span).detach(), rest = away - turns * span;
  const Tensor is_odd = turns - 2 * floor(turns / 2);
  return where(is_odd == 0, rest + low, high - rest);
}

// The position to read along one axis. Far away from all pixels the exact position does not matter.
Tensor read_at(const Tensor& coordinate, std::int64_t size, const GridSampleOptions& options) {
  const Real last = static_cast<Real>(size - 1);
  Tensor place = place_of(coordinate, size, options.align_corners);
  if (options.padding == GridPadding::reflection) {
    const Real beyond = options.align_corners == AlignCorners::yes ? Real(0) : Real(0.5);
    place = reflected(place, -beyond, last + beyond);
  }
  if (options.padding == GridPadding::zeros) return clamp(place, {.min = -2, .max = last + 2});
  return clamp(place, {.min = 0, .max = last});
}

// The numbers of the pixels at whole positions, 0 for those outside the picture, and which of them are inside.
struct Pixels {
  Index numbers;
  Tensor inside;  // 1 or 0
};

Pixels pixels_at(const Tensor& rows, const Tensor& columns, std::int64_t H, std::int64_t W) {
  Pixels pixels{Index(rows.shape()), Tensor()};
  Array inside(rows.shape());
  std::int64_t* to = pixels.numbers.mutable_data();
  Real* in = inside.mutable_data();
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::int64_t>(rows.value().data()[i]);
    const auto column = static_cast<std::int64_t>(columns.value().data()[i]);
    const bool is_inside = row >= 0 && row < H && column >= 0 && column < W;
    in[i] = is_inside;
    to[i] = is_inside ? row * W + column : 0;
  }
  pixels.inside = inside;
  return pixels;
}

}  // namespace

Tensor affine_grid(const Tensor& theta, const Shape& size, AlignCorners align_corners) {
  constexpr const char* op = "affine_grid";
  if (size.rank() != 4 || theta.shape() != Shape{size[0], 2, 3}) {
    fail<ShapeError>(op, "theta ", theta.shape(), " for pictures ", size, ": needs (B, 2, 3) and (B, C, H, W)");
  }
  const std::int64_t B = size[0], H = size[2], W = size[3];
  if (H < 1 || W < 1) fail<ValueError>(op, "pictures of ", H, " x ", W);
  const Tensors grid = meshgrid({coordinates(H, align_corners), coordinates(W, align_corners)});
  const Tensor points = reshape(stack({grid[1], grid[0], ones({H, W})}, -1), {H * W, 3});
  return reshape(matmul(points, transpose(theta)), {B, H, W, 2});
}

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
  constexpr const char* op = "grid_sample";
  if (x.rank() != 4 || grid.rank() != 4 || grid.dim(0) != x.dim(0) || grid.dim(3) != 2 || x.dim(2) == 0 ||
      x.dim(3) == 0) {
    fail<ShapeError>(op, "x ", x.shape(), " and grid ", grid.shape(),
                     ": needs (B, C, H, W), not empty, and (B, H', W', 2)");
  }
  const std::int64_t B = x.dim(0), C = x.dim(1), H = x.dim(2), W = x.dim(3), out_h = grid.dim(1), out_w = grid.dim(2);
  const std::int64_t points = out_h * out_w;
  const auto along = [&](std::int64_t part) { return reshape(narrow(grid, 3, part, 1), {B, 1, points}); };
  const Tensor column = read_at(along(0), W, options), row = read_at(along(1), H, options);
  const Tensor picture = reshape(x, {B, C, H * W});
  const auto read = [&](const Tensor& rows, const Tensor& columns) {
    const Pixels pixels = pixels_at(rows, columns, H, W);
    const Tensor values = gather(picture, 2, broadcast_to(pixels.numbers, {B, C, points}));
    return where(pixels.inside == 0, 0, values);
  };
  Tensor y;
  if (options.mode == Interpolation::nearest) {
    y = read(round(row).detach(), round(column).detach());
  } else {
    const Tensor top = floor(row).detach(), left = floor(column).detach();
    const Tensor down = row - top, right = column - left;
    y = (read(top, left) * (1 - right) + read(top, left + 1) * right) * (1 - down) +
        (read(top + 1, left) * (1 - right) + read(top + 1, left + 1) * right) * down;
  }
  return reshape(y, {B, C, out_h, out_w});
}

}  // namespace xgrad
