// Drawing at random: frequencies against probabilities with fixed seeds, order of draws, bad input.
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

// Pearson's sum of (observed - expected)^2 / expected: about its number of degrees of freedom f if the expectation is
// right, and above f + 5 sqrt(2 f) hardly ever.
double chi_squared(const Index& drawn, const std::vector<double>& probabilities) {
  const Index counts = bincount(drawn.reshaped({-1}), {.minlength = std::ssize(probabilities)});
  REQUIRE(counts.size() == std::ssize(probabilities));
  double sum = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(drawn.size());
    const double off = static_cast<double>(counts.data()[i]) - expected;
    if (expected == 0) {
      CHECK(off == 0);
    } else {
      sum += off * off / expected;
    }
  }
  return sum;
}

TEST_CASE("bernoulli draws 1 as often as it shall, each element by itself") {
  manual_seed(1);
  for (const double p : {0.0, 0.1, 0.5, 0.97, 1.0}) {
    constexpr std::int64_t n = 100'000;
    const Tensor y = bernoulli(full({n}, p));
    CHECK(all(y == 0 || y == 1));
    CHECK(std::abs(mean(y).item() - p) <= 5 * std::sqrt(p * (1 - p) / n));
    const Tensor both = narrow(y, 0, 1, n - 1) * narrow(y, 0, 0, n - 1);
    CHECK(std::abs(mean(both).item() - p * p) <= 6 * std::sqrt(p * p * (1 - p * p) / n) + 1e-15);
  }
  CHECK(bernoulli(zeros({2, 0})).shape() == Shape{2, 0});
  CHECK(!bernoulli(variable(full({2}, 0.5).value())).requires_grad());
}

TEST_CASE("multinomial draws categories by their weights") {
  const std::vector<double> weights{1, 0, 3, 4, 2};
  manual_seed(2);
  const std::vector<double> probabilities{0.1, 0, 0.3, 0.4, 0.2};
  const Tensor w = tensor(weights);
  CHECK(chi_squared(multinomial(w, 50'000, {.replacement = true}), probabilities) < 3 + 5 * std::sqrt(6));
  // One number of each row is a draw by the weights, too, with or without replacement.
  const Tensor many = broadcast_to(w, {50'000, 5});
  CHECK(chi_squared(multinomial(many, 1), probabilities) < 3 + 5 * std::sqrt(6));
  CHECK(chi_squared(multinomial(many, 1, {.replacement = true}), probabilities) < 3 + 5 * std::sqrt(6));
  // The second one without replacement: sum over the first one i of p_i p_j / (1 - p_i).
  const Index pairs = multinomial(many, 2);
  std::vector<double> second(5, 0);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) second[j] += i == j ? 0 : probabilities[i] * probabilities[j] / (1 - probabilities[i]);
  }
  CHECK(chi_squared(pairs[{_, 1}], second) < 3 + 5 * std::sqrt(6));
  CHECK(!any(Index(pairs[{_, 0}]) == Index(pairs[{_, 1}])));
  // All of them: each positive weight once.
  CHECK(equal(unique(multinomial(w, 4)).values, index({0, 2, 3, 4})));
}

TEST_CASE("multinomial gives every row of one call numbers of its own, and a refused call takes no draw") {
  manual_seed(3);
  const Index rows = multinomial(ones({2, 1000}), 1000);
  CHECK(!equal(Index(rows[{0}]), Index(rows[{1}])));
  CHECK(multinomial(ones({0, 3}), 2).shape() == Shape{0, 2});
  CHECK(multinomial(ones({3}), 0).shape() == Shape{0});
  const RandomState before = random_state();
  error_of<ValueError>([] { multinomial(zeros({3}), 1); });
  error_of<ValueError>([] { multinomial(tensor({{1, 1}, {1, 0}}), 2); });
  error_of<ValueError>([] { bernoulli(tensor({0.5, 2})); });
  CHECK(random_state() == before);
}

TEST_CASE("what cannot be drawn from is refused") {
  CHECK_REFUSED(ValueError, bernoulli(tensor({{0.5, 1.5}})), "bernoulli", "probability 1.5", "[0, 1]", "[0, 1]");
  CHECK_REFUSED(ValueError, bernoulli(tensor({not_a_number})), "bernoulli", "probability nan", "[0]", "[0, 1]");
  CHECK_REFUSED(ShapeError, multinomial(Tensor(1), 1), "multinomial", "needs weights (n)", "[]");
  CHECK_REFUSED(ValueError, multinomial(tensor({1, -1}), 1), "multinomial", "weight 1", "row 0", "-1");
  CHECK_REFUSED(ValueError, multinomial(tensor({{1, 1}, {1, not_a_number}}), 1), "multinomial", "weight 1", "row 1",
                "nan");
  CHECK_REFUSED(ValueError, multinomial(zeros({2}), 1, {.replacement = true}), "multinomial", "row 0", "sum 0");
  CHECK_REFUSED(ValueError, multinomial(zeros({0}), 1), "multinomial", "row 0", "sum 0");
  CHECK_REFUSED(ValueError, multinomial(ones({2}), -1), "multinomial", "negative count -1");
  CHECK_REFUSED(ValueError, multinomial(tensor({1, 0, 2}), 3), "multinomial", "row 0 has 2", "draw 3");
}

}  // namespace
}  // namespace xgrad::testing
