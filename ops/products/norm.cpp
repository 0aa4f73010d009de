// Linear algebra: norms and their rules.
#include <cmath>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../indexing/axis.h"
#include "../indexing/index.h"
#include "../shape/shape.h"
#include "linalg.h"

namespace xgrad::linalg {

XGRAD_FORMULA vector_norm_formula{"vector_norm", "y = (sum of |x_i|^ord)^(1/ord)",
                                  "dy/dx_i = sign(x_i) (|x_i|/y)^(ord - 1)"};
Tensor vector_norm(const Tensor& x, double ord, const AxisSet& axis, const KeepdimOptions& keep) {
  const char* op = "vector_norm";
  if (std::isnan(ord)) fail<ValueError>(op, "ord is NaN");
  const Axes axes = axis.resolve(op, x.rank());
  if (std::isinf(ord)) return ord > 0 ? max(abs(x), axes, keep) : min(abs(x), axes, keep);
  if (ord == 1) return sum(abs(x), axes, keep);
  if (ord == 0) return sum(to_real(x != Tensor(0)), axes, keep);

  Array y;
  const Real p = static_cast<Real>(ord);
  {
    // In units of the largest (smallest, for a negative ord) element, so that no power overflows.
    const NoGrad off;
    const Tensor sizes = abs(Tensor(x.value()));
    const KeepdimOptions all{.keepdim = true};
    if (x.size() == 0) {
      y = Array(kept_shape(x.shape(), axes), ord > 0 ? 0 : infinity);
    } else {
      const Tensor largest = ord > 0 ? max(sizes, axes, all) : min(sizes, axes, all);
      const Tensor unit = where(largest > 0 && largest < infinity, largest, 1);
      const Tensor parts = sizes / unit;
      const Tensor total = sum(ord == 2 ? square(parts) : pow(parts, p), axes, all);
      y = (unit * (ord == 2 ? sqrt(total) : pow(total, 1 / p))).value();
    }
  }
  return record(op, y.reshaped(reduced_shape(x.shape(), axes, keep.keepdim)),
                wrt(x,
                    [x, axes, p](const Tensor& gy, const Tensor& y) {
                      const Shape kept = kept_shape(x.shape(), axes);
                      const Tensor g = reshape(gy, kept), size = reshape(y, kept);
                      // Where x or y is 0 the gradient is 0, and so are its own gradients; nothing is divided by 0.
                      const Mask none = size == Tensor(0);
                      if (p == 2) return g * (x / masked_fill(size, none, infinity));
                      const Tensor divisor = masked_fill(size, none, 1);
                      const Mask nothing = x == Tensor(0);
                      const Tensor ratio = abs(masked_fill(x, nothing, 1)) / divisor;
                      return masked_fill(g * sign(x) * pow(ratio, p - 1), nothing, 0);
                    }),
                attribute("axis", unless(all_axes(x.rank()), axes)), attribute("ord", unless(2, ord)));
}

}  // namespace xgrad::linalg
