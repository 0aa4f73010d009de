#include "check.h"

namespace xgrad::exercises {

void check::overfit_batch(int (*answer)(const Batch&)) {
  const Tensor x = numbers({8, 4});
  const Index classes = index({0, 1, 2, 0, 1, 2, 0, 1});
  const Tensor w1 = numbers({16, 4}, 2) / 2, w2 = numbers({3, 16}, 3) / 4;
  const Tensors parameters{variable(w1.value(), "w1"), variable(w2.value(), "w2")};
  int calls = 0, enough = 0;  // the call whose loss was the first below 0.01
  const auto now = [&] { return cross_entropy(linear(tanh(linear(x, parameters[0])), parameters[1]), classes); };
  const double before = now().item();
  const int steps = answer({parameters, [&] {
                              const Tensor loss = now();
                              ++calls;
                              if (enough == 0 && loss.item() < 0.01) enough = calls;
                              return loss;
                            }});
  written(calls > 0 || steps != 0,
          "for (int step = 0; step < 500; ++step) { const Tensor loss = batch.loss(); ...; }, with its gradients and a "
          "step");
  const double loss = now().item();
  if (calls == 1)
    not_yet("batch.loss() was called once: each step needs the loss of the new values, so call it in the loop");
  for (const Tensor& one : parameters) {
    if (loss != before && equal(one.value(), (one.name() == "w1" ? w1 : w2).value()))
      not_yet("the parameter ", one.name(), " did not change: each of the list takes a step");
  }
  if (!std::isfinite(loss)) not_yet("the loss is not finite any more: the learning rate is too high");
  if (loss == before) not_yet("the parameters did not change: a step takes the gradients, and assigns to the leaves");
  if (loss > before)
    not_yet("the loss grew from ", digits(before), " to ", digits(loss),
            ": a step goes against the gradient, and not too far");
  if (loss >= 0.01)
    not_yet("the loss fell from ", digits(before), " to ", digits(loss),
            ", not below 0.01: a higher learning rate, Adam, or more of the 500 steps");
  if (calls > 501 || steps > 500) not_yet("it took ", std::max(calls, steps), " steps, and 500 are enough");
  if (enough > 0 && calls >= 500 && calls > enough + 20)
    not_yet("the loss was below 0.01 after ", enough, " steps, and the loop went on: end it there");
  if (std::abs(steps - calls) > 1)
    not_yet("the number returned is ", steps, ", and the loss was computed ", calls, " times");
  right_because() = str("from ", digits(before), " (about ln 3, guessing) to ", digits(loss), " in ", steps, " steps");
}

}  // namespace xgrad::exercises
