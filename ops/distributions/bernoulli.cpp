#include "bernoulli.h"

#include "../../core/graph/grad.h"
#include "../creation/sample.h"
#include "../elementwise/activations.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../losses/loss.h"
#include "../shape/broadcast.h"
#include "checks.h"

namespace xgrad::distributions {

Bernoulli::Bernoulli(const Options& options) : by_logits_(options.logits.defined()) {
  if (options.probs.defined() == by_logits_) {
    fail<ValueError>("bernoulli", "needs probs or logits, got ", by_logits_ ? "both" : "neither");
  }
  if (by_logits_) {
    check_not_nan("bernoulli", "logits", options.logits);
    given_ = options.logits;
  } else {
    check_each("bernoulli", "probs", options.probs, "numbers in [0, 1]", [](Real p) { return p >= 0 && p <= 1; });
    given_ = options.probs;
  }
}

Tensor Bernoulli::probs() const { return by_logits_ ? sigmoid(given_) : given_; }

Tensor Bernoulli::logits() const {
  if (by_logits_) return given_;
  const Tensor p = within_rounding(given_);
  return log(p) - log1p(-p);
}

Tensor Bernoulli::variance() const {
  const Tensor p = probs();
  return p * (1 - p);
}

Tensor Bernoulli::sample(const Shape& sample_shape) const {
  const NoGrad off;
  return bernoulli(broadcast_to(probs(), extended("bernoulli", sample_shape, batch_shape())));
}

Tensor Bernoulli::log_prob(const Tensor& value) const {
  const Shape shape = broadcast_shapes("bernoulli.log_prob", value.shape(), batch_shape());
  check_each("bernoulli.log_prob", "value", value, "0 or 1", [](Real x) { return x == 0 || x == 1; });
  return -binary_cross_entropy_with_logits(broadcast_to(logits(), shape), broadcast_to(value, shape),
                                           {.reduction = Reduction::none});
}

Tensor Bernoulli::entropy() const {
  return binary_cross_entropy_with_logits(logits(), probs(), {.reduction = Reduction::none});
}

Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q) {
  broadcast_shapes("kl_divergence", p.batch_shape(), q.batch_shape());
  const Tensor yes = p.probs(), no = 1 - yes, q_yes = q.probs();
  const Tensor x = finite(p.logits()), y = finite(q.logits());
  // ln p = -softplus(-x), ln(1 - p) = -softplus(x)
  const Tensor of_yes = where(q_yes == 0, infinity, yes * (softplus(-y) - softplus(-x)));
  const Tensor of_no = where(q_yes == 1, infinity, no * (softplus(y) - softplus(x)));
  return where(yes == 0, 0, of_yes) + where(yes == 1, 0, of_no);
}

}  // namespace xgrad::distributions
