// Recurrent layers against PyTorch's.
#include <xgrad/nn/layers/recurrent.h>

#include "../support.h"

namespace xgrad::testing {
namespace {

// output, h and, of an LSTM, c; from x, states, lengths as they are stored.
Results run_layer(const Case& c, const nn::Recurrent& layer, bool memory) {
  return run_module(c, layer, [&] {
    nn::RecurrentInput given;
    int next = 1;
    if (c.flag("state")) given.h = c.x(next++);
    if (c.flag("state") && memory) given.c = c.x(next++);
    if (c.flag("lengths")) given.lengths = c.index(next);
    const Recurrence y = layer(c.x(0), given);
    return memory ? Tensors{y.output, y.h, y.c} : Tensors{y.output, y.h};
  });
}

Squash squash(const Case& c) { return c.text("nonlinearity") == "tanh" ? Squash::tanh : Squash::relu; }

Results rnn_layer(const Case& c) {
  const nn::RNN layer(nn::root, 3, c.integer("hidden"),
                      {.layers = c.integer("layers"),
                       .nonlinearity = squash(c),
                       .bias = c.flag("bias"),
                       .bidirectional = c.flag("bidirectional")});
  return run_layer(c, layer, false);
}

Results lstm_layer(const Case& c) {
  const nn::LSTM layer(
      nn::root, 3, c.integer("hidden"),
      {.layers = c.integer("layers"), .bias = c.flag("bias"), .bidirectional = c.flag("bidirectional")});
  return run_layer(c, layer, true);
}

Results gru_layer(const Case& c) {
  const nn::GRU layer(
      nn::root, 3, c.integer("hidden"),
      {.layers = c.integer("layers"), .bias = c.flag("bias"), .bidirectional = c.flag("bidirectional")});
  return run_layer(c, layer, false);
}

Results rnn_cell(const Case& c) {
  const nn::RNNCell cell(nn::root, 3, 5, {.nonlinearity = squash(c), .bias = c.flag("bias")});
  return run_module(c, cell, [&] { return cell(c.x(0), c.x(1)); });
}

Results lstm_cell(const Case& c) {
  const nn::LSTMCell cell(nn::root, 3, 5, {.bias = c.flag("bias")});
  return run_module(c, cell, [&] {
    const nn::LSTMState next = cell(c.x(0), {.h = c.x(1), .c = c.x(2)});
    return Tensors{next.h, next.c};
  });
}

Results gru_cell(const Case& c) {
  const nn::GRUCell cell(nn::root, 3, 5, {.bias = c.flag("bias")});
  return run_module(c, cell, [&] { return cell(c.x(0), c.x(1)); });
}

}  // namespace

TEST_CASE("Recurrent layers, their cells and all gradients equal PyTorch's, packed sequences included") {
  check_fixtures("recurrent", {
                                  {"rnn", rnn_layer},
                                  {"lstm", lstm_layer},
                                  {"gru", gru_layer},
                                  {"rnn_cell", rnn_cell},
                                  {"lstm_cell", lstm_cell},
                                  {"gru_cell", gru_cell},
                              },
                 {.ulps = 16});  // of several steps; 10 were seen
}

}  // namespace xgrad::testing
