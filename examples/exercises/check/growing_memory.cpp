#include "check.h"

namespace xgrad::exercises {

void check::growing_memory(Tensor (*answer)(const Loss&, const Tensor&)) {
  int calls = 0;
  double average = 0;
  const Tensor w = leaf({4}, "w");
  const Loss f = [&](const Tensor& w) {
    const Tensor loss = sum(square(w - 1));
    average = 0.9 * average + 0.1 * loss.item(), ++calls;
    return loss;
  };
  const Tensor found = answer(f, w);
  if (calls != 100) not_yet("the loss was computed ", calls, " times instead of 100");
  same("the running mean", found, Tensor(average),
       "each loss still counts, 0.9 of the mean so far and 0.1 of the new loss", 1e-3);
  if (found.requires_grad())
    not_yet(
        "the running mean can still be differentiated, so the graph of each loss in it stays in memory. A hint: only "
        "the number of a loss is wanted here");
  right_because() = "item() or detach() leaves the graph behind, so each step's graph is freed";
}

}  // namespace xgrad::exercises
