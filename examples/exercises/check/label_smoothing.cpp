#include "check.h"

namespace xgrad::exercises {

void check::label_smoothing(Tensor (*answer)(const Tensor&, const Index&, double)) {
  const Tensor logits = leaf({3, 5}, "logits");
  const Index targets = index({1, 4, 0});
  Operations ran;
  const Tensor loss = answer(logits, targets, 0.1);
  written(loss.defined(), "r = (1 - a) * one_hot(targets, V) + a / V, a table (N, V) whose rows sum to 1");
  ran.refuse({"cross_entropy"});
  has_shape("the loss", loss.shape(), {}, "the mean over the samples");
  const Tensor log_p = log_softmax(logits), hot = one_hot(targets, 5);
  const auto with = [&](const Tensor& r) { return -sum(r * log_p) / 3; };
  const Tensor right = with(0.9 * hot + 0.02);
  not_this(loss, -right, "the loss is negative: L = -sum r ln p");
  not_this(loss, 3 * right, "the loss is the sum over 3 samples: divide by N");
  not_this(loss, right / 5, "the loss is also divided by the number of classes: sum over v, mean over n");
  not_this(loss, with(hot), "the loss is that without smoothing: a = 0.1 takes no part");
  not_this(loss, with(hot + 0.02), "row 0 of r sums to 1.1 instead of 1: the right class keeps 1 - a");
  not_this(loss, with(0.9 * hot + 0.1), "row 0 of r sums to 1.4 instead of 1: each class gets a / V, not a");
  not_this(loss, with(0.9 * hot + 0.1 / 4 * (1 - hot)),
           "the share a went to the 4 other classes alone: each of the 5 classes gets a / V, the right one, too");
  not_this(loss, with(0.1 * hot + 0.9 / 5), "a and 1 - a have changed places: the right class keeps 1 - a");
  not_this(loss, -sum((0.9 * hot + 0.02) * softmax(logits)) / 3, "the logarithm is missing: log_softmax gives ln p");
  has_no_nan("L", loss, "log_softmax has the logarithm already");
  same("L", loss, right);
  same("the gradient of a logit", grad(loss, {logits})[0], grad(right, {logits})[0], "it is p - r, divided by N");
  right_because() = "the loss is smallest at p = r, so no logit has to grow without end";
}

}  // namespace xgrad::exercises
