// Embedding.
#include "../support.h"

#include <cmath>

#include <xgrad/nn/layers/embedding.h>
#include <xgrad/ops/arrange/index.h>
#include <xgrad/ops/elementwise/compare.h>
#include <xgrad/ops/products/matmul.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Embedding is one_hot times the table, values and gradients") {
  const Embedding table{root, 7, 4};
  const Index ids({2, 3}, {1, 2, 6, 2, 0, 2});
  const Tensor looked_up = table(ids), multiplied = matmul(one_hot(ids, 7), table.weight);
  CHECK(looked_up.shape() == Shape{2, 3, 4});
  check_close(looked_up.value(), multiplied.value());
  const Tensor seed(normal({2, 3, 4}));
  check_close(grad(looked_up, {table.weight}, {.seed = seed})[0].value(),
              grad(multiplied, {table.weight}, {.seed = seed})[0].value());
  CHECK(to_string(table) == "Embedding 7 x 4  28\n  weight [7, 4]  28\n");
}

TEST_CASE("The padding row begins as zeros and gets no gradient") {
  for (const std::int64_t padding : {2, -5}) {
    const Embedding table{root, 7, 4, {.padding_idx = padding}};
    const Tensor y = table(Index({3}, {1, 2, 2}));
    for (int c = 0; c < 4; ++c) CHECK(y.value().at({1, c}) == 0);
    const Array g = grad(y, {table.weight}, {.seed = Array({3, 4}, Real(1))})[0].value();
    for (int c = 0; c < 4; ++c) {
      CHECK(g.at({1, c}) == 1);
      CHECK(g.at({2, c}) == 0);
    }
  }
  CHECK(error_of<ValueError>([] { Embedding(root, 7, 4, {.padding_idx = 7}); }) ==
        "embedding: padding_idx 7 of 7 rows");
}

TEST_CASE("Embedding starts with normal numbers, or those it is given") {
  const Embedding table{root, 300, 50};
  double squares = 0;
  for (const Real value : table.weight.value()) squares += static_cast<double>(value) * value;
  CHECK(squares / 15000 == doctest::Approx(1).epsilon(0.05));
  const Embedding given{root, 2, 2, {.init = init::values(Array({2, 2}, {1, 2, 3, 4}))}};
  CHECK(equal(given(Index({1}, {1})).value(), Array({1, 2}, {3, 4})));
}

TEST_CASE("An id outside the table is refused, naming the layer") {
  struct Model : Module {
    Embedding token{at("token"), 10, 2};
  } model;
  CHECK(error_of<ValueError>([&] {
          model.token(Index({2}, {3, 10}));
        }) == "embedding: index 10 is not in [0, 10)\n  in token (Embedding 10 x 2)");
  CHECK_THROWS_AS(model.token(Index({1}, {-1})), ValueError);
}

TEST_CASE("A hook sees the ids of an embedding") {
  const Embedding table{root, 3, 2};
  std::vector<Index> seen;
  table.on_forward([&](const ForwardCall& call) { seen = call.indices; });
  table(Index({2}, {1, 2}));
  REQUIRE(seen.size() == 1);
  CHECK(equal(seen[0], Index({2}, {1, 2})));
}

}  // namespace
}  // namespace xgrad::testing
