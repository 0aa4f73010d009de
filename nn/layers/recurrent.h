// Recurrent layers with the parameters, names and initial values of PyTorch: RNN, LSTM, GRU, and the cells, which
// compute one step. The formulas are in ops/network/recurrent.h.
//
//     nn::LSTM lstm{at("lstm"), 32, 64, {.layers = 2, .bidirectional = true}};
//     const auto [output, h, c] = lstm(x, {.lengths = lengths});      // (B, T, 128), (4, B, 64), (4, B, 64)
#pragma once

#include <optional>
#include <vector>

#include "../../ops/network/recurrent.h"
#include "../module.h"

namespace xgrad::nn {

namespace detail {
enum class RecurrentKind { rnn_tanh, rnn_relu, lstm, gru };
}  // namespace detail

/// The inputs of a recurrent layer besides the sequences.
struct RecurrentInput {
  Tensor h = {};                      ///< (L, B, h) initial states, for each layer forward, then backward; 0 by default
  Tensor c = {};                      ///< (L, B, h) initial cell states of an LSTM, in the same order
  std::optional<Index> lengths = {};  ///< (B) the number of valid steps of each sequence; T if not given
};

/// The parameters of one layer in one direction.
struct RecurrentWeights {
  Tensor ih;                ///< (gates h, in)
  Tensor hh;                ///< (gates h, h)
  Tensor bias_ih, bias_hh;  ///< (gates h); undefined if there are no biases
};

struct LSTMOptions {
  std::int64_t layers = 1;
  bool bias = true;
  double dropout = 0;  ///< dropout probability between layers, in training
  bool bidirectional = false;
};
/// The options of a GRU, the same as for an LSTM.
using GRUOptions = LSTMOptions;

/// The base class of RNN, LSTM and GRU. Layers are stacked: each reads the output of the layer before. A bidirectional
/// layer has a forward and a backward part, whose outputs are concatenated. Constructors throw LimitError for more than
/// most_layers.
class Recurrent : public Module {
 protected:
  using Kind = detail::RecurrentKind;
  const Kind kind_;

 public:
  /// x (B, T, in) -> the output of the last layer, (B, T, D h), and the final states h (and c) of all layers, (L, B,
  /// h). D is the number of directions, and L = layers D. The output is 0 after the length of a sequence. The final
  /// state is the state after the last valid step (forward direction) or after the first step (backward direction).
  /// Results equal PyTorch's for packed sequences. Throws ShapeError, and ValueError for a length outside [1, T].
  Recurrence operator()(const Tensor& x, const RecurrentInput& given = {}) const;

  const std::int64_t in;
  const std::int64_t hidden;
  const std::int64_t layers;
  const std::int64_t directions;  ///< 1 (forward) or 2 (forward and backward)
  const double dropout;

  /// The parameters of one layer in one direction (0 forward, 1 backward). Throws ValueError if there is no such layer.
  const RecurrentWeights& weights(std::int64_t layer, std::int64_t direction = 0) const;

 protected:
  using Options = LSTMOptions;
  Recurrent(At here, Kind kind, std::int64_t in, std::int64_t hidden, const Options& given);
  std::string class_name() const override;
  std::string extra_repr() const override;

