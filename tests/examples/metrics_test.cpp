// The mean of numbers that come one by one.
#include <doctest/doctest.h>

#include <limits>

#include <xgrad/kit/train/metrics.h>

namespace xgrad::kit {

TEST_CASE("a running average weighs its numbers") {
  RunningAverage average;
  average.add(2);
  average.add(5, 2);
  average.add(1e9, 0);
  CHECK(average.value() == 4);
  CHECK(average.weight() == 3);
  average = {};
  CHECK_THROWS_WITH_AS(average.value(), "running_average: nothing was added yet", ValueError);
  CHECK_THROWS_WITH_AS(average.add(std::numeric_limits<double>::quiet_NaN()),
                       "running_average: the value nan is not finite", NumericError);
  CHECK_THROWS_WITH_AS(average.add(1, -1), "running_average: a weight must be finite and at least 0, got -1",
                       ValueError);
  CHECK_THROWS_AS(average.add(1, std::numeric_limits<double>::infinity()), ValueError);
  CHECK(average.weight() == 0);
}

}  // namespace xgrad::kit
