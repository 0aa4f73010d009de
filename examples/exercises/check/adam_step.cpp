#include <xgrad/optim/optimizers/adam.h>

#include "check.h"

namespace xgrad::exercises {

void check::adam_step(Tensor (*answer)(const Tensor&, const Tensor&, Moments&, double)) {
  const Tensor right = variable(tensor({1, 2, 3, 4}), "w");
  optim::Adam adam{{right}, {.lr = 0.1}};
  Tensor w = tensor({1, 2, 3, 4});
  Moments moments;
  for (int step = 1; step <= 3; ++step) {
    // The second element has gradients as small as epsilon.
    const Tensor g = numbers({4}, step) * tensor({1, 1e-8, 100, 1});
    const Tensor before = w;
    try {
      w = answer(before, g, moments, 0.1);
    } catch (const GraphError&) {
      if (step > 1) throw;
      not_yet("in the first step an undefined tensor was used: moments.mean and moments.square begin as zeros_like(w)");
    }
    written(w.defined(), "begin with `if (!moments.mean.defined())`, and put zeros_like(w) into both means");
    has_shape("the new w", w.shape(), {4}, "that of w");
    if (!moments.mean.defined() || !moments.square.defined()) {
      not_yet("a running mean is still undefined after a step: the next step needs moments.mean and moments.square");
    }
    if (moments.steps != step)
      not_yet("moments.steps is ", moments.steps, " after step ", step, ": each step counts 1");
    if (step == 1) {
      not_this(moments.mean, zeros({4}), "moments.mean was not changed: assign the new m to it");
      not_this(moments.mean, g, "moments.mean is divided by 1 - 0.9^t: m is stored without that, the step divides");
      not_this(moments.mean, 0.001 * g, "0.9 and 0.999 have changed places: m keeps 0.9 of itself, v 0.999");
      not_this(moments.mean, 0.9 * g, "0.9 and 0.1 have changed places: 0.9 belongs to the old m, 0.1 to g");
      same("moments.mean", moments.mean, 0.1 * g, "m starts from zeros");
      same("moments.square", moments.square, 0.001 * square(g),
           "v starts from zeros and takes the square of the gradient", 1e-7);
      const Tensor m = moments.mean, v = moments.square, m_hat = m / 0.1, v_hat = v / 0.001;
      not_this(w, before - 0.1 * m / (sqrt(v) + 1e-8), "the first step is ", digits(max(abs(w - before)).item()),
               " long instead of 0.1: m and v start from 0, so divide them by 1 - 0.9^t and 1 - 0.999^t");
      not_this(w, before - 0.1 * m_hat / (sqrt(v) + 1e-8), "v is not divided by 1 - 0.999^t in the step");
      not_this(w, before - 0.1 * m / (sqrt(v_hat) + 1e-8), "m is not divided by 1 - 0.9^t in the step");
      not_this(w, before - 0.1 * m_hat / sqrt(v_hat), "1e-8 is missing: it bounds the step where gradients are tiny");
      not_this(w, before - 0.1 * m_hat / sqrt(v_hat + 1e-8),
               "the element with a gradient of 1e-8 hardly moves: 1e-8 is added after the square root");
      has_no_nan("the new w", w, "1 - 0.9^t is 0 while t is 0: count the step first");
      not_this(w, before - 0.1 * m_hat / (v_hat + 1e-8), "the mean of the square has no root: divide by sqrt(v)");
      not_this(w, before + 0.1 * m_hat / (sqrt(v_hat) + 1e-8), "the step goes up: subtract it from w");
    }
    const Tensor v_hat = moments.square / (1 - std::pow(0.999, step));
    if (step > 1) not_this(w, before - 0.1 * g / (sqrt(v_hat) + 1e-8), "the step divides g: it divides m");
    adam.step({g});
    same(str("w after step ", step), w, right,
         step == 1 ? "" : "the first step was right: m and v keep 0.9 and 0.999 of what they were");
  }
  right_because() = "three steps agree with optim::Adam; the first is lr long, however large the gradient is";
}

}  // namespace xgrad::exercises
