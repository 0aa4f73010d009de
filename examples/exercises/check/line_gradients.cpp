#include "check.h"

namespace xgrad::exercises {

void check::line_gradients(Tensors (*answer)(const Tensor&, const Tensor&, const Tensor&, const Tensor&)) {
  const Tensor w = variable(1.5, "w"), b = variable(-0.5, "b"), x = tensor({0, 1, 2, 3, 4, 5}), y = numbers({6});
  Operations ran;
  const Tensors gradients = answer(w, b, x, y);
  written(!gradients.empty(), "begin with the error of every point, w * x + b - y; mean() is (1/n) times a sum");
  ran.refuse({"grad"});
  if (gradients.size() != 2) not_yet("the list has ", gradients.size(), " gradients instead of 2, dL/dw and dL/db");
  const Tensors right = grad(mean(square(w * x + b - y)), {w, b});
  const char* const names[] = {"dL/dw", "dL/db"};
  for (std::size_t i = 0; i < 2; ++i) {
    written(gradients[i].defined(), str(names[i], " is left"));
    has_shape(names[i], gradients[i].shape(), {},
              "that of the variable: it takes part in all terms, whose contributions add up");
    not_this(gradients[i], 6 * right[i], names[i],
             " is 6 times the gradient: L is the mean over 6 points, not the sum");
    not_this(gradients[i], right[i] / 2, names[i], " is half of the gradient: the derivative of a square e^2 is 2 e");
    not_this(gradients[i], -right[i], names[i], " has the wrong sign: the error is w x + b - y");
    not_this(gradients[i], right[1 - i], names[i],
             " is the gradient of the other variable: the error's derivative is x_i for w, 1 for b");
    same(names[i], gradients[i], right[i], "finite differences agree with the second value");
  }
  right_because() = "each gradient is the mean of 2 error times what the variable is multiplied by, x or 1";
}

}  // namespace xgrad::exercises
