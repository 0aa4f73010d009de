// Residual connections against degradation, in a few epochs.
#include <doctest/doctest.h>

#include <experiments/stacks.h>

namespace residual {
namespace {

TEST_CASE("a deep plain stack trains worse than a shallow one, and than the same stack with residual connections") {
  Config config;
  config.epochs = 15;
  const Spiral data = spiral(config);
  const auto last_loss = [&](std::int64_t depth, Path path) {
    return train(config, data, depth, path, 1, [](double) {}).back();
  };
  const double shallow = last_loss(2, Path::plain), plain = last_loss(32, Path::plain);
  const double deep_residual = last_loss(32, Path::residual);
  CHECK(plain > 1);  // guessing has ln 3 = 1.099
  CHECK(shallow < 0.8);
  CHECK(deep_residual < 0.8);
}

TEST_CASE("the gradient grows from block to block on its way down a plain stack, and not past residual connections") {
  const Config config;
  const Spiral data = spiral(config);
  CHECK(first_gradient(config, data, 32, Path::plain, 1) > 1000 * first_gradient(config, data, 2, Path::plain, 1));
  CHECK(first_gradient(config, data, 32, Path::residual, 1) < 10 * first_gradient(config, data, 2, Path::residual, 1));
}

}  // namespace
}  // namespace residual
