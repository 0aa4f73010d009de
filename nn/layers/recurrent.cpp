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

using detail::RecurrentKind;

// What the kinds are called in errors, as an operation and as a class, and how many gates they have.
struct Traits {
  const char* op;
  const char* name;
  std::int64_t gates;
};
const Traits& traits(RecurrentKind kind) {
  static constexpr Traits all[]{{"rnn", "RNN", 1}, {"rnn", "RNN", 1}, {"lstm", "LSTM", 4}, {"gru", "GRU", 3}};
  return all[static_cast<std::size_t>(kind)];
}

// The parameters of one layer in one direction: declare(name, shape) makes each.
template <class Declare>
RecurrentWeights declared(std::int64_t rows, std::int64_t in, std::int64_t hidden, bool bias, const Declare& declare) {
  RecurrentWeights w{.ih = declare("weight_ih", Shape{rows, in}), .hh = declare("weight_hh", Shape{rows, hidden})};
  if (bias) w.bias_ih = declare("bias_ih", Shape{rows});
  if (bias) w.bias_hh = declare("bias_hh", Shape{rows});
  return w;
}

// One layer in one direction; the memory c is that of an LSTM.
Recurrence run(RecurrentKind kind, const RecurrentWeights& w, const Tensor& x, const Tensor& h, const Tensor& c,
               const RecurrenceOptions& options) {
  if (kind == RecurrentKind::gru) {
    return gru(linear(x, w.ih, w.bias_ih), w.hh, w.bias_hh.defined() ? w.bias_hh : zeros({w.hh.dim(0)}), h, options);
  }
  const Tensor gates = linear(x, w.ih, w.bias_ih.defined() ? w.bias_ih + w.bias_hh : Tensor());
  if (kind == RecurrentKind::lstm) return lstm(gates, w.hh, h, c, options);
  return rnn(gates, w.hh, h, kind == RecurrentKind::rnn_relu ? Squash::relu : Squash::tanh, options);
}

}  // namespace

// -- layers -----------------------------------------------------------------------------------------------------------

Recurrent::Recurrent(At here, RecurrentKind kind, std::int64_t in_size, std::int64_t hidden_size, const Options& given)
    : Module(std::move(here)),
      kind_(kind),
      in(positive("in", in_size)),
      hidden(positive("hidden", hidden_size)),
      layers(positive("layers", given.layers, 1'000'000)),
      directions(given.bidirectional ? 2 : 1),
      dropout(probability("dropout", given.dropout)) {
  const Scope scope(place());
  if (layers > most_layers) fail<LimitError>("recurrent", layers, " layers, allowed are ", most_layers);
  const std::int64_t rows = checked_multiply("recurrent", hidden, traits(kind_).gates);
  const std::int64_t width = checked_multiply("recurrent", directions, hidden);  // of a layer's output
  const Init init = init::uniform_within_root(hidden);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const auto own = [&](const char* name, const Shape& shape) {
        return param(str(name, "_l", layer, direction == 1 ? "_reverse" : ""), shape, init);
      };
      weights_.push_back(declared(rows, layer == 0 ? in : width, hidden, given.bias, own));
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
  const char* op = traits(kind_).op;
  const bool is_lstm = kind_ == RecurrentKind::lstm;
  if (x.rank() != 3 || x.dim(2) != in) {
    fail<ShapeError>(op, "needs an input (B, T, ", in, "), got ", x.shape(),
                     xgrad::detail::batch_axis_hint(x.shape(), Shape{-1, in}));
  }
  const std::int64_t B = x.dim(0), L = layers * directions;
  if (given.c.defined() && !is_lstm) fail<ValueError>(op, "has no memory c");
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
      const Tensor h0 = start("h0", given.h, at), c0 = is_lstm ? start("c0", given.c, at) : Tensor();
      const Recurrence side =
          run(kind_, weights(layer, direction), y, h0, c0, {.lengths = given.lengths, .reverse = direction == 1});
      sides.push_back(side.output);
      h.push_back(side.h);
      if (is_lstm) c.push_back(side.c);
    }
    y = directions == 1 ? sides[0] : concat(sides, -1);
  }
  return {here(y), stack(h), c.empty() ? Tensor() : stack(c)};
}

std::string Recurrent::class_name() const {
  return Class::of(*this) == Class::of<Recurrent>() ? traits(kind_).name : Module::class_name();
}

std::string Recurrent::extra_repr() const {
  return str(in, " -> ", hidden, layers > 1 ? str(", ", layers, " layers") : "",
             directions == 2 ? ", both directions" : "");
}

// -- cells ------------------------------------------------------------------------------------------------------------

RecurrentCell::RecurrentCell(At here, RecurrentKind kind, std::int64_t in_size, std::int64_t hidden_size, bool bias)
    : Module(std::move(here)),
      kind_(kind),
      gates(traits(kind).gates),
      in(positive("in", in_size)),
      hidden(positive("hidden", hidden_size)),
      weights(declared(checked_multiply("recurrent", gates, hidden), in, hidden, bias,
                       [&](const char* name, const Shape& shape) {
                         return param(name, shape, init::uniform_within_root(hidden));
                       })) {}

std::string RecurrentCell::class_name() const {
  return Class::of(*this) == Class::of<RecurrentCell>() ? str(traits(kind_).name, "Cell") : Module::class_name();
}

// A sequence of one step.
Recurrence RecurrentCell::step(const Tensor& x, const Tensor& h, const Tensor& c) const {
  if (x.rank() != 2 || x.dim(1) != in) {
    fail<ShapeError>(str(traits(kind_).op, "_cell"), "needs an input (B, ", in, "), got ", x.shape());
  }
  const auto or_zeros = [&](const Tensor& state) { return state.defined() ? state : zeros({x.dim(0), hidden}); };
  return run(kind_, weights, unsqueeze(x, 1), or_zeros(h), kind_ == RecurrentKind::lstm ? or_zeros(c) : Tensor(), {});
}

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h) const {
  const auto here = enter(x, h);
  return here(step(x, h).h);
}

LSTMState LSTMCell::operator()(const Tensor& x, const LSTMState& given) const {
  const auto here = enter(x, given.h, given.c);
  const Recurrence next = step(x, given.h, given.c);
  return {here(next.h), next.c};
}

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  const auto here = enter(x, h);
  return here(step(x, h).h);
}

}  // namespace xgrad::nn
