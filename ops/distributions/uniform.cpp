#include "uniform.h"

#include <cmath>

#include "../../core/graph/grad.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../shape/broadcast.h"
#include "checks.h"

namespace xgrad::distributions {
namespace {

void check_finite(const char* name, const Tensor& x) {
  check_each("uniform", name, x, "finite numbers", [](Real number) { return std::isfinite(number); });
}

}  // namespace

Uniform::Uniform(const Tensor& low, const Tensor& high) {
  const Shape shape = broadcast_shapes("uniform", low.shape(), high.shape());
  check_finite("low", low);
  check_finite("high", high);
  low_ = broadcast_to(low, shape);
  high_ = broadcast_to(high, shape);
  for (std::int64_t i = 0; i < low_.size(); ++i) {
    const Real from = low_.value().data()[i], to = high_.value().data()[i];
    if (from >= to) {
      fail<ValueError>("uniform", "low ", from, " is not below high ", to, " at ", position_of(i, shape));
    }
  }
}

Tensor Uniform::mean() const { return (low_ + high_) / 2; }
Tensor Uniform::stddev() const { return (high_ - low_) / std::sqrt(Real(12)); }
Tensor Uniform::variance() const { return square(high_ - low_) / 12; }

Tensor Uniform::sample(const Shape& sample_shape) const {
  const NoGrad off;
  return rsample(sample_shape);
}

Tensor Uniform::rsample(const Shape& sample_shape) const {
  const Tensor x = low_ + (high_ - low_) * rand(extended("uniform", sample_shape, batch_shape()));
  const Mask below = x < high_;
  return all(below) ? x : where(below, x, low_);
}

Tensor Uniform::log_prob(const Tensor& value) const {
  const char* op = "uniform.log_prob";
  const Shape shape = broadcast_shapes(op, value.shape(), batch_shape());
  const Mask inside = value >= low_ && value <= high_;
  for (std::int64_t i = 0; i < inside.size(); ++i) {
    if (inside.data()[i]) continue;
    const auto at = [&](const Tensor& x) { return broadcast_to(x.value(), shape).data()[i]; };
    fail<ValueError>(op, "value ", at(value), " at ", position_of(i, shape), " is not in [", at(low_), ", ", at(high_),
                     "]");
  }
  return where(value < high_, 0, -infinity) - log(high_ - low_);
}

Tensor Uniform::entropy() const { return log(high_ - low_); }

Tensor kl_divergence(const Uniform& p, const Uniform& q) {
  broadcast_shapes("kl_divergence", p.batch_shape(), q.batch_shape());
  return where(q.low() > p.low() || q.high() < p.high(), infinity, q.entropy() - p.entropy());
}

}  // namespace xgrad::distributions
