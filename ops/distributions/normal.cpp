#include "normal.h"

#include <cmath>
#include <numbers>

#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../shape/broadcast.h"
#include "checks.h"

namespace xgrad::distributions {

const Real half_log_two_pi = static_cast<Real>(std::log(2 * std::numbers::pi) / 2);

Normal::Normal(const Tensor& loc, const Tensor& scale) {
  const Shape shape = broadcast_shapes("normal", loc.shape(), scale.shape());
  check_not_nan("normal", "loc", loc);
  check_each("normal", "scale", scale, "numbers above 0", [](Real number) { return number > 0; });
  loc_ = broadcast_to(loc, shape);
  scale_ = broadcast_to(scale, shape);
}

Tensor Normal::variance() const { return square(scale_); }

Tensor Normal::sample(const Shape& sample_shape) const {
  const NoGrad off;
  return rsample(sample_shape);
}

Tensor Normal::rsample(const Shape& sample_shape) const {
  return loc_ + scale_ * randn(extended("normal", sample_shape, batch_shape()));
}

Tensor Normal::log_prob(const Tensor& value) const {
  broadcast_shapes("normal.log_prob", value.shape(), batch_shape());
  check_not_nan("normal.log_prob", "value", value);
  return square((value - loc_) / scale_) * -0.5 - log(scale_) - half_log_two_pi;
}

Tensor Normal::entropy() const { return log(scale_) + (half_log_two_pi + Real(0.5)); }

Tensor kl_divergence(const Normal& p, const Normal& q) {
  broadcast_shapes("kl_divergence", p.batch_shape(), q.batch_shape());
  const Tensor ratio = square(p.scale() / q.scale());
  return 0.5 * (ratio - 1 - log(ratio) + square((p.loc() - q.loc()) / q.scale()));
}

}  // namespace xgrad::distributions
