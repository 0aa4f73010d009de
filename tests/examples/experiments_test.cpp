// The experiments: costs of layers, counted by hand on small graphs, and how they grow; residual connections against
// degradation, in a few epochs.
#include <doctest/doctest.h>

#include <experiments/layers.h>
#include <experiments/stacks.h>

namespace compare_layers {
namespace {

TEST_CASE("two tokens of width 1: multiplications, waiting products and paths are those counted by hand") {
  const Costs attention = measure(Layer::attention, 2, 1, 2);
  CHECK(attention.multiplications == 8);  // two queries: two scores and two weighted values each
  CHECK(attention.sequential == 2);       // scores, then values
  CHECK(attention.path == 1);             // a value goes straight into every result

  const Costs recurrence = measure(Layer::recurrence, 2, 1, 2);
  CHECK(recurrence.multiplications == 3);  // x_1 w, x_2 w, h_1 u
  CHECK(recurrence.sequential == 2);       // x_1 w, h_1 u
  CHECK(recurrence.path == 2);

  const Costs convolution = measure(Layer::convolution, 2, 1, 2);
  CHECK(convolution.multiplications == 4);  // two tokens of two inputs each
  CHECK(convolution.sequential == 1);
  CHECK(convolution.path == 1);
}

TEST_CASE("a convolution over k tokens needs (n - 1) / (k - 1) layers, rounded up, to see them all") {
  CHECK(measure(Layer::convolution, 5, 2, 3).path == 2);
  CHECK(measure(Layer::convolution, 6, 2, 3).path == 3);
  CHECK(measure(Layer::convolution, 9, 2, 5).path == 2);
  CHECK(measure(Layer::convolution, 10, 2, 5).path == 3);
}

TEST_CASE("operations, waiting and paths grow with n and d as the table of the paper says") {
  constexpr std::int64_t d = 4, k = 5;
  const std::vector<double> lengths{16, 32, 64};
  const auto grows = [&](Layer layer, auto quantity) {
    std::vector<double> values;
    for (const double n : lengths) {
      values.push_back(static_cast<double>(measure(layer, static_cast<std::int64_t>(n), d, k).*quantity));
    }
    return exponent(lengths, values);
  };
  CHECK(grows(Layer::attention, &Costs::multiplications) == doctest::Approx(2));
  CHECK(grows(Layer::attention, &Costs::sequential) == doctest::Approx(0));
  CHECK(grows(Layer::attention, &Costs::path) == doctest::Approx(0));
  CHECK(grows(Layer::recurrence, &Costs::multiplications) ==
        doctest::Approx(1).epsilon(0.03));  // n d^2 and the states' (n - 1) d^2
  CHECK(grows(Layer::recurrence, &Costs::sequential) == doctest::Approx(1));
  CHECK(grows(Layer::recurrence, &Costs::path) == doctest::Approx(1));
  CHECK(grows(Layer::convolution, &Costs::multiplications) == doctest::Approx(1));
  CHECK(grows(Layer::convolution, &Costs::sequential) == doctest::Approx(0));
  CHECK(grows(Layer::convolution, &Costs::path) == doctest::Approx(1).epsilon(0.03));

  const auto with_width = [](Layer layer) {
    return exponent({4, 8}, {static_cast<double>(measure(layer, 8, 4, k).multiplications),
                             static_cast<double>(measure(layer, 8, 8, k).multiplications)});
  };
  CHECK(with_width(Layer::attention) == doctest::Approx(1));
  CHECK(with_width(Layer::recurrence) == doctest::Approx(2));
  CHECK(with_width(Layer::convolution) == doctest::Approx(2));
  CHECK(measure(Layer::convolution, 8, 4, 6).multiplications * 3 ==
        measure(Layer::convolution, 8, 4, 3).multiplications * 6);
}

}  // namespace
}  // namespace compare_layers

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

namespace diagrams {
namespace {

TEST_CASE("a transformer is drawn with more boxes at each depth from 0 to 3") {
  using namespace xgrad;
  const nn::Gpt model{nn::root, {.vocabulary = 100, .context = 16, .dim = 32, .heads = 4, .layers = 2}};
  const Tensor logits = model(Index({1, 16}, std::int64_t{1}));
  std::vector<std::size_t> boxes;
  for (const int depth : {0, 1, 2, 3}) boxes.push_back(GraphView::of({logits}, {.depth = depth}).vertices.size());
  CHECK(boxes.front() == 6);  // ids, embedding, positions, blocks, norm, logits
  for (std::size_t depth = 1; depth < 4; ++depth) CHECK(boxes[depth] > boxes[depth - 1]);
}

}  // namespace
}  // namespace diagrams
