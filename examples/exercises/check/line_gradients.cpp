#include "mistake.h"

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
    using T = const Tensor&;
    const auto by = [i](T x) { return i == 0 ? x : ones_like(x); };
    const std::string factor = i == 0 ? " x" : "";
    agree(
        {.what = names[i],
         .meaning = "that of the variable: it takes part in all terms, whose contributions add up",
         .known = {{mean(square(w * x + b - y)), "this is the loss: its derivative is wanted"},
                   {2 * mean((w * x + b - y) * square(x)), "x is squared: it stands once in the derivative"},
                   {2 * mean(square(w * x + b - y) * by(x)),
                    "the error is still squared: the derivative of e^2 is 2 e"},
                   {right[i] / 2, "half of the gradient: the derivative of a square e^2 is 2 e"},
                   {right[1 - i],
                    "this is the gradient of the other variable: the error's derivative is x_i for w, 1 for b"}},
         .terms = {term("mean(w x" + factor + ")", [by](T w, T, T x, T) { return mean(w * x * by(x)); }),
                   term("mean(b" + factor + ")", [by](T, T b, T x, T) { return mean(b * by(x)); }),
                   term("mean(y" + factor + ")", [by](T, T, T x, T y) { return mean(y * by(x)); })}},
        [&](T w, T b, T x, T y) { return answer(w, b, x, y).at(i); },
        [by](T w, T b, T x, T y) { return 2 * mean((w * x + b - y) * by(x)); },
        {{"w", w.detach()}, {"b", b.detach()}, {"x", x}, {"y", y}});
  }
  right_because() = "each gradient is the mean of 2 error times what the variable is multiplied by, x or 1";
}

}  // namespace xgrad::exercises
