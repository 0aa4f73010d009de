// The Gaussian process of the example: what its formulas have to give.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include <gaussian_process/process.h>
#include <kernel_regression/regression.h>

namespace gaussian_process {
namespace {

TEST_CASE("A Gaussian process's kernel is the one that attention pooling makes weights of") {
  manual_seed(1);
  const GaussianProcess process{nn::root};
  process.log_w.assign(Array(Shape{}, std::log(Real(2))));
  const Tensor a = rand({4}), b = rand({5});
  const nn::GaussianAttention pooling{nn::root, {.w = 2}};
  const Tensor scores = pooling.score(reshape(a, {1, 4, 1}), reshape(b, {1, 5, 1}));
  const Tensor difference = process.kernel(a, b) - exp(reshape(scores, {4, 5}));
  CHECK(max(abs(difference)).item() < 1e-6);
}

TEST_CASE("A Gaussian process's likelihood is the normal density of one and of two observations") {
  const GaussianProcess process{nn::root};
  // One: variance 1 + 1.
  const double one = -0.5 * 9 / 2 - 0.5 * std::log(2.0) - 0.5 * std::log(2 * std::numbers::pi);
  CHECK(process.log_likelihood(tensor({1}), tensor({3})).item() == doctest::Approx(one));
  // Two, a distance of 1 apart: covariance c between them.
  const double c = std::exp(-0.5), determinant = 4 - c * c;
  const double square = (2 * 9 - 2 * c * 3 * 1 + 2 * 1) / determinant;
  const double two = (-0.5 * square - 0.5 * std::log(determinant) - std::log(2 * std::numbers::pi)) / 2;
  CHECK(process.log_likelihood(tensor({1, 2}), tensor({3, 1})).item() == doctest::Approx(two));
}

TEST_CASE("A Gaussian process is sure near what it saw, and knows nothing far away") {
  const GaussianProcess process{nn::root};
  process.log_noise.assign(Array(Shape{}, std::log(Real(0.01))));
  const Prediction at = process(tensor({1, 100}), tensor({1, 3}), tensor({2, -1}));
  CHECK(at.mean.value().at({0}) == doctest::Approx(2).epsilon(1e-3));
  CHECK(at.deviation.value().at({0}) < 0.02);
  CHECK(at.mean.value().at({1}) == doctest::Approx(0));
  CHECK(at.deviation.value().at({1}) == doctest::Approx(1));
}

TEST_CASE("The likelihood's gradient finds the noise of the data, and the band covers what it should") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    manual_seed(seed);
    const auto seen = kernel_regression::observed(50), fresh = kernel_regression::observed(500);
    const Tensor x = flatten(seen.x), y = flatten(seen.y);
    const GaussianProcess process{nn::root};
    optim::Adam adam{process.parameters(), {.lr = 0.05}};
    const Real before = process.log_likelihood(x, y).item();
    for (int step = 0; step < 150; ++step) adam.step(grad(-process.log_likelihood(x, y), process.parameters()));
    CHECK(process.log_likelihood(x, y).item() > before + 0.1);
    CHECK(process.noise().item() > 0.35);
    CHECK(process.noise().item() < 0.65);
    const Prediction at = process(flatten(fresh.x), x, y);
    const Tensor deviation = sqrt(square(at.deviation) + square(process.noise()));
    const Real covered = mean(abs(flatten(fresh.y) - at.mean) <= 2 * deviation).item();
    CHECK(covered > 0.85);
    CHECK(covered < 0.995);
  }
}

}  // namespace
}  // namespace gaussian_process
