// Recurrent layers: dropout, hooks, errors. Their numbers: recurrent_fixtures_test.cpp; names and first numbers:
// defaults_test.cpp.
#include "../support.h"

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Dropout acts between layers, in training only, and never on the result") {
  const Tensor x(normal({2, 5, 3}));
  const GRU single{root, 3, 4, {.dropout = 0.5}};
  check_close(single(x).output.value(), single(x).output.value(), 0);
  const GRU stacked{root, 3, 4, {.layers = 2, .dropout = 0.5}};
  CHECK(!equal(stacked(x).output.value(), stacked(x).output.value()));
  // Dropout is on the input of the upper layer: the lower one's states stay.
  check_close(stacked(x).h[0].value(), stacked(x).h[0].value(), 0);
  const Eval eval(stacked);
  check_close(stacked(x).output.value(), stacked(x).output.value(), 0);
}

TEST_CASE("Hooks of recurrent layers see the inputs in the order of the arguments, and the next state") {
  const Tensor x(normal({2, 3})), h(normal({2, 4}, 2)), c(normal({2, 4}, 3)), sequences(normal({2, 5, 3}));
  const auto seen = [](const Module& layer, const auto& run) {
    Tensors inputs;
    const auto number = layer.on_forward([&](const ForwardCall& call) {
      inputs = call.inputs;
      inputs.push_back(call.output);
    });
    run();
    layer.remove_hook(number);
    return inputs;
  };
  const auto check = [&](const Module& layer, const Tensors& expected, const auto& run) {
    Tensor result;
    const Tensors inputs = seen(layer, [&] { return result = run(); });
    REQUIRE(inputs.size() == expected.size() + 1);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(same(inputs[i], expected[i]));
    CHECK(same(inputs.back(), result));
  };
  const RNNCell rnn{root, 3, 4};
  const GRUCell gru{root, 3, 4};
  const LSTMCell lstm{root, 3, 4};
  const GRU layer{root, 3, 4};
  check(rnn, {x, h}, [&] { return rnn(x, h); });
  check(gru, {x, h}, [&] { return gru(x, h); });
  check(lstm, {x, h, c}, [&] { return lstm(x, {.h = h, .c = c}).h; });
  check(layer, {sequences}, [&] { return layer(sequences).output; });
}

TEST_CASE("Recurrent layers refuse bad settings and inputs") {
  CHECK_REFUSED(ValueError, RNN(root, 3, 4, {.dropout = 1.5}), "RNN", "dropout 1.5 is not in [0, 1]");

  struct Model : Module {
    LSTM lstm{at("lstm"), 3, 4, {.bidirectional = true}};
    GRU gru{at("gru"), 3, 4};
    GRUCell cell{at("cell"), 3, 4};
  } m;
  const std::string place = "\n  in lstm (LSTM 3 -> 4, both directions)";
  const Tensor x = zeros({2, 5, 3});
  CHECK_REFUSED(ShapeError, m.lstm(zeros({5, 3})), "lstm", "needs an input", "(B, T, 3)", "[5, 3]", "[1, 5, 3]", place);
  CHECK_REFUSED(ShapeError, m.lstm(zeros({2, 5, 4})), "lstm", "needs an input (B, T, 3), got [2, 5, 4]", place);
  CHECK_REFUSED(ShapeError, m.lstm(x, {.h = zeros({1, 2, 4})}), "lstm", "shape [1, 2, 4]", "needs [2, 2, 4]", place);
  CHECK_REFUSED(ShapeError, m.lstm(x, {.c = zeros({2, 3, 4})}), "lstm", "shape [2, 3, 4]", "needs [2, 2, 4]", place);
  CHECK_REFUSED(ShapeError, m.cell(x), "gru_cell", "needs an input (B, 3), got [2, 5, 3]", "in cell");
  CHECK_REFUSED(ShapeError, m.cell(zeros({2, 3}), zeros({1, 4})), "gru", "shape [1, 4]", "needs [2, 4]", "in cell");
  CHECK_REFUSED(ValueError, m.lstm(x, {.lengths = Index({2}, {5, 6})}), "lstm",
                "length 6 of sequence 1 is not in [1, 5]", place);
  CHECK_REFUSED(ValueError, m.gru(x, {.c = zeros({1, 2, 4})}), "gru", "has no memory c", "in gru");
  // A state of another width is blamed itself, not the input.
  const Tensor one = zeros({2, 3}), wide = zeros({2, 5});
  const RNNCell rnn_cell{root, 3, 4};
  const LSTMCell lstm_cell{root, 3, 4};
  CHECK_REFUSED(ShapeError, rnn_cell(one, wide), "rnn", "state of shape [2, 5], needs [2, 4]");
  CHECK_REFUSED(ShapeError, m.cell(one, wide), "gru", "state of shape [2, 5], needs [2, 4]", "in cell");
  CHECK_REFUSED(ShapeError, lstm_cell(one, {.h = wide}), "lstm", "state of shape [2, 5], needs [2, 4]");
  CHECK_REFUSED(ShapeError, lstm_cell(one, {.c = wide}), "lstm", "memory of shape [2, 5], needs [2, 4]");
  CHECK_REFUSED(ShapeError, lstm_cell(one, {.h = wide, .c = wide}), "lstm", "state of shape [2, 5], needs [2, 4]");
  CHECK_REFUSED(ValueError, m.gru.weights(1), "recurrent", "no layer 1 in direction 0 of 1 x 1");
}

}  // namespace
}  // namespace xgrad::testing
