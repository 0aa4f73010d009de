// Decoding: greedy search on a table, and on a transformer that has learnt to turn sequences round.
#include "support/check.h"

#include <cmath>
#include <string>

#include <xgrad/nn/transformer.h>
#include <xgrad/ops/loss.h>
#include <xgrad/ops/shape.h>
#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// Tokens A, B, C and the end, and the probabilities of the next given those before: the table of the worked example.
class Table : public Stepper {
 public:
  explicit Table(std::int64_t batch = 1) : written_(static_cast<std::size_t>(batch)) {}

  std::int64_t batch() const override { return static_cast<std::int64_t>(written_.size()); }

  Tensor step(const Index& tokens) override {
    Array logits({batch(), 4});
    for (std::int64_t b = 0; b < batch(); ++b) {
      std::string& so_far = written_[static_cast<std::size_t>(b)];
      so_far += "ABC$^"[tokens.data()[b]];
      for (int c = 0; c < 4; ++c) logits.mutable_data()[4 * b + c] = std::log(row(so_far)[static_cast<std::size_t>(c)]);
    }
    return logits;
  }

  void select(const Index& rows) override {
    std::vector<std::string> chosen;
    for (const std::int64_t row : rows) chosen.push_back(written_[static_cast<std::size_t>(row)]);
    written_ = std::move(chosen);
  }

 private:
  static std::array<Real, 4> row(const std::string& so_far) {
    if (so_far == "^") return {0.5, 0.2, 0.2, 0.1};
    if (so_far == "^A") return {0.1, 0.4, 0.3, 0.2};
    if (so_far == "^AB") return {0.2, 0.2, 0.4, 0.2};
    if (so_far == "^AC") return {0.1, 0.6, 0.2, 0.1};
    if (so_far == "^ABC") return {0.0, 0.2, 0.2, 0.6};
    return {0.1, 0.2, 0.1, 0.6};
  }

  std::vector<std::string> written_;
};

constexpr std::int64_t eos = 3, bos = 4;

TEST_CASE("Greedy search on the worked table finds A B C <eos> with 0.048") {
  Table table{2};
  const Decoded result = greedy(table, {.bos = bos, .eos = eos});
  CHECK(equal(result.tokens, Index({2, 4}, {0, 1, 2, 3, 0, 1, 2, 3})));
  CHECK(equal(result.lengths, Index({2}, {3, 3})));
  CHECK(std::exp(result.scores.at({1})) == doctest::Approx(0.048));
}

TEST_CASE("Greedy search stops at max_length") {
  Table table;
  const Decoded result = greedy(table, {.bos = bos, .eos = eos, .max_length = 2});
  CHECK(equal(result.tokens, Index({1, 2}, {0, 1})));
  CHECK(equal(result.lengths, Index({1}, {2})));
  CHECK(std::exp(result.scores.item()) == doctest::Approx(0.2));
  CHECK(error_of<ValueError>([&] { greedy(table, {.max_length = 0}); }) ==
        "greedy: max_length must be at least 1, got 0");
}

TEST_CASE("Greedy search refuses a model whose steps have another shape") {
  struct Wrong : Stepper {
    std::int64_t batch() const override { return 2; }
    Tensor step(const Index&) override { return Array({3, 4}, Real(0)); }
    void select(const Index&) override {}
  } wrong;
  CHECK(error_of<ShapeError>([&] { greedy(wrong, {}); }) == "greedy: a step must give (2, V), got [3, 4]");
}

TEST_CASE("A transformer learns to turn sequences round, and greedy search writes them") {
  manual_seed(1);
  const std::int64_t pad = 0, begin = 1, end = 2, N = 24, S = 4;
  // Sentences of 2 to 4 letters 3 ... 7; the translation is the sentence backwards, then the end.
  Index source({N, S}, pad), target({N, S + 1}, pad), lengths({N});
  const Index letters = random_integers(3, 8, {N, S}, next_random_key());
  for (std::int64_t n = 0; n < N; ++n) {
    const std::int64_t length = 2 + n % 3;
    lengths.mutable_data()[n] = length;
    for (std::int64_t i = 0; i < length; ++i) {
      source.mutable_data()[n * S + i] = letters.at({n, i});
      target.mutable_data()[n * (S + 1) + length - 1 - i] = letters.at({n, i});
    }
    target.mutable_data()[n * (S + 1) + length] = end;
  }

  EncoderDecoder model{root, 8, 8, {.dim = 16, .ffn = 32, .heads = 2, .layers = 1, .dropout = 0}};
  const Tensors parameters = model.parameters();
  optim::Adam adam{parameters, {.lr = 0.005}};
  const auto loss = [&] {
    return cross_entropy(model(source, lengths, shift_right(target, begin)), target, {.ignore_index = pad});
  };
  const Real before = loss().item();
  for (int step = 0; step < 1000; ++step) {
    adam.step(optim::clip_grad_norm(grad(loss(), parameters), parameters, 1).gradients);
  }
  CHECK(before > 1.5);
  CHECK(loss().item() < 0.001);

  const Eval eval(model);
  const std::int64_t nodes = live_node_count();
  auto decoding = model.start(source, lengths);
  const Decoded result = greedy(decoding, {.bos = begin, .eos = end, .max_length = S + 1});
  int right = 0;
  for (std::int64_t n = 0; n < N; ++n) {
    bool same = result.lengths.at({n}) == lengths.at({n});
    for (std::int64_t i = 0; i < lengths.at({n}); ++i) same = same && result.tokens.at({n, i}) == target.at({n, i});
    right += same;
  }
  CHECK(right == N);
  CHECK(live_node_count() == nodes);

  // Without the cache: the whole prefix again for every word.
  Index prefix({N, 1}, begin);
  for (std::int64_t t = 0; t < result.tokens.dim(1); ++t) {
    const Array logits = model(source, lengths, prefix).value();
    Index next({N, 1});
    for (std::int64_t n = 0; n < N; ++n) {
      const Real* row = logits.data() + ((n + 1) * (t + 1) - 1) * 8;
      const std::int64_t best = std::max_element(row, row + 8) - row;
      next.mutable_data()[n] = t > result.lengths.at({n}) ? end : best;
      CHECK(next.data()[n] == result.tokens.at({n, t}));
    }
    prefix = concat(std::vector<Index>{prefix, next}, 1);
  }
}

}  // namespace
}  // namespace xgrad::testing
