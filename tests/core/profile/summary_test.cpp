// Tests of core/profile/summary.h.
#include <xgrad/core/profile/summary.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <xgrad/core/array/random.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

TEST_CASE("a summary counts, and describes what is finite") {
  constexpr Real infinity = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  const NumbersSummary summary = summary_of(Array({2, 4}, {0, 1, nan, 3, -infinity, 0, infinity, 4}));
  CHECK(summary.shape == Shape{2, 4});
  CHECK(summary.nans == 1);
  CHECK(summary.infinities == 2);
  CHECK(summary.zeros == 2);
  CHECK(summary.least == 0);
  CHECK(summary.greatest == 4);
  CHECK(summary.mean == doctest::Approx(1.6));
  CHECK(summary.stddev == doctest::Approx(std::sqrt((2 * 1.6 * 1.6 + 0.36 + 1.96 + 5.76) / 5)));
  std::vector<std::int64_t> histogram(20);
  histogram[0] = 2;
  histogram[5] = histogram[15] = histogram[19] = 1;
  CHECK(summary.histogram == histogram);
  REQUIRE(summary.numbers.size() == 8);
  CHECK(summary.numbers[3] == 3);
}

TEST_CASE("a summary of equal numbers, of none, of none that is finite, and of the largest") {
  const NumbersSummary equal_ones = summary_of(Array({3}, Real(0.1)));
  CHECK(equal_ones.mean == equal_ones.least);
  CHECK(equal_ones.stddev == 0);
  CHECK(equal_ones.histogram[0] == 3);
  CHECK(summary_of(Array(Shape{0, 2})).histogram.empty());
  CHECK(summary_of(Array({2}, std::numeric_limits<Real>::quiet_NaN())).histogram.empty());
  const Real most = std::numeric_limits<Real>::max();
  const NumbersSummary wide = summary_of(Array({2}, {-most, most}));
  CHECK(wide.histogram.front() == 1);
  CHECK(wide.histogram.back() == 1);
  CHECK(wide.mean == 0);
}

TEST_CASE("a histogram holds every number once") {
  const NumbersSummary summary = summary_of(random_normal({1000}, {.seed = 5}));
  CHECK(std::accumulate(summary.histogram.begin(), summary.histogram.end(), std::int64_t(0)) == 1000);
  CHECK(summary.numbers.empty());
  CHECK(summary.histogram[10] > summary.histogram[0]);
  CHECK(summary_of(Array({64}, Real(1))).numbers.size() == 64);
  CHECK(summary_of(Array({65}, Real(1))).numbers.empty());
}

TEST_CASE("a summary in a line has the numbers if they are few, else their range and a histogram in letters") {
  CHECK(to_string(summary_of(Array(Shape{}, Real(0.25)))) == "0.25");
  CHECK(to_string(summary_of(Array({2, 2}, {1, 2, 3, 4.00001}))) == "[[1, 2], [3, 4]]");
  CHECK(to_string(summary_of(Array(Shape{0}))) == "[]");
  Array many(Shape{100});
  std::iota(many.mutable_data(), many.mutable_data() + 100, Real(-9));
  CHECK(to_string(summary_of(many)) == "-9 … 90, mean 40.5 ██████████");
  CHECK(detail::sparkline({0, 1, 7, 14, 13}) == "▁▂▄█▇");
  CHECK(detail::sparkline(std::vector<std::int64_t>(40, 3)) == "██████████");
  CHECK(detail::words_for_not_finite({.nans = 2, .infinities = 3}) == "2 NaN, 3 infinite");
  CHECK(detail::words_for_not_finite({.infinities = 1}) == "1 infinite");
  CHECK(detail::words_for_not_finite({}) == "");
  CHECK(to_string(summary_of(Array({9}, Real(2)))).starts_with("2 … 2, mean 2 "));
  CHECK(to_string(summary_of(Array({8}, Real(2)))) == "[2, 2, 2, 2, 2, 2, 2, 2]");
  many.mutable_data()[4] = std::numeric_limits<Real>::quiet_NaN();
  CHECK(to_string(summary_of(many)).ends_with(", 1 NaN"));
}

}  // namespace
}  // namespace xgrad::testing
