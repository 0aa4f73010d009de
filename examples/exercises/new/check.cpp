// The checker of NAME. Its parts are described in check/check.h and check/mistake.h of examples/exercises.
#include "check/mistake.h"

namespace xgrad::exercises::check {

void NAME(Tensor (*answer)(const Tensor& x, const Tensor& w)) {
  using T = const Tensor&;
  // Leaves, so that gradients are compared, too. Sizes that differ tell a wrong axis.
  const Tensor x = leaf({2, 3}, "x", 1), w = leaf({3}, "w", 2);
  agree({.what = "y",
         .meaning = "(B), one number for each row",
         .hint = "begin with square(x)",  // for a hole without lines
         .refused = {"linear"},           // what students are to write themselves
         .known = {{matmul(x, w), "x is not squared"}, {matmul(square(x), square(w)), "w is squared, too"}},
         .why = "write out y_1 for B = 1 and n = 2"},
        answer, [](T x, T w) { return matmul(square(x), w); }, {{"x", x}, {"w", w}});
  right_because() = "a product with a vector is a sum over the last axis";
}

}  // namespace xgrad::exercises::check
