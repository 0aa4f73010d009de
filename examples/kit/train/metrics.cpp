// A sum of weighted numbers, and the sum of the weights.
#include <xgrad/kit/train/metrics.h>

#include <cmath>

namespace xgrad::kit {

void RunningAverage::add(double value, double weight) {
  if (!std::isfinite(value)) fail<NumericError>("running_average", "the value ", value, " is not finite");
  if (!(weight >= 0) || std::isinf(weight)) {
    fail<ValueError>("running_average", "a weight must be finite and at least 0, got ", weight);
  }
  sum_ += value * weight;
  weight_ += weight;
}

double RunningAverage::value() const {
  if (weight_ == 0) fail<ValueError>("running_average", "nothing was added yet");
  return sum_ / weight_;
}

}  // namespace xgrad::kit
