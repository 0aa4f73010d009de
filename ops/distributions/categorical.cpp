#include "categorical.h"

#include <limits>

#include "../creation/sample.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../indexing/axis.h"
#include "../indexing/index.h"
#include "../network/softmax.h"
#include "../reduce/reduce.h"
#include "../shape/broadcast.h"
#include "../shape/shape.h"
#include "checks.h"

namespace xgrad::distributions {
namespace {

// Logits with the largest and smallest number in place of infinities, which can be multiplied by 0.
Tensor finite(const Tensor& logits) {
  return clamp(logits, {.min = std::numeric_limits<Real>::lowest(), .max = std::numeric_limits<Real>::max()});
}
// Probabilities clamped away from 0 and 1 by the machine epsilon, so that their logarithms are finite.
Tensor within_rounding(const Tensor& probs) {
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  return clamp(probs, {.min = eps, .max = 1 - eps});
}

}  // namespace

Categorical::Categorical(const Options& options) : by_logits_(options.logits.defined()) {
  const char* op = "categorical";
  if (options.probs.defined() == by_logits_) {
    fail<ValueError>(op, "needs probs or logits, got ", by_logits_ ? "both" : "neither");
  }
  const char* name = by_logits_ ? "logits" : "probs";
  const Tensor& given = by_logits_ ? options.logits : options.probs;
  if (given.rank() == 0 || given.dim(-1) == 0) {
    fail<ShapeError>(op, name, " has shape ", given.shape(), "; needs (..., K) with at least one category");
  }
  batch_ = leading(given.shape(), 1);
  if (by_logits_) {
    check_each(op, name, given, "numbers or -inf", [](Real x) { return x < infinity; });
    const Array largest = max(given.detach(), Axes{-1}).value();
    check_each(op, "the largest of logits", largest, "a number", [](Real x) { return x > -infinity; });
    normalized_ = log_softmax(given);
  } else {
    check_each(op, name, given, "finite numbers of 0 or more", [](Real p) { return p >= 0 && p < infinity; });
    const Tensor total = sum(given, -1, {.keepdim = true});
    check_each(op, "the sum of probs", reshape(total.detach(), batch_), "a finite number above 0",
               [](Real sum) { return sum > 0 && sum < infinity; });
    normalized_ = given / total;
  }
}

Tensor Categorical::probs() const { return by_logits_ ? softmax(normalized_) : normalized_; }
Tensor Categorical::logits() const { return by_logits_ ? normalized_ : log(within_rounding(normalized_)); }

Index Categorical::sample(const Shape& sample_shape) const {
  const NoGrad off;
  const Shape shape = extended("categorical", sample_shape, batch_);
  const Tensor rows = reshape(probs(), {batch_.numel(), num_categories()});
  return transpose(multinomial(rows, sample_shape.numel(), {.replacement = true})).reshaped(shape);
}

Tensor Categorical::log_prob(const Index& value) const {
  const char* op = "categorical.log_prob";
  const Shape shape = broadcast_shapes(op, value.shape(), batch_);
  for (std::int64_t i = 0; i < value.size(); ++i) {
    const std::int64_t category = value.data()[i];
    if (category < 0 || category >= num_categories()) {
      fail<ValueError>(op, "value has ", category, " at ", position_of(i, value.shape()), "; needs a category in [0, ",
                       num_categories(), ")");
    }
  }
  const Tensor rows = broadcast_to(logits(), joined(shape, {num_categories()}));
  return squeeze(gather(rows, -1, broadcast_to(value, shape).reshaped(joined(shape, {1}))), {-1});
}

Tensor Categorical::entropy() const { return -sum(probs() * finite(logits()), -1); }

Tensor kl_divergence(const Categorical& p, const Categorical& q) {
  const char* op = "kl_divergence";
  if (p.num_categories() != q.num_categories()) {
    fail<ShapeError>(op, "distributions of ", p.num_categories(), " and of ", q.num_categories(), " categories");
  }
  broadcast_shapes(op, p.batch_shape(), q.batch_shape());
  const Tensor probability = p.probs();
  const Tensor terms = where(q.probs() == 0, infinity, probability * (finite(p.logits()) - finite(q.logits())));
  return sum(where(probability == 0, 0, terms), -1);
}

}  // namespace xgrad::distributions
