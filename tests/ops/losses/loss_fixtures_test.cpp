#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/losses/distance_loss.h>
#include <xgrad/ops/losses/loss.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
TEST_CASE("losses and their gradients equal PyTorch's") {
  check_fixtures(
      "loss",
      {
          {"cross_entropy",
           [](const Case& c) {
             CrossEntropyOptions options{.label_smoothing = c.number("label_smoothing"), .reduction = c.reduction()};
             if (c.has("ignore_index")) options.ignore_index = c.integer("ignore_index");
             return cross_entropy(c.x(0), c.index(1), options);
           }},
          {"cross_entropy_probabilities",
           [](const Case& c) {
             return cross_entropy(c.x(0), c.x(1),
                                  {.label_smoothing = c.number("label_smoothing"), .reduction = c.reduction()});
           }},
          {"mse", [](const Case& c) { return mse_loss(c.x(0), c.x(1), {.reduction = c.reduction()}); }},
          {"binary_cross_entropy",
           [](const Case& c) {
             return binary_cross_entropy_with_logits(c.x(0), c.x(1), {.reduction = c.reduction()});
           }},
          {"kl_div",
           [](const Case& c) {
             const Tensor loss =
                 kl_div(c.x(0), c.x(1), {.reduction = c.reduction(), .log_target = c.flag("log_target")});
             return c.text("reduction") == "batchmean" ? loss / c.x(0).dim(0) : loss;
           }},
      },
      // Of p - y, whose terms are nearly 1, little is left.
      {.terms = {{"cross_entropy/31", 1}},
       // Targets near 0, a pole of the logarithm.
       .kinks = {"kl_div/0", "kl_div/4", "kl_div/6", "kl_div/8", "kl_div/10", "kl_div/12", "kl_div/14"}});
}

}  // namespace xgrad::testing
