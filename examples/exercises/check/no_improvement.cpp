#include "check.h"

namespace xgrad::exercises {

void check::no_improvement(double (*answer)(const Tensor&, const Tensor&)) {
  const Tensor x = numbers({32, 2}), y = sin(x[{_, 0}]) + x[{_, 1}] / 2;
  const double loss = answer(x, y), variance = var(y, {}, {.correction = 0}).item();
  const char* hint = ". A hint: print the shapes of prediction, y and their difference";
  if (!std::isfinite(loss))
    not_yet("the loss is not finite: the steps are too long; their length was no mistake", hint);
  if (loss > 0.9 * variance)
    not_yet("the loss ends at ", digits(loss), ", and the variance of y is ", digits(variance),
            ": every point gets the same prediction", hint);
  if (loss > 0.1 * variance)
    not_yet("the loss ends at ", digits(loss), ", and ", digits(0.1 * variance), " is within reach");
  right_because() =
      "(N, 1) minus (N) is (N, N): each prediction was compared with each y. mse_loss refuses such shapes";
}

}  // namespace xgrad::exercises
