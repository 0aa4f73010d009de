#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

std::optional<std::int64_t> ignored_by(const Case& c) {
  if (!c.has("ignore_index")) return {};
  return c.integer("ignore_index");
}

Real real(const Case& c, const char* name, double otherwise) { return static_cast<Real>(c.number(name, otherwise)); }

Results by_classes(const Case& c) {
  return cross_entropy(c.x(0), c.index(1),
                       {.weight = c.x(2),
                        .ignore_index = ignored_by(c),
                        .label_smoothing = real(c, "label_smoothing", 0),
                        .reduction = c.reduction()});
}
Results by_probabilities(const Case& c) {
  return cross_entropy(
      c.x(0), c.x(1), {.weight = c.x(2), .label_smoothing = real(c, "label_smoothing", 0), .reduction = c.reduction()});
}

}  // namespace

TEST_CASE("losses and their gradients equal PyTorch's") {
  check_fixtures("loss",
                 {
                     {"cross_entropy", by_classes},
                     {"cross_entropy_probabilities", by_probabilities},
                     {"mse", OF_CASE(mse_loss(c.x(0), c.x(1), {.reduction = c.reduction()}))},
                     {"binary_cross_entropy",
                      OF_CASE(binary_cross_entropy_with_logits(c.x(0), c.x(1), {.reduction = c.reduction()}))},
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

TEST_CASE("losses with weights, of distances and of margins, and their gradients of two orders, equal PyTorch's") {
  check_fixtures(
      "losses",
      {
          {"cross_entropy", by_classes},
          {"cross_entropy_probabilities", by_probabilities},
          {"nll",
           OF_CASE(nll_loss(c.x(0), c.index(1), {.weight = c.x(2), .ignore_index = ignored_by(c),
                            .reduction = c.reduction()}))},
          {"bce", OF_CASE(binary_cross_entropy(c.x(0), c.x(1), {.weight = c.x(2), .reduction = c.reduction()}))},
          {"bce_with_logits",
           [](const Case& c) {
             BinaryCrossEntropyWithLogitsOptions options{.reduction = c.reduction()};
             (c.text("weights") == "weight" ? options.weight : options.pos_weight) = c.x(2);
             return binary_cross_entropy_with_logits(c.x(0), c.x(1), options);
           }},
          {"l1", OF_CASE(l1_loss(c.x(0), c.x(1), {.reduction = c.reduction()}))},
          {"smooth_l1",
           OF_CASE(smooth_l1_loss(c.x(0), c.x(1), {.beta = real(c, "beta", 1), .reduction = c.reduction()}))},
          {"huber", OF_CASE(huber_loss(c.x(0), c.x(1), {.delta = real(c, "delta", 1), .reduction = c.reduction()}))},
          {"gaussian_nll",
           OF_CASE(gaussian_nll_loss(c.x(0), c.x(1), c.x(2), {.full = c.flag("full"), .eps = c.number("eps", 1e-6),
                                     .reduction = c.reduction()}))},
          {"triplet",
           OF_CASE(triplet_margin_loss(c.x(0), c.x(1), c.x(2), {.margin = 0.7, .p = c.number("p"),
                                       .swap = c.flag("swap"), .reduction = c.reduction()}))},
      },
      {.ulps = 32,  // means of terms of both signs, and 1 - p of p near 1
                    // Probabilities near a pole, equal numbers, a variance below eps (its gradient passes the clamp, as
                    // in PyTorch).
       .kinks = {"bce/13", "bce/21", "bce/22", "bce/23", "l1/9", "gaussian_nll/4", "gaussian_nll/9", "gaussian_nll/14",
                 "triplet/11"}});
}

TEST_CASE("divergences by batch and their gradients of two orders equal PyTorch's") {
  check_fixtures(
      "margins",
      {{"kl_div", OF_CASE(kl_div(c.x(0), c.x(1), {.reduction = batchmean, .log_target = c.flag("log_target")}))}},
      // Targets near 0, a pole of the logarithm.
      {.kinks = {"kl_div/0", "kl_div/2", "kl_div/4", "kl_div/6", "kl_div/8"}});
}

}  // namespace xgrad::testing
