// Distributions: samples against closed forms, edges, bad input. (Values, gradients: distributions_fixtures_test.cpp.)
#include <cmath>
#include <numbers>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

namespace xgrad::testing {
namespace {

using namespace distributions;

constexpr std::int64_t draws = 40000;

// The mean of independent draws along the first axis is as near to the true one as five of its deviations: farther off
// once in two million.
void check_mean(const Tensor& samples, const Tensor& mean, const Tensor& variance) {
  const Tensor off = abs(xgrad::mean(samples, 0) - mean);
  CHECK(all(off <= 5 * sqrt(variance / static_cast<Real>(samples.dim(0)))));
}

// Of n draws with these first moments, the mean of the squared deviations has the variance (fourth - variance^2) / n.
void check_moments(const Tensor& samples, const Tensor& mean, const Tensor& variance, const Tensor& fourth) {
  check_mean(samples, mean, variance);
  check_mean(square(samples - mean), variance, fourth - square(variance));
}

}  // namespace

TEST_CASE("samples have the moments of their distributions") {
  manual_seed(2);
  const Normal n(tensor({{-1}, {2}}), tensor({0.5, 1, 3}));
  check_moments(n.sample({draws}), n.mean(), n.variance(), 3 * square(n.variance()));
  for (const Categorical& c : {Categorical({.probs = tensor({{1, 0, 3}, {2, 2, 2}})}),
                               Categorical({.logits = tensor({{0, -infinity, 1}, {5, 5, 6}})})}) {
    const Tensor hits = one_hot(c.sample({draws}), 3);
    check_mean(hits, c.probs(), c.probs() * (1 - c.probs()));
    CHECK(all(hits[{_, 0, 1}] == Tensor(0)));
  }
}

TEST_CASE("samples have the shape of the draws, then that of the batch") {
  const Normal n(zeros({3, 1}), ones({2}));
  const Categorical c({.logits = zeros({3, 2, 4})});
  CHECK(n.batch_shape() == Shape{3, 2});
  CHECK(c.batch_shape() == Shape{3, 2});
  CHECK(c.num_categories() == 4);
  for (const Shape& samples : {Shape{}, {5}, {2, 4}, {0}}) {
    Shape expected = samples;
    expected.push_back(3);
    expected.push_back(2);
    CHECK(n.sample(samples).shape() == expected);
    CHECK(n.rsample(samples).shape() == expected);
    CHECK(c.sample(samples).shape() == expected);
  }
  CHECK(Normal(0, 1).sample().shape() == Shape{});
  CHECK(Categorical({.logits = zeros({0, 4})}).sample({5}).shape() == Shape{5, 0});
  CHECK(sum(Categorical({.logits = zeros({0, 4})}).entropy()).item() == 0);
}

TEST_CASE("a reparameterised sample has the gradient of its closed form, a sample none") {
  const Tensor loc = variable(normal({2, 1})), scale = variable(uniform({3}, 0.5, 2));
  const Array g = normal({4, 2, 3}, 5);
  manual_seed(3);
  const Tensor x = Normal(loc, scale).rsample({4});
  // x = loc + scale e: dx/dloc = 1, dx/dscale = e.
  const Array e = ((x - loc) / scale).value();
  const Tensors found = grad(x, {loc, scale}, {.seed = g});
  check_close(found[0].value(), sum_to(Tensor(g), {2, 1}).value());
  check_close(found[1].value(), sum_to(Tensor(g) * Tensor(e), {3}).value());
  manual_seed(3);
  const Tensor same = Normal(loc, scale).sample({4});
  CHECK(equal(same.value(), x.value()));
  CHECK(!same.requires_grad());
}

TEST_CASE(
    "what cannot happen has probability 0, entropies and divergences that are finite where they are, and gradients") {
  const Categorical some({.logits = tensor({-infinity, 0, 0})}), all_of({.logits = tensor({0, 0, 0})});
  CHECK(some.log_prob(index({0})).item() == -infinity);
  CHECK(some.entropy().item() == doctest::Approx(std::numbers::ln2));
  CHECK(kl_divergence(some, all_of).item() == doctest::Approx(std::log(1.5)));
  CHECK(kl_divergence(all_of, some).item() == infinity);
  CHECK(kl_divergence(some, some).item() == 0);
  const Tensor x = variable(tensor({-infinity, 0, 1}).value());
  const auto finite_gradient = [](const Tensor& y, const Tensor& x) {
    CHECK(all(isfinite(grad(sum(y), {x}, {.retain_graph = true})[0])));
  };
  const Categorical d({.logits = x});
  for (const Tensor& y : {d.entropy(), kl_divergence(d, all_of), kl_divergence(d, some), d.log_prob(index({2}))}) {
    finite_gradient(y, x);
  }
}

TEST_CASE("distributions refuse parameters with their names") {
  CHECK_REFUSED(ValueError, Normal(0, tensor({1, 0})), "normal", "scale has 0", "[1]");
  CHECK_REFUSED(ValueError, Normal(0, not_a_number), "normal", "scale has nan", "[]");
  CHECK_REFUSED(ValueError, Normal(tensor({{0, not_a_number}}), 1), "normal", "loc has nan", "[0, 1]");
  CHECK_REFUSED(ShapeError, Normal(zeros({2}), ones({3})), "normal", "[2]", "[3]");
  CHECK_REFUSED(ValueError, Categorical({}), "categorical", "needs probs or logits, got neither");
  CHECK_REFUSED(ValueError, Categorical({.probs = ones({2}), .logits = ones({2})}), "categorical", "probs or logits",
                "both");
  CHECK_REFUSED(ShapeError, Categorical({.probs = 1}), "categorical", "probs has shape []");
  CHECK_REFUSED(ShapeError, Categorical({.logits = zeros({3, 0})}), "categorical", "logits has shape [3, 0]");
  CHECK_REFUSED(ValueError, Categorical({.probs = tensor({0.5, -0.5})}), "categorical", "probs has -0.5", "[1]");
  CHECK_REFUSED(ValueError, Categorical({.probs = tensor({{1, 0}, {0, 0}})}), "categorical", "probs has 0", "[1]");
  CHECK_REFUSED(ValueError, Categorical({.logits = tensor({0, infinity})}), "categorical", "logits has inf", "[1]");
  CHECK_REFUSED(ValueError, Categorical({.logits = tensor({{-infinity, -infinity}})}), "categorical", "logits has -inf",
                "[0]");
}

TEST_CASE("distributions refuse values and shapes with their names, before a draw is taken") {
  const Normal n(zeros({2}), 1);
  const Categorical c({.logits = zeros({2, 3})});
  CHECK_REFUSED(ShapeError, n.log_prob(zeros({3})), "normal.log_prob", "[3]", "[2]");
  CHECK_REFUSED(ValueError, n.log_prob(not_a_number), "normal.log_prob", "value has nan", "[]");
  CHECK_REFUSED(ShapeError, c.log_prob(index({0, 1, 2})), "categorical.log_prob", "[3]", "[2]");
  CHECK_REFUSED(ValueError, c.log_prob(index({0, 3})), "categorical.log_prob", "value has 3", "[1]");
  CHECK_REFUSED(ValueError, c.log_prob(index({-1})), "categorical.log_prob", "value has -1", "[0]");
  CHECK_REFUSED(ShapeError, kl_divergence(n, Normal(zeros({3}), 1)), "kl_divergence", "[2]", "[3]");
  CHECK_REFUSED(ShapeError, kl_divergence(c, Categorical({.logits = zeros({3, 3})})), "kl_divergence", "[2]", "[3]");
  CHECK_REFUSED(ShapeError, kl_divergence(c, Categorical({.logits = zeros({4})})), "kl_divergence",
                "distributions of 3", "4 categories");
  manual_seed(6);
  const RandomState before = random_state();
  CHECK_REFUSED(ValueError, n.sample({-1}), "normal", "negative size", "sample shape [-1]");
  CHECK_REFUSED(ValueError, n.rsample({2, -1}), "normal", "negative size", "sample shape [2, -1]");
  CHECK_REFUSED(ValueError, c.sample({-1}), "categorical", "negative size", "sample shape [-1]");
  CHECK(random_state() == before);
}

TEST_CASE("samples are the same bits for any number of threads") {
  const Tensor x = normal({50, 40});
  check_same_bits([&] {
    manual_seed(7);
    const Normal n(x, exp(x));
    const Categorical c({.logits = x});
    return concat(
        {flatten(n.sample({30})), flatten(to_real(c.sample({300}))), flatten(c.entropy()), flatten(n.log_prob(x))});
  });
}

}  // namespace xgrad::testing
