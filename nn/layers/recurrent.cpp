// Recurrent layers.
#include "recurrent.h"

#include "../../core/array/shape_hints.h"
#include "../../core/base/error.h"
#include "../../core/graph/record.h"
#include "../../ops/creation/create.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/network/dropout.h"
#include "../../ops/products/matmul.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/shape.h"

namespace xgrad::nn {
namespace {

// The sum of both biases, for gates that need no more.
Tensor bias_of(const RecurrentWeights& w) { return w.bias_ih.defined() ? w.bias_ih + w.bias_hh : Tensor(); }

Recurrence run_rnn(const RecurrentWeights& w, const Tensor& x, const Tensor& h, Squash f,
                   const RecurrenceOptions& options) {
  return rnn(linear(x, w.ih, bias_of(w)), w.hh, h, f, options);
}

Recurrence run_lstm(const RecurrentWeights& w, const Tensor& x, const Tensor& h, const Tensor& c,
                    const RecurrenceOptions& options) {
  return lstm(linear(x, w.ih, bias_of(w)), w.hh, h, c, options);
}

Recurrence run_gru(const RecurrentWeights& w, const Tensor& x, const Tensor& h, const RecurrenceOptions& options) {
  return gru(linear(x, w.ih, w.bias_ih), w.hh, w.bias_hh.defined() ? w.bias_hh : zeros({w.hh.dim(0)}), h, options);
}

}  // namespace

// -- layers -----------------------------------------------------------------------------------------------------------

Recurrent::Recurrent(At here, Kind kind, std::int64_t in_size, std::int64_t hidden_size, const Options& given)
    : Module(std::move(here)),
      kind_(kind),
      in(positive("in", in_size)),
      hidden(positive("hidden", hidden_size)),
      layers(positive("layers", given.layers, 1'000'000)),
      directions(given.bidirectional ? 2 : 1),
      dropout(probability("dropout", given.dropout)) {
  const Scope scope(place());
  if (layers > most_layers) fail<LimitError>("recurrent", layers, " layers, allowed are ", most_layers);
  const std::int64_t rows = checked_multiply("recurrent", hidden, kind_ == Kind::lstm ? 4 : kind_ == Kind::gru ? 3 : 1);
  const std::int64_t width = checked_multiply("recurrent", directions, hidden);  // of a layer's output
  const Init init = init::uniform_within_root(hidden);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const auto own = [&](const char* name, const Shape& shape) {
        return param(str(name, "_l", layer, direction == 1 ? "_reverse" : ""), shape, init);
      };
      RecurrentWeights w;
      w.ih = own("weight_ih", {rows, layer == 0 ? in : width});
      w.hh = own("weight_hh", {rows, hidden});
      if (given.bias) w.bias_ih = own("bias_ih", {rows});
      if (given.bias) w.bias_hh = own("bias_hh", {rows});
      weights_.push_back(std::move(w));
    }
  }
}

const RecurrentWeights& Recurrent::weights(std::int64_t layer, std::int64_t direction) const {
  if (layer < 0 || layer >= layers || direction < 0 || direction >= directions) {
    fail<ValueError>("recurrent", "no layer ", layer, " in direction ", direction, " of ", layers, " x ", directions);
  }
  return weights_[static_cast<std::size_t>(layer * directions + direction)];
}

