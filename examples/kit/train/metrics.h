// RunningAverage: the mean of losses and scores over batches.
//
//     kit::RunningAverage loss;
//     for (const auto& [x, y] : batches) loss.add(cross_entropy(net(x), y).item(), static_cast<double>(y.size()));
//     std::cout << loss.value();
#pragma once

#include <cmath>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// The weighted mean of values that are added one by one, for example losses of batches.
///
/// Threads: one thread at a time.
class RunningAverage {
 public:
  /// Throws NumericError for a value that is not finite, ValueError for a weight that is negative or not finite.
  void add(double value, double weight = 1) {
    if (!std::isfinite(value)) fail<NumericError>("running_average", "the value ", value, " is not finite");
    if (!(weight >= 0) || std::isinf(weight)) {
      fail<ValueError>("running_average", "a weight must be finite and at least 0, got ", weight);
    }
    sum_ += value * weight;
    weight_ += weight;
  }
  /// (w_1 x_1 + ... + w_n x_n) / (w_1 + ... + w_n). Throws ValueError if the sum of the weights is 0.
  double value() const {
    if (weight_ == 0) fail<ValueError>("running_average", "nothing was added yet");
    return sum_ / weight_;
  }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace xgrad::kit
