// Losses of distances and margins.
#include "distance_loss.h"

#include <algorithm>

#include "../../core/base/formula.h"
#include "../arrange/index.h"
#include "../arrange/shape.h"
#include "../arrange/slice.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../elementwise/lambda.h"
#include "../products/similarity.h"
#include "../reduce/reduce.h"

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

namespace {

void check_signs(const char* op, const Tensor& y) {
  for (const Real value : y.value()) {
    if (value != 1 && value != -1) fail<ValueError>(op, "y ", value, " is not 1 or -1");
  }
}

}  // namespace

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& y, const MarginRankingLossOptions& options) {
  const char* op = "margin_ranking_loss";
  broadcast_shapes(op, {{"a", a.shape()}, {"b", b.shape()}, {"y", y.shape()}});
  check_signs(op, y);
  return reduced(op, relu(options.margin - y * (a - b)), options.reduction);
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& y, const HingeEmbeddingLossOptions& options) {
  broadcast_shapes("hinge_embedding_loss", x.shape(), y.shape());
  check_signs("hinge_embedding_loss", y);
  return reduced("hinge_embedding_loss", where(y > 0, x, relu(options.margin - x)), options.reduction);
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& y,
                             const CosineEmbeddingLossOptions& options) {
  const char* op = "cosine_embedding_loss";
  check_same_shape(op, a, b);
  if (a.rank() == 0) fail<ShapeError>(op, "needs vectors along the last axis, got ", a.shape());
  Shape samples = a.shape();
  samples.erase(samples.rank() - 1);
  if (y.shape() != samples) {
    fail<ShapeError>(op, "vectors ", a.shape(), " need y of shape ", samples, ", got ", y.shape());
  }
  check_signs(op, y);
  constexpr Real eps = 1e-12;
  const auto along = [](const Tensor& x) { return sum(x, -1); };
  const Tensor cosine = along(a * b) * rsqrt((along(square(a)) + eps) * (along(square(b)) + eps));
  return reduced(op, where(y > 0, 1 - cosine, relu(cosine - options.margin)), options.reduction);
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

Tensor multi_margin_loss(const Tensor& x, const Index& targets, const MultiMarginLossOptions& options) {
  constexpr const char* op = "multi_margin_loss";
  Shape samples = x.shape();
  if (x.rank() > 0) samples.erase(x.rank() - 1);
  if (x.rank() == 0 || x.dim(-1) == 0 || targets.shape() != samples) {
    fail<ShapeError>(op, "scores ", x.shape(), " and classes ", targets.shape(), ": needs (..., C) and (...)");
  }
  const std::int64_t C = x.dim(-1);
  const Tensor& weight = options.weight;
  if (weight.defined() && weight.shape() != Shape{C}) {
    fail<ShapeError>(op, "weight ", weight.shape(), " for ", C, " classes");
  }
  if (options.p != 1 && options.p != 2) fail<ValueError>(op, "p ", options.p, " is not 1 or 2");
  for (const std::int64_t t : targets) {
    if (t < 0 || t >= C) fail<ValueError>(op, "class ", t, " is not in [0, ", C, ")");
  }
  detail::refuse_nothing(op, x, targets.size(), options.reduction);
  Shape one_each = samples;
  one_each.push_back(1);
  const Tensor of_target = gather(x, -1, targets.reshaped(one_each));
  const Tensor above = relu(options.margin - of_target + x) * (1 - Tensor(one_hot(targets, C)));
  Tensor losses = sum(options.p == 1 ? above : square(above), -1) / static_cast<Real>(C);
  if (weight.defined()) losses = losses * reshape(index_select(weight, 0, targets.reshaped({targets.size()})), samples);
  return reduced(op, losses, options.reduction);
}

Tensor multilabel_margin_loss(const Tensor& x, const Index& targets, const LossOptions& options) {
  constexpr const char* op = "multilabel_margin_loss";
  if (x.rank() == 0 || x.dim(-1) == 0 || targets.shape() != x.shape()) {
    fail<ShapeError>(op, "scores ", x.shape(), " and classes ", targets.shape(), ": needs (..., C) for both");
  }
  const std::int64_t C = x.dim(-1), samples = x.size() / C;
  detail::refuse_nothing(op, x, samples, options.reduction);
  // The listed classes of each sample, and those that are not listed.
  std::int64_t longest = 0;
  Index listed(Shape{samples, C}, 0);
  Array counts(Shape{samples, C, 1}, Real(0)), others(Shape{samples, 1, C}, Real(1));
  for (std::int64_t i = 0; i < targets.size(); ++i) {
    const std::int64_t t = targets.data()[i], sample = i / C;
    if (t < -1 || t >= C) fail<ValueError>(op, "class ", t, " is not in [-1, ", C, ")");
    const bool goes_on = i % C == 0 || counts.data()[i - 1] != 0;
    if (t < 0 || !goes_on) continue;
    listed.mutable_data()[i] = t;
    counts.mutable_data()[i] = 1;
    others.mutable_data()[sample * C + t] = 0;
    longest = std::max(longest, i % C + 1);
  }
  const Tensor scores = reshape(x, {samples, C});
  const Tensor of_target = unsqueeze(gather(scores, 1, listed[{_, slice(0, longest)}]), 2);
  const Tensor above = relu(1 - of_target + unsqueeze(scores, 1)) * narrow(Tensor(counts), 1, 0, longest) * others;
  Shape to = x.shape();
  to.erase(x.rank() - 1);
  return reduced(op, reshape(sum(above, {1, 2}) / static_cast<Real>(C), to), options.reduction);
}

}  // namespace xgrad