Recurrence Recurrent::operator()(const Tensor& x, const RecurrentInput& given) const {
  const auto here = enter(x);
  const char* op = kind_ == Kind::lstm ? "lstm" : kind_ == Kind::gru ? "gru" : "rnn";
  if (x.rank() != 3 || x.dim(2) != in) {
    fail<ShapeError>(op, "needs an input (B, T, ", in, "), got ", x.shape(),
                     xgrad::detail::batch_axis_hint(x.shape(), Shape{-1, in}));
  }
  const std::int64_t B = x.dim(0), L = layers * directions;
  if (given.c.defined() && kind_ != Kind::lstm) fail<ValueError>(op, "has no memory c");
  // The state of one layer and direction.
  const auto start = [&](const char* name, const Tensor& all, std::int64_t at) {
    if (!all.defined()) return recording() ? zeros({B, hidden}).named(full_name(name)) : zeros({B, hidden});
    if (all.shape() != Shape{L, B, hidden}) {
      fail<ShapeError>(op, "initial state of shape ", all.shape(), ", needs ", Shape{L, B, hidden});
    }
    return all[at];
  };

  Tensors h, c;
  Tensor y = x;
  for (std::int64_t at = 0, layer = 0; layer < layers; ++layer) {
    if (layer > 0 && training() && dropout > 0) y = xgrad::dropout(y, dropout);
    Tensors sides;
    for (std::int64_t direction = 0; direction < directions; ++direction, ++at) {
      const RecurrentWeights& w = weights(layer, direction);
      const RecurrenceOptions options{.lengths = given.lengths, .reverse = direction == 1};
      const Tensor h0 = start("h0", given.h, at);
      const Recurrence side = kind_ == Kind::lstm       ? run_lstm(w, y, h0, start("c0", given.c, at), options)
                              : kind_ == Kind::gru      ? run_gru(w, y, h0, options)
                              : kind_ == Kind::rnn_relu ? run_rnn(w, y, h0, Squash::relu, options)
                                                        : run_rnn(w, y, h0, Squash::tanh, options);
      sides.push_back(side.output);
      h.push_back(side.h);
      if (kind_ == Kind::lstm) c.push_back(side.c);
    }
    y = directions == 1 ? sides[0] : concat(sides, -1);
  }
  return {here(y), stack(h), c.empty() ? Tensor() : stack(c)};
}

std::string Recurrent::class_name() const {
  if (Class::of(*this) != Class::of<Recurrent>()) return Module::class_name();
  return kind_ == Kind::lstm ? "LSTM" : kind_ == Kind::gru ? "GRU" : "RNN";
}

std::string Recurrent::extra_repr() const {
  return str(in, " -> ", hidden, layers > 1 ? str(", ", layers, " layers") : "",
             directions == 2 ? ", both directions" : "");
}

// -- cells ------------------------------------------------------------------------------------------------------------

namespace {

// One step of a batch as sequences of length 1.
Tensor as_sequence(const char* op, const RecurrentCell& cell, const Tensor& x) {
  if (x.rank() != 2 || x.dim(1) != cell.in) {
    fail<ShapeError>(op, "needs an input (B, ", cell.in, "), got ", x.shape());
  }
  return unsqueeze(x, 1);
}

Tensor or_zeros(const Tensor& state, const RecurrentCell& cell, const Tensor& x) {
  return state.defined() ? state : zeros({x.dim(0), cell.hidden});
}

}  // namespace

RecurrentCell::RecurrentCell(At here, std::int64_t in_size, std::int64_t hidden_size, std::int64_t gate_count,
                             bool bias)
    : Module(std::move(here)),
      gates(gate_count),
      in(positive("in", in_size)),
      hidden(positive("hidden", hidden_size)),
      weights([&] {
        const Init init = init::uniform_within_root(hidden);
        const std::int64_t rows = checked_multiply("recurrent", gates, hidden);
        RecurrentWeights w;
        w.ih = param("weight_ih", {rows, in}, init);
        w.hh = param("weight_hh", {rows, hidden}, init);
        if (bias) w.bias_ih = param("bias_ih", {rows}, init);
        if (bias) w.bias_hh = param("bias_hh", {rows}, init);
        return w;
      }()) {}

std::string RecurrentCell::class_name() const {
  if (Class::of(*this) != Class::of<RecurrentCell>()) return Module::class_name();
  return gates == 4 ? "LSTMCell" : gates == 3 ? "GRUCell" : "RNNCell";
}

std::string RecurrentCell::extra_repr() const { return str(in, " -> ", hidden); }

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h) const {
  const auto here = enter(x, h);
  return here(run_rnn(weights, as_sequence("rnn_cell", *this, x), or_zeros(h, *this, x), nonlinearity, {}).h);
}

LSTMState LSTMCell::operator()(const Tensor& x, const LSTMState& given) const {
  const auto here = enter(x, given.h, given.c);
  const Recurrence next = run_lstm(weights, as_sequence("lstm_cell", *this, x), or_zeros(given.h, *this, x),
                                   or_zeros(given.c, *this, x), {});
  return {here(next.h), next.c};
}

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  const auto here = enter(x, h);
  return here(run_gru(weights, as_sequence("gru_cell", *this, x), or_zeros(h, *this, x), {}).h);
}

}  // namespace xgrad::nn
