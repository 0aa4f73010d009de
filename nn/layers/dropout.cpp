// Dropout of elements, of channels and of whole samples.
#include "dropout.h"

#include "../../ops/arrange/create.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/layers/dropout.h"

namespace xgrad::nn {
namespace {

// `p`, if it is a probability; the error says which module has it.
double checked(const Place* place, const char* op, double p) {
  const Scope scope(place);
  if (!(p >= 0 && p <= 1)) fail<ValueError>(op, "p ", p, " is not in [0, 1]");
  return p;
}

}  // namespace

Dropout::Dropout(At here, double probability) : Module(std::move(here)), p(checked(place(), "dropout", probability)) {}

Tensor Dropout::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(training() && p > 0 ? dropout(x, p, next_random_key()) : x);
}

Dropout1d::Dropout1d(At here, double probability)
    : Module(std::move(here)), p(checked(place(), "dropout1d", probability)) {}

Tensor Dropout1d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(training() && p > 0 ? dropout1d(x, p) : x);
}

Dropout2d::Dropout2d(At here, double probability)
    : Module(std::move(here)), p(checked(place(), "dropout2d", probability)) {}

Tensor Dropout2d::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(training() && p > 0 ? dropout2d(x, p) : x);
}

AlphaDropout::AlphaDropout(At here, double probability)
    : Module(std::move(here)), p(checked(place(), "alpha_dropout", probability)) {}

Tensor AlphaDropout::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(training() && p > 0 ? alpha_dropout(x, p) : x);
}

FeatureAlphaDropout::FeatureAlphaDropout(At here, double probability)
    : Module(std::move(here)), p(checked(place(), "feature_alpha_dropout", probability)) {}

Tensor FeatureAlphaDropout::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(training() && p > 0 ? feature_alpha_dropout(x, p) : x);
}

DropPath::DropPath(At here, double probability)
    : Module(std::move(here)), p(checked(place(), "drop_path", probability)) {}

Tensor DropPath::operator()(const Tensor& x) const {
  const auto here = enter(x);
  if (x.rank() == 0) fail<ShapeError>("drop_path", "needs (B, ...), got ", x.shape());
  if (!training() || p == 0) return here(x);
  Shape samples = Shape::filled(x.rank(), 1);
  samples[0] = x.dim(0);
  return here(x * dropout(ones(samples), p));
}

}  // namespace xgrad::nn
