// The axes that padding applies to.
#include "padding.h"

namespace xgrad::nn::detail {

ShortList<Padding> pad_axes(const Tensor& x, const Sides1d& sides) {
  if (x.rank() < 1) fail<ShapeError>("pad", "needs (..., L), got ", x.shape());
  auto paddings = ShortList<Padding>::filled(x.rank(), {});
  paddings[x.rank() - 1] = {sides.left, sides.right};
  return paddings;
}

ShortList<Padding> pad_axes(const Tensor& x, const Sides2d& sides) {
  if (x.rank() < 2) fail<ShapeError>("pad", "needs (..., H, W), got ", x.shape());
  auto paddings = ShortList<Padding>::filled(x.rank(), {});
  paddings[x.rank() - 2] = {sides.top, sides.bottom};
  paddings[x.rank() - 1] = {sides.left, sides.right};
  return paddings;
}

std::string text_of(const Sides1d& sides) { return cat(sides.left, ", ", sides.right); }
std::string text_of(const Sides2d& sides) {
  return cat(sides.left, ", ", sides.right, ", ", sides.top, ", ", sides.bottom);
}

}  // namespace xgrad::nn::detail