 private:
  std::vector<RecurrentWeights> weights_;
};

struct RNNOptions {
  std::int64_t layers = 1;
  Squash nonlinearity = Squash::tanh;
  bool bias = true;
  double dropout = 0;  ///< dropout probability between layers, in training
  bool bidirectional = false;
};
/// h' = f(W_ih x + b_ih + W_hh h + b_hh)      (Elman 1990)
struct RNN : Recurrent {
  using Options = RNNOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  RNN(At here, std::int64_t inputs, std::int64_t states, const Options& o = {})
      : Recurrent(std::move(here), o.nonlinearity == Squash::tanh ? Kind::rnn_tanh : Kind::rnn_relu, inputs, states,
                  {.layers = o.layers, .bias = o.bias, .dropout = o.dropout, .bidirectional = o.bidirectional}) {}
  explicit RNN(Placeless, ...);  ///< compile error: the first argument must be at("name") or root
};

/// A layer with the gates i, f, g, o = W_ih x + b_ih + W_hh h + b_hh and a cell state c (Hochreiter, Schmidhuber 1997).
struct LSTM : Recurrent {
  using Options = LSTMOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  LSTM(At here, std::int64_t inputs, std::int64_t states, const Options& o = {})
      : Recurrent(std::move(here), Kind::lstm, inputs, states, o) {}
  explicit LSTM(Placeless, ...);  ///< compile error: the first argument must be at("name") or root
};

/// A layer with the gates r and z and a candidate n (Cho et al. 2014).
struct GRU : Recurrent {
  using Options = GRUOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  GRU(At here, std::int64_t inputs, std::int64_t states, const Options& o = {})
      : Recurrent(std::move(here), Kind::gru, inputs, states, o) {}
  explicit GRU(Placeless, ...);  ///< compile error: the first argument must be at("name") or root
};

/// The base class of the cells. It holds the parameters of one layer in one direction.
class RecurrentCell : public Module {
 protected:
  using Kind = detail::RecurrentKind;
  const Kind kind_;

 public:
  const std::int64_t gates;  ///< 1 for an RNN, 4 for an LSTM, 3 for a GRU
  const std::int64_t in;
  const std::int64_t hidden;
  const RecurrentWeights weights;

 protected:
  RecurrentCell(At here, Kind kind, std::int64_t in, std::int64_t hidden, bool bias);
  /// The states after one step, from the states h and c before the step; an undefined state is 0.
  Recurrence step(const Tensor& x, const Tensor& h, const Tensor& c = {}) const;
  std::string class_name() const override;
  std::string extra_repr() const override { return str(in, " -> ", hidden); }
};

struct RNNCellOptions {
  Squash nonlinearity = Squash::tanh;
  bool bias = true;
};
/// One step of an RNN.
struct RNNCell : RecurrentCell {
  using Options = RNNCellOptions;

  /// Throws ValueError for sizes below 1.
  RNNCell(At here, std::int64_t inputs, std::int64_t states, const Options& o = {})
      : RecurrentCell(std::move(here), o.nonlinearity == Squash::tanh ? Kind::rnn_tanh : Kind::rnn_relu, inputs, states,
                      o.bias),
        nonlinearity(o.nonlinearity) {}
  explicit RNNCell(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// x (B, in), h (B, hidden) -> (B, hidden). An undefined h means 0. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;

  const Squash nonlinearity;
};

struct CellOptions {
  bool bias = true;
};
/// The state of an LSTMCell.
struct LSTMState {
  Tensor h = {};  ///< (B, hidden)
  Tensor c = {};  ///< (B, hidden)
};
/// One step of an LSTM.
struct LSTMCell : RecurrentCell {
  using Options = CellOptions;

  /// Throws ValueError for sizes below 1.
  LSTMCell(At here, std::int64_t inputs, std::int64_t states, const Options& o = {})
      : RecurrentCell(std::move(here), Kind::lstm, inputs, states, o.bias) {}
  explicit LSTMCell(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// x (B, in), state -> the next state. The state {} means 0. Throws ShapeError.
  LSTMState operator()(const Tensor& x, const LSTMState& state = {}) const;
};

/// One step of a GRU.
struct GRUCell : RecurrentCell {
  using Options = CellOptions;

  /// Throws ValueError for sizes below 1.
  GRUCell(At here, std::int64_t inputs, std::int64_t states, const Options& o = {})
      : RecurrentCell(std::move(here), Kind::gru, inputs, states, o.bias) {}
  explicit GRUCell(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// x (B, in), h (B, hidden) -> (B, hidden). An undefined h means 0. Throws ShapeError.
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const;
};

}  // namespace xgrad::nn
