// Exercise 29: Overfit one batch. When it does not work, docs/guide/debugging.md
//
// A model that cannot learn eight samples by heart will not learn a million. Before every real training, train on one
// batch until its loss is nearly 0. Write the loop: at most 500 steps, until the loss is below 0.01. Return the number
// of steps.
//
//     batch.parameters: the leaves to train      batch.loss(): the loss of the batch, for their values now
//
// Operations: grad(loss, batch.parameters), and x.assign(array) of a leaf, or an optimizer: optim::Adam
// adam{batch.parameters, {.lr = 0.01}}; adam.step(gradients); loss.item().
#include <xgrad/optim/optimizers/adam.h>

#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

int overfit_batch(const Batch& batch) {
  return 0;  // your lines
}
