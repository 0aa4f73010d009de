#include <xgrad/ops/arrange/join.h>
#include <xgrad/optim/optim.h>

#include <memory>

#include "optim/support.h"
#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

template <class Options>
Options adam_options(const Case& c) {
  Options options{.lr = c.number("lr"), .eps = c.number("eps", 1e-8)};
  options.weight_decay = c.number("weight_decay", options.weight_decay);
  if (c.has("betas")) options.betas = {c.reals("betas")[0], c.reals("betas")[1]};
  return options;
}

optim::Schedule cosine_of(const Case& c) {
  return optim::schedule::cosine({.min_lr = c.number("min_lr"), .steps = c.integer("steps")});
}

}  // namespace

TEST_CASE("optimizers, clipping and schedules do what PyTorch's do") {
  const auto gradients_of = [](const Case& c) { return Tensors{c.x(0).detach(), c.x(1).detach()}; };
  const Operations operations{
      {"sgd",
       [](const Case& c) {
         return steps<optim::SGD>(c, {.lr = c.number("lr"),
                                      .momentum = c.number("momentum"),
                                      .dampening = c.number("dampening"),
                                      .weight_decay = c.number("weight_decay"),
                                      .nesterov = c.flag("nesterov")});
       }},
      {"adam", [](const Case& c) { return steps<optim::Adam>(c, adam_options<optim::AdamOptions>(c)); }},
      {"adamw", [](const Case& c) { return steps<optim::AdamW>(c, adam_options<optim::AdamWOptions>(c)); }},
      {"clip_norm",
       [&](const Case& c) {
         auto [clipped, norm] = optim::clip_grad_norm(gradients_of(c), c.xs(), c.number("limit"));
         clipped.push_back(Tensor(norm));
         return Results(clipped);
       }},
      {"step_decay",
       [](const Case& c) {
         return rates(c, optim::schedule::step_decay({.every = c.integer("every"), .factor = c.number("factor")}));
       }},
      {"cosine", [](const Case& c) { return rates(c, cosine_of(c)); }},
      {"warmup_constant", [](const Case& c) { return rates(c, optim::schedule::warmup(c.integer("warmup"))); }},
      {"warmup_cosine",
       [](const Case& c) { return rates(c, optim::schedule::warmup(c.integer("warmup"), cosine_of(c))); }},
      {"noam",
       [](const Case& c) {
         return rates(c, optim::schedule::noam({.width = c.integer("width"), .warmup = c.integer("warmup")}));
       }},
  };
  check_fixtures("optim", operations);
}

}  // namespace xgrad::testing
