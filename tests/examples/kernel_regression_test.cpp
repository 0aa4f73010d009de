// Kernel regression: its data, and its weights against those of the library's layer.
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

TEST_CASE("A learned width lowers the loss; the curve gets rougher and the weights sharper") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Setup s(seed);
    const Tensor w = variable(1, "w");
    optim::Adam adam{{w}, {.lr = 0.05}};
    const auto loss = [&] { return mse_loss(predicted_from_others(s.seen, w), s.seen.y); };
    const Real before = loss().item();
    for (int step = 0; step < 100; ++step) adam.step(grad(loss(), {w}));
    CHECK(loss().item() < 0.8 * before);
    const Tensor fixed = kernel_weights(s.wanted.x, s.seen.x, 1), learned = kernel_weights(s.wanted.x, s.seen.x, w);
    CHECK(roughness(matmul(learned, s.seen.y)) > 2 * roughness(matmul(fixed, s.seen.y)));
    CHECK(sharpness(learned) > 2 * sharpness(fixed));
  }
}

TEST_CASE("The weights written out are those of the library's layer, masked and not, and so is the gradient of w") {
  const Setup s(4);
  const nn::GaussianAttention layer{nn::root, {.w = 2, .trained = true}};
  const Tensor w = variable(2, "w");
  const auto apart = [](const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); };
  CHECK(apart(kernel_weights(s.wanted.x, s.seen.x, w), layer.weights(s.wanted.x, s.seen.x)) < 1e-6);
  const Tensor ours = predicted_from_others(s.seen, w);
  const Tensor theirs = layer(s.seen.x, s.seen.x, s.seen.y, {.masked = eye(50) == ones({1})});
  CHECK(apart(ours, theirs) < 1e-5);
  const Real slope = grad(mse_loss(theirs, s.seen.y), {layer.w})[0].item();
  CHECK(std::abs(slope) > 0.01);
  CHECK(grad(mse_loss(ours, s.seen.y), {w})[0].item() == doctest::Approx(slope).epsilon(1e-4));
}

TEST_CASE("A sample does not predict itself") {
  const Samples two{.x = tensor({{{0}, {1}}}), .y = tensor({{{5}, {7}}})};
  const Tensor others = predicted_from_others(two, 1);
  CHECK(equal(others.value(), Array({1, 2, 1}, {7, 5})));
}

}  // namespace
}  // namespace kernel_regression
