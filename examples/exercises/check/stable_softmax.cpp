#include "mistake.h"

namespace xgrad::exercises {

void check::stable_softmax(Tensor (*answer)(const Tensor&)) {
  const Tensor scores = leaf({2, 3}, "scores");
  const auto right = [](const Tensor& s) { return softmax(s); };
  const auto largest = [](const Tensor& e) { return max(e, Axes{-1}, {.keepdim = true}); };
  agree(
      {.what = "the weight",
       .meaning = "that of the scores",
       .hint = "exp(scores) / sum(exp(scores), -1, {.keepdim = true}) is the formula; large scores come second",
       .refused = {"softmax", "log_softmax", "masked_softmax"},
       .known = {{exp(scores) / sum(exp(scores)),
                  "all weights together sum to 1: sum each row by itself, along the last axis"},
                 {exp(scores) / sum(exp(scores), 0, {.keepdim = true}),
                  "each column sums to 1: sum along the last axis"},
                 {exp(scores - largest(scores)) / sum(exp(scores), -1, {.keepdim = true}),
                  "the greatest is subtracted above alone: the sum needs the same subtraction"},
                 {exp(scores), "the weights are not divided by the sum of their row"},
                 {exp(scores) / largest(exp(scores)), "divided by the greatest e^s: divide by the sum of the row"},
                 {exp(scores) / mean(exp(scores), -1, {.keepdim = true}),
                  "divided by the mean of the row: divide by its sum"},
                 {scores / sum(scores, -1, {.keepdim = true}), "the exponential is missing: e^s, not s"},
                 {exp(scores - largest(scores)) / sum(scores - largest(scores), -1, {.keepdim = true}),
                  "the sum is that of the scores: it is that of e^s"},
                 {exp(scores) / sum(scores, -1, {.keepdim = true}), "the sum is that of the scores: it is that of e^s"},
                 {(exp(scores) - largest(exp(scores))) / sum(exp(scores) - largest(exp(scores)), -1, {.keepdim = true}),
                  "the greatest is subtracted after exp: subtract it from the scores, before"}}},
      answer, right, {{"scores", scores}});
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
  // Within a row, too: what is subtracted must be the greatest.
  const std::pair<const char*, Tensor> rows[] = {{"0, 0, 1000", tensor({{0, 0, 1000}})},
                                                 {"1000, 0, 0", tensor({{1000, 0, 0}})},
                                                 {"0, -1000, 0", tensor({{0, -1000, 0}})}};
  for (const auto& [text, row] : rows) {
    const char* far =
        "e^1000 is still computed: after the subtraction the greatest of each row must be 0, so subtract "
        "the greatest, not another number of the row";
    has_no_nan(str("for the row ", text, " the weight"), answer(row), far);
    same(str("for the row ", text, " the weight"), answer(row), softmax(row), far);
  }
  right_because() = "softmax(s) = softmax(s - c), so no score is too large";
}

}  // namespace xgrad::exercises
