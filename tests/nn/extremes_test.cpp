// Every integer that a layer, an initialisation or a schedule takes, at the ends of its type: a right result or a
// typed error. Numbers that are infinite or NaN, for what parameters start with: init_test.cpp.
#include "support/extremes.h"
#include "support/check.h"

#include <cmath>
#include <functional>
#include <limits>

#include <xgrad/nn/nn.h>
#include <xgrad/nn/pytorch/pytorch.h>
#include <xgrad/ops/ops.h>
#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

namespace init = nn::init;

constexpr Real huge = std::numeric_limits<Real>::max();

// Sizes of layers, one at a time: catalogue_test.cpp.
TEST_CASE("extreme numbers: two sizes of a layer, and those with bounds of their own") {
  const MemoryLimit limit;
  const nn::TransformerOptions small{.dim = 4, .ffn = 4, .heads = 1, .layers = 1, .max_length = 4};
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    accepts(n >= -3 && n < 3, [&] {
      const nn::Embedding table{nn::root, 3, 2, {.padding_idx = n}};
      CHECK(table.padding_idx == (n + 3) % 3);
    });
    accepts(n >= 0 && n < 3, [&] { nn::Embedding{nn::root, 3, 2}(index({n})); });
    const auto takes = [&](bool legal, const auto& make) { accepts(legal && n < std::int64_t{1} << 28, make); };
    takes(n >= 0, [&] { nn::sinusoids(n, 1); });
    takes(n >= 0, [&] { nn::sinusoids(1, n, nn::Sinusoids::concatenated); });
    accepts(n >= 0 && n < std::int64_t{1} << 55, [&] { nn::sinusoids(0, n); });
    takes(n >= 0, [&] { nn::Mlp{nn::root, {.in = 1, .hidden = 1, .out = n}}; });
    takes(n >= 0, [&] { nn::MultiHeadAttention{nn::root, 4, 1, {.query = n, .key = n, .value = n}}; });
    takes(n >= 0, [&] { nn::pytorch::MultiheadAttention{nn::root, 4, 1, {.kdim = n, .vdim = n}}; });
    for (const auto& [size, legal] :
         {std::pair{&nn::TransformerOptions::heads, n == 1 || n == 2 || n == 4}, {&nn::TransformerOptions::layers, n >= 0}}) {
      nn::TransformerOptions options = small;
      options.*size = n;
      takes(legal, [&] { nn::Encoder{nn::root, 3, options}; });
    }
    survives([&] { nn::shift_right(index({{1, 2}}), n); });
    for (const std::int64_t m : sizes()) {
      CAPTURE(m);
      const bool both = n >= 1 && m >= 1 && Wide{n} * m < Wide{1} << 59;
      accepts(both, [&] { nn::Linear{nn::root, n, m}; });
      accepts(both, [&] { nn::Embedding{nn::root, n, m}; });
      accepts(both, [&] { nn::PositionalEncoding{nn::root, n, m, {.kind = nn::Positions::learned}}; });
    }
  }
  error_of<LimitError>([] { nn::Stack<nn::Linear>{nn::root, nn::most_layers + 1, 1, 1}; });
}

TEST_CASE("sizes that make no sense together are refused with a guess at why") {
  using namespace nn;
  struct Model : Module {
    At place() { return at("layer"); }
  } model;
  // The halves of a pointer as 32-bit numbers.
  constexpr std::int64_t high = 32767, low = 1'431'654'909;
  const std::function<void()> makes[] = {
      [&] { Linear(model.place(), high, low); },
      [&] { Embedding(model.place(), low, high); },
      [&] { PositionalEncoding(model.place(), high, low, {.kind = Positions::learned}); },
      [&] { PositionalEncoding(model.place(), high, low); },
      [&] { GRU(model.place(), high, low); },
      [&] { LSTMCell(model.place(), low, high); },
      [&] { pytorch::MultiheadAttention(model.place(), low, 1); },
      [&] { LayerNorm(model.place(), Shape({high, low})); },
      [&] { Mlp(model.place(), {.in = high, .hidden = low}); },
  };
  for (const auto& make : makes) {
    const std::string message = error_of<LimitError>(make);
    CHECK(message.find("; is a size declared after this layer?\n  in layer") != std::string::npos);
  }
  CHECK(model.children().empty());
  CHECK_REFUSED(LimitError, GRU(model.place(), 2, 2, {.layers = low}), "GRU", "1431654909", "in layer");
}

