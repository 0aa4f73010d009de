#include "check.h"

namespace xgrad::exercises {

void check::stable_softmax(Tensor (*answer)(const Tensor&)) {
  const Tensor scores = leaf({2, 3}, "scores");
  Operations ran;
  const Tensor weights = answer(scores);
  written(weights.defined(),
          "exp(scores) / sum(exp(scores), -1, {.keepdim = true}) is the formula; large scores come second");
  ran.refuse({"softmax", "log_softmax", "masked_softmax"});
  has_shape("the result", weights.shape(), {2, 3}, "that of the scores");
  not_this(weights, softmax(scores, 0), "each column sums to 1, and row [0] to ", digits(sum(weights[0]).item()),
           ": sum along the last axis");
  not_this(weights, exp(scores) / sum(exp(scores)),
           "all weights together sum to 1: sum each row by itself, along the last axis");
  rows_sum_to_1("the weights", weights, "divide by the sum of the same row");
  same("the weight", weights, softmax(scores));
  const char* why =
      "e^1000 is infinite, and so is its sum; softmax(s) = softmax(s - c) for each number c, so take the greatest of "
      "the row";
  has_no_nan("the weight", answer(scores + 1000), why);
  same("for scores around 1000 the weight", answer(scores + 1000), softmax(scores), why, 1e-3);
  has_no_nan("for scores around -1000 the weight", answer(scores - 1000),
             "e^-1000 is 0, and so is its sum; subtract the greatest of the row in any case");
  const Tensor apart = scores + tensor({{1000}, {-1000}});
  has_no_nan("for a row around 1000 and another around -1000 the weight", answer(apart),
             "the greatest of all scores was subtracted from both; take the greatest of each row");
  const Tensor g = numbers({2, 3}, 2);
  same("the gradient of a score", grad(sum(answer(scores) * g), {scores})[0],
       grad(sum(softmax(scores) * g), {scores})[0]);
  right_because() = "softmax(s) = softmax(s - c), so no score is too large";
}

}  // namespace xgrad::exercises
