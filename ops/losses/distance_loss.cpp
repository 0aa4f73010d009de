// Losses of distances and margins.
#include "distance_loss.h"

#include "../../core/base/formula.h"
#include "../elementwise/activations.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../elementwise/lambda.h"
#include "../products/similarity.h"

namespace xgrad {

using detail::check_same_shape;
using detail::reduced;

Tensor mse_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options) {
  check_same_shape("mse_loss", prediction, target);
  return reduced("mse_loss", square(prediction - target), options.reduction);
}

Tensor l1_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options) {
  check_same_shape("l1_loss", prediction, target);
  return reduced("l1_loss", abs(prediction - target), options.reduction);
}

XGRAD_FORMULA smooth_l1_formula{"smooth_l1", "y = x^2/(2 beta) if |x| < beta, else |x| - beta/2",
                                "dy/dx = x/beta if |x| < beta, else sign x"};
Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, const SmoothL1LossOptions& options) {
  check_same_shape("smooth_l1_loss", prediction, target);
  const Real beta = static_cast<Real>(options.beta);
  if (!(beta >= 0)) fail<ValueError>("smooth_l1_loss", "beta ", beta, " is negative or NaN");
  if (beta == 0) return l1_loss(prediction, target, {.reduction = options.reduction});
  const Tensor losses = elementwise(
      "smooth_l1", prediction - target,
      [beta](auto d) { return where(abs(d) < beta, 0.5 * d * d / beta, abs(d) - 0.5 * beta); },
      [beta](auto d, auto) { return where(abs(d) < beta, d / beta, sign(d)); },
      attribute("beta", unless(1, options.beta)));
  return reduced("smooth_l1_loss", losses, options.reduction);
}

XGRAD_FORMULA huber_formula{"huber", "y = x^2/2 if |x| < delta, else delta (|x| - delta/2)",
                            "dy/dx = x if |x| < delta, else delta sign x"};
Tensor huber_loss(const Tensor& prediction, const Tensor& target, const HuberLossOptions& options) {
  check_same_shape("huber_loss", prediction, target);
  const Real delta = static_cast<Real>(options.delta);
  if (!(delta > 0)) fail<ValueError>("huber_loss", "delta ", delta, " is not positive");
  const Tensor losses = elementwise(
      "huber", prediction - target,
      [delta](auto d) { return where(abs(d) < delta, 0.5 * d * d, delta * (abs(d) - 0.5 * delta)); },
      [delta](auto d, auto) { return where(abs(d) < delta, d, delta * sign(d)); },
      attribute("delta", unless(1, options.delta)));
  return reduced("huber_loss", losses, options.reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options) {
  const char* op = "triplet_margin_loss";
  broadcast_shapes(op, {{"anchor", anchor.shape()}, {"positive", positive.shape()}, {"negative", negative.shape()}});
  if (!(options.margin > 0)) fail<ValueError>(op, "margin ", options.margin, " is not positive");
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return pairwise_distance(a, b, {.p = options.p, .eps = options.eps});
  };
  Tensor far = distance(anchor, negative);
  if (options.swap) far = minimum(far, distance(positive, negative));
  return reduced(op, relu(options.margin + distance(anchor, positive) - far), options.reduction);
}

}  // namespace xgrad
