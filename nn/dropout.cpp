// Dropout.
#include "dropout.h"

#include "../ops/dropout.h"

namespace xgrad::nn {

Dropout::Dropout(At here, double probability) : Module(std::move(here)), p(probability) {
  const Scope scope(&path());
  if (!(p >= 0 && p <= 1)) fail<ValueError>("dropout", "p must be in [0, 1], got ", p);
}

Tensor Dropout::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(training() && p > 0 ? dropout(x, p, next_random_key()) : x);
}

}  // namespace xgrad::nn
