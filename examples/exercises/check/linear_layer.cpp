#include "mistake.h"

namespace xgrad::exercises {

void check::linear_layer(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&)) {
  // A square weight first, since it fits transposed, too.
  const Tensor x = numbers({2, 3}), bias = leaf({3}, "bias", 2), square_weight = leaf({3, 3}, "weight", 3);
  using T = const Tensor&;
  const auto right = [](T x, T weight, T bias) { return linear(x, weight, bias); };
  agree({.what = "Y",
         .meaning = "(B, out)",
         .hint = "matmul(x, ...) multiplies rows of x with columns of the second factor, and W has its weights in rows",
         .misfit = "the rows of x are examples, and those of the result, too: x comes first in the product",
         .refused = {"linear"},
         .known = {{matmul(x, square_weight) + bias,
                    "the result is X W + b: row j of W has the weights of output j, so W is transposed"}},
         .terms = {term("X W^T", [](T x, T weight, T) { return matmul(x, transpose(weight)); }),
                   term("b W^T", [](T, T weight, T bias) { return matmul(bias, transpose(weight)); }),
                   term("X W", [](T x, T weight, T) { return matmul(x, weight); }),
                   term("b", [](T, T, T bias) { return bias; })}},
        answer, right, {{"x", x}, {"weight", square_weight}, {"bias", bias}});
  const Tensor weight = leaf({4, 3}, "weight", 4), wide_bias = leaf({4}, "bias", 5);
  agree({.what = "Y", .meaning = "(B, out)"}, answer, right, {{"x", x}, {"weight", weight}, {"bias", wide_bias}});
  right_because() = "the gradients agree, too, though you wrote no rule: the operations have them";
}

}  // namespace xgrad::exercises
