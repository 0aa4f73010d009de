// Padding with elements of x itself: along each axis, a choice of positions.
#include "../../core/base/error.h"
#include "../../core/graph/record.h"
#include "../shape/slice.h"
#include "index.h"

namespace xgrad {
namespace {

// The position on an axis that the padded pattern repeats at position `at`.
std::int64_t source_of(std::int64_t at, std::int64_t size, PadMode mode) {
  switch (mode) {
    case PadMode::reflect:
      return at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
    case PadMode::replicate:
      return std::clamp<std::int64_t>(at, 0, size - 1);
    case PadMode::circular:
      return at < 0 ? at + size : at >= size ? at - size : at;
  }
  return at;
}

void check_fits(const Shape& shape, int axis, const Padding& padding, PadMode mode) {
  const std::int64_t size = shape[axis], most = std::max(padding.before, padding.after);
  const bool reflect = mode == PadMode::reflect;
  const bool enough = mode == PadMode::replicate ? size > 0 : reflect ? most < size : most <= size;
  const char* const name = reflect ? "reflect" : mode == PadMode::circular ? "circular" : "replicate";
  if (!enough) fail<ShapeError>("pad", name, " padding ", most, " of axis ", axis, " of ", shape);
}

}  // namespace

Tensor pad(const Tensor& x, const ShortList<Padding>& paddings, PadMode mode) {
  const Shape shape = detail::padded_shape(x.shape(), paddings);
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (shape[axis] != x.shape()[axis]) check_fits(x.shape(), axis, paddings[axis], mode);
  }
  (void)shape.numel();
  Tensor y = x;
  for (int axis = x.rank(); axis-- > 0;) {
    const std::int64_t before = paddings[axis].before, size = x.shape()[axis];
    if (shape[axis] == size) continue;
    Index positions(Shape{shape[axis]});
    std::int64_t* of = positions.mutable_data();
    for (std::int64_t i = 0; i < shape[axis]; ++i) of[i] = source_of(i - before, size, mode);
    y = index_select(y, axis, positions);
  }
  return same(x, y) ? record("pad", x.value(), wrt(x, [](const Tensor& gy) { return gy; })) : y;
}

}  // namespace xgrad