TEST_CASE("extreme numbers: decoding") {
  // Token 1 ends every sequence at once; with V = 2 nothing else can follow but token 0.
  struct Ending : nn::Stepper {
    std::int64_t V = 2, rows = 3;
    std::int64_t batch() const override { return rows; }
    Tensor step(const Index& tokens) override {
      Array logits({tokens.size(), V}, Real(-5));
      for (std::int64_t i = 0; i < tokens.size(); ++i) logits.mutable_data()[i * V + 1] = 5;
      return logits;
    }
    void select(const Index& chosen) override { rows = chosen.size(); }
  };
  for (const std::int64_t n : numbers) {
    CAPTURE(n);
    for (const std::int64_t V : {2, 3}) {
      const auto run = [&](bool legal, const auto& search) {
        accepts(legal, [&] {
          Ending model;
          model.V = V;
          search(model);
        });
      };
      run(n >= 1, [&](auto& m) {
        const nn::Decoded found = nn::greedy(m, {.eos = 1, .max_length = n});
        CHECK(found.lengths.data()[0] == 0);
      });
      run(n >= 1, [&](auto& m) { nn::sample(m, {.eos = 1, .max_length = n, .seed = 1}); });
      run(n >= 1, [&](auto& m) { nn::sample(m, {.eos = 1, .max_length = 9, .top_k = n, .seed = 1}); });
      run(n >= 1, [&](auto& m) { nn::beam_search(m, {.eos = 1, .max_length = n, .num_beams = 1}); });
      run(n >= 1 && n <= (V == 2 ? 4 : 15),
          [&](auto& m) { nn::beam_search(m, {.eos = 1, .max_length = 3, .num_beams = n}); });
      run(n >= 1, [&](auto& m) { nn::beam_search(m, {.eos = 1, .max_length = 3, .num_beams = 1, .num_best = n}); });
      run(n >= 1 && n < 1 << 20, [&](auto& m) { nn::exhaustive_search(m, {.eos = 1, .max_length = n}); });
      run(n >= (V == 2 ? 4 : 15),
          [&](auto& m) { nn::exhaustive_search(m, {.eos = 1, .max_length = 3, .max_sequences = n}); });
      run(n >= 0 && n < V, [&](auto& m) { nn::greedy(m, {.eos = n, .max_length = 3}); });
      run(true, [&](auto& m) { nn::greedy(m, {.bos = n, .eos = 1}); });
    }
  }
}

TEST_CASE("extreme numbers: what layers are asked for") {
  const nn::LSTM lstm{nn::root, 1, 2, {.layers = 2, .bidirectional = true}};
  const nn::PositionalEncoding learned{nn::root, 3, 2, {.kind = nn::Positions::learned}};
  const nn::PositionalEncoding fixed{nn::root, 3, 2};
  for (const std::int64_t n : numbers) {
    CAPTURE(n);
    for (const std::int64_t T : {0, 1, 3}) {
      const Tensor x = zeros({T, 2});
      accepts(n >= 0 && Wide{n} + T <= 3, [&] { learned(x, n); });
      accepts(n >= 0 && Wide{n} + T <= 3, [&] { fixed(x, n); });
    }
    for (const std::int64_t m : numbers) accepts(n >= 0 && n < 2 && m >= 0 && m < 2, [&] { lstm.weights(n, m); });
    accepts(n >= 1 && n <= 3, [&] { lstm(zeros({2, 3, 1}), {.lengths = index({n, 3})}); });
    for (const std::int64_t m : numbers) {
      CAPTURE(m);
      survives([&] { init::fans({n, m}); });
      survives([&] { init::fans({1, n, m}); });
      survives([&] { init::fans({0, 1, n, m, n}); });
    }
  }
  error_of<LimitError>([] { init::fans({2, 2, std::int64_t{1} << 62}); });
}

TEST_CASE("extreme numbers: schedules know the steps from 0 on, and no others") {
  const auto one = [](std::int64_t, double) { return 1.0; };
  std::vector<optim::Schedule> all{one, optim::schedule::warmup(most, one),
                                   optim::schedule::warmup(1, optim::schedule::cosine({.min_lr = 0.5, .steps = most}))};
  for (const std::int64_t n : numbers) {
    CAPTURE(n);
    accepts(n >= 1, [&] { all.push_back(optim::schedule::cosine({.steps = n})); });
    accepts(n >= 1, [&] { all.push_back(optim::schedule::noam({.width = n, .warmup = 1})); });
    accepts(n >= 1, [&] { all.push_back(optim::schedule::noam({.width = 1, .warmup = n})); });
    accepts(n >= 1,
            [&] { all.push_back(optim::schedule::warmup(n, optim::schedule::noam({.width = 1, .warmup = 3}))); });
  }
  for (const optim::Schedule& schedule : all) {
    for (const std::int64_t step : numbers) {
      CAPTURE(step);
      accepts(step >= 0, [&] {
        const double lr = schedule.lr(step, 1);
        CHECK((lr >= 0 && lr <= 1));
      });
    }
  }
  const Tensor x = variable(1);
  optim::SGD sgd{{x}, {.lr = 1}};
  for (const int group : small_numbers) {
    CAPTURE(group);
    accepts(group == 0, [&] { (void)sgd.lr(group); });
    accepts(group == 0, [&] { sgd.set_lr(group, 1); });
  }
  CHECK(optim::schedule::warmup(most, one).lr(most - 1, 1) == 1);
  CHECK(optim::schedule::noam({.width = 1, .warmup = 1}).lr(most, 1) == doctest::Approx(std::pow(2.0, -31.5)).scale(0));
}

TEST_CASE("first numbers of no parameters, and of the widest ranges") {
  for (const Shape& none : {Shape{0, 3}, Shape{3, 0}, Shape{0, 0}, Shape{2, 3, 0}}) {
    for (const nn::Init& f : {init::xavier_uniform(), init::xavier_normal(), init::orthogonal(), init::kaiming_uniform(),
                              init::kaiming_uniform({.mode = init::FanMode::out}), init::kaiming_normal()}) {
      CHECK(f(none).shape() == none);
    }
  }
  manual_seed(5);
  for (const init::UniformOptions& o : {init::UniformOptions{0, huge}, init::UniformOptions{-huge / 2, huge / 2}}) {
    for (const Real value : init::uniform(o)({1000})) CHECK((value >= o.low && value <= o.high));
  }
  for (const Real value : init::normal({.std = huge / 8})({1000})) CHECK(std::isfinite(value));
}

}  // namespace
}  // namespace xgrad::testing
