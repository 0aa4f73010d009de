// Kernel regression: what its three curves have to look like.
#include <doctest/doctest.h>

#include <cmath>

#include <kernel_regression/regression.h>

namespace kernel_regression {
namespace {

struct Setup {
  Samples seen, wanted = asked(50);
  explicit Setup(std::uint64_t seed) {
    xgrad::manual_seed(seed);
    seen = observed(50);
  }
};

TEST_CASE("Kernel regression's data are 50 ascending places with noise of deviation 0.5") {
  const Setup s(1);
  CHECK(s.seen.x.shape() == Shape{1, 50, 1});
  CHECK(std::ranges::is_sorted(s.seen.x.value()));
  CHECK(*s.seen.x.value().begin() >= 0);
  CHECK(*(s.seen.x.value().end() - 1) < 5);
  CHECK(truth(tensor({2})).item() == doctest::Approx(2 * std::sin(2.0) + std::pow(2.0, 0.8)));
  manual_seed(2);
  const Samples many = observed(20000);
  CHECK(std::sqrt(var(many.y - truth(many.x)).item()) == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("The average is a constant line; a fixed kernel is nearer to the truth and smooth") {
  const Setup s(1);
  const Tensor average = matmul(average_weights(s.wanted.x, s.seen.x), s.seen.y);
  for (const Real y : average.value()) CHECK(y == doctest::Approx(mean(s.seen.y).item()));

  const Regression fixed{nn::root, {.w = 1}};
  const Tensor prediction = fixed(s.wanted.x, s.seen.x, s.seen.y);
  CHECK(error(prediction, s.wanted.y) < 0.7 * error(average, s.wanted.y));
  CHECK(roughness(prediction) < 0.1 * roughness(s.wanted.y));

  // Brightest where query meets key: each query weighs its nearest sample most.
  const Index brightest = argmax(fixed.weights(s.wanted.x, s.seen.x));
  const Index nearest = argmin(abs(s.wanted.x - transpose(s.seen.x)));
  CHECK(equal(brightest, nearest));
}

TEST_CASE("A learned width lowers the loss; the curve gets rougher and the weights sharper") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Setup s(seed);
    const Regression fixed{nn::root, {.w = 1}}, learned{nn::root, {.w = 1, .trained = true}};
    optim::Adam adam{learned.parameters(), {.lr = 0.05}};
    const auto loss = [&] { return mse_loss(predicted_from_others(learned, s.seen), s.seen.y); };
    const Real before = loss().item();
    for (int step = 0; step < 100; ++step) adam.step(grad(loss(), learned.parameters()));
    CHECK(loss().item() < 0.8 * before);
    const Tensor smooth = fixed(s.wanted.x, s.seen.x, s.seen.y), rough = learned(s.wanted.x, s.seen.x, s.seen.y);
    CHECK(roughness(rough) > 2 * roughness(smooth));
    CHECK(sharpness(learned.weights(s.wanted.x, s.seen.x)) > 2 * sharpness(fixed.weights(s.wanted.x, s.seen.x)));
  }
}

TEST_CASE("A sample does not predict itself") {
  const Samples two{.x = tensor({{{0}, {1}}}), .y = tensor({{{5}, {7}}})};
  const Tensor others = predicted_from_others(Regression{nn::root}, two);
  CHECK(equal(others.value(), Array({1, 2, 1}, {7, 5})));
}

}  // namespace
}  // namespace kernel_regression
