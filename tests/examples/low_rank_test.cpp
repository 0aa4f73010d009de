// LoRA: changes of low rank begin as none, are what their formula says, and can become part of the model.
#include <doctest/doctest.h>

#include <algorithm>

#include <lora/low_rank.h>

namespace lora {
namespace {

const nn::BertOptions options{.vocabulary = 20, .context = 5, .segments = 1, .dim = 8, .heads = 2, .layers = 2,
                              .ffn = 16, .dropout = 0, .head = nn::BertHead::none};
const Index ids = index({{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}});

void train_a_little(const nn::Bert& bert, const LowRank& changes) {
  optim::SGD sgd{changes.parameters(), {.lr = 0.1}};
  const Tensor target = randn({2, 5, 8});
  for (int step = 0; step < 3; ++step) {
    sgd.step(grad(mse_loss(nn::functional_call(bert, changes.weights(), ids), target), changes.parameters()));
  }
}

TEST_CASE("Low-rank changes: r (in + out) parameters for each linear map, and the model begins unchanged") {
  manual_seed(1);
  const nn::Bert bert{nn::root, options};
  const LowRank changes(bert, 3);
  CHECK(changes.changes.size() == 8);  // in each block q, k, v at once, the heads' result, two of the feed-forward
  CHECK(changes.num_parameters() == 2 * 3 * ((8 + 24) + (8 + 8) + (8 + 16) + (16 + 8)));
  CHECK(equal(nn::functional_call(bert, changes.weights(), ids).value(), bert(ids).value()));
}

TEST_CASE("Low-rank changes: W + 2 B A, and no other parameter changes") {
  manual_seed(1);
  const nn::Bert bert{nn::root, options};
  const auto before = nn::clone(bert);
  const LowRank changes(bert, 3);
  train_a_little(bert, changes);
  for (std::size_t i = 0; i < bert.parameters().size(); ++i) {
    CHECK(equal(bert.parameters()[i].value(), before->parameters()[i].value()));
  }
  CHECK(max(abs(nn::functional_call(bert, changes.weights(), ids) - bert(ids))).item() > 1e-3);

  const auto& [map, a, b] = changes.changes[2];
  const auto [name, weight] = changes.weights()[2];
  CHECK(name == "blocks.0.ffn.fc1.weight");
  for (std::int64_t row = 0; row < map.out; ++row) {
    for (std::int64_t column = 0; column < map.in; ++column) {
      double expected = map.weight.value().at({row, column});
      for (std::int64_t i = 0; i < 3; ++i) expected += 2.0 * b.value().at({row, i}) * a.value().at({i, column});
      CHECK(weight.value().at({row, column}) == doctest::Approx(expected));
    }
  }
}

TEST_CASE("Low-rank changes become part of the model, which then gives the same without them") {
  manual_seed(1);
  const nn::Bert bert{nn::root, options};
  const LowRank changes(bert, 3);
  train_a_little(bert, changes);
  const Tensor adapted = nn::functional_call(bert, changes.weights(), ids);
  for (const auto& [name, weight] : changes.weights()) {
    for (const auto& [own, parameter] : bert.named_parameters()) {
      if (own == name) parameter.assign(weight.value());
    }
  }
  CHECK(max(abs(bert(ids) - adapted)).item() < 1e-5);
}

}  // namespace
}  // namespace lora
