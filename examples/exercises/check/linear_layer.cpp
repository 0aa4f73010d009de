#include "check.h"

namespace xgrad::exercises {

void check::linear_layer(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&)) {
  // A square weight first, since it fits transposed, too.
  const Tensor x = numbers({2, 3}), bias = leaf({3}, "bias", 2), square_weight = leaf({3, 3}, "weight", 3);
  Operations ran;
  const Tensor y = hinted("the rows of x are examples, and those of the result, too: x comes first in the product",
                          [&] { return answer(x, square_weight, bias); });
  written(y.defined(),
          "matmul(x, ...) multiplies rows of x with columns of the second factor, and W has its weights in rows");
  ran.refuse({"linear"});
  has_shape("the result", y.shape(), {2, 3}, "(B, out)");
  not_this(y, matmul(x, square_weight) + bias,
           "the result is X W + b: row j of W has the weights of output j, so W is transposed");
  not_this(y, matmul(x, transpose(square_weight)), "the result is X W^T: the bias is not added");
  same("Y", y, linear(x, square_weight, bias));
  const Tensor weight = leaf({4, 3}, "weight", 4), wide_bias = leaf({4}, "bias", 5), g = numbers({2, 4}, 6);
  const Tensor wide = answer(x, weight, wide_bias);
  has_shape("the result", wide.shape(), {2, 4}, "(B, out)");
  same("Y", wide, linear(x, weight, wide_bias));
  const Tensors gradients = grad(sum(wide * g), {weight, wide_bias});
  const Tensors right = grad(sum(linear(x, weight, wide_bias) * g), {weight, wide_bias});
  same("dL/dweight", gradients[0], right[0]);
  same("dL/dbias", gradients[1], right[1]);
  right_because() = "the gradients agree, too, though you wrote no rule: the operations have them";
}

}  // namespace xgrad::exercises
