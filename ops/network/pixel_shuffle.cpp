// Pixels are rearranged by reshape and permute.
#include "pixel_shuffle.h"

#include "../../core/base/error.h"
#include "../arrange/shape.h"

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

Shape with_image(Shape shape, std::int64_t C, std::int64_t H, std::int64_t W) {
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
  return reshape(parts, with_image(x.shape(), C, H * factor, W * factor));
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
  return reshape(parts, with_image(x.shape(), C * factor * factor, H, W));
}

Tensor channel_shuffle(const Tensor& x, std::int64_t groups) {
  if (groups < 1) fail<ValueError>("channel_shuffle", "groups ", groups, " is not positive");
  if (x.rank() < 3 || x.dim(1) % groups != 0) {
    fail<ShapeError>("channel_shuffle", groups, " groups of the channels of ", x.shape());
  }
  const std::int64_t C = x.dim(1), pixels = x.size() == 0 ? 0 : x.size() / (x.dim(0) * C);
  return reshape(transpose(reshape(x, {x.dim(0), groups, C / groups, pixels}), 1, 2), x.shape());
}

}  // namespace xgrad
