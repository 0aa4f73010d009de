// Recurrences: the step-by-step form in operations, and checks. The formulas of the cells are in
// ops/kernels/recurrent/cells.h, the kernel that goes through all steps and back in
// ops/kernels/recurrent/recurrent.cpp.
#include "recurrent.h"

#include <algorithm>
#include <array>

#include "../../core/base/formula.h"
#include "../elementwise/activations.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/elementwise.h"
#include "../indexing/index.h"
#include "../kernels/recurrent/recurrent.h"
#include "../products/matmul.h"
#include "../record_fused.h"
#include "../shape/join.h"
#include "../shape/shape.h"
#include "../shape/slice.h"

namespace xgrad {
namespace {

// ---- Step by step, in operations ------------------------------------------------------------------------------------

// The inputs of the operation in their order: x, weight, h and, where the cell has it, c or the bias.
template <class Cell>
inline constexpr std::size_t input_count = Cell::memory || Cell::has_bias ? 4 : 3;
template <class Cell>
using Inputs = std::array<Tensor, input_count<Cell>>;

template <class Cell>
Recurrence unrolled(const Sequences& sequences, const Inputs<Cell>& inputs) {
  const auto parts = [](const Tensor& x) {
    const Tensors list = chunk(x, Cell::gates, -1);
    std::array<Tensor, Cell::gates> gates;
    std::ranges::copy(list, gates.begin());
    return gates;
  };
  Tensor h = inputs[2], c = Cell::memory ? inputs[3] : Tensor();
  const Tensor bias = Cell::has_bias ? inputs[3] : Tensor();
  Tensors outputs(static_cast<std::size_t>(sequences.T));
  for (std::int64_t step = 0; step < sequences.T; ++step) {
    const std::int64_t t = sequences.position(step);
    auto next = Cell::step(parts(inputs[0][{_, t}]), parts(linear(h, inputs[1], bias)), Cell::memory ? c : h);
    Tensor& output = outputs[static_cast<std::size_t>(t)] = next.h;
    if (!sequences.all_count()) {
      Mask counts(Shape{sequences.B, 1});
      for (std::int64_t b = 0; b < sequences.B; ++b) counts.mutable_data()[b] = sequences.counts(b, t);
      output = where(counts, next.h, 0);
      next.h = where(counts, next.h, h);
      if (Cell::memory) next.c = where(counts, next.c, c);
    }
    h = next.h;
    c = next.c;
  }
  return {stack(outputs, 1), h, c};
}

// The checked sizes and options of a call with an rnn's arguments.
Sequences sequences_of(const char* op, std::int64_t gates, const Tensor& x, const Tensor& weight, const Tensor& h,
                       const RecurrenceOptions& options);
Sequences lstm_sequences(const Tensor& x, const Tensor& weight, const Tensor& h, const Tensor& c,
                         const RecurrenceOptions& options);
Sequences gru_sequences(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                        const RecurrenceOptions& options);

}  // namespace

XGRAD_FORMULA rnn_formula{"rnn", "h_t = f(x_t + weight h_(t-1))",
                          "dL/dx_t = (gy_t + weight^T dL/dx_(t+1)) f'; dL/dweight = sum of dL/dx_t h_(t-1)^T"};
Recurrence plain::rnn(const Tensor& x, const Tensor& weight, const Tensor& h, Squash f,
                      const RecurrenceOptions& options) {
  const Sequences sequences = sequences_of("rnn", 1, x, weight, h, options);
  return f == Squash::tanh ? unrolled<cells::Rnn<Squash::tanh>>(sequences, {x, weight, h})
                           : unrolled<cells::Rnn<Squash::relu>>(sequences, {x, weight, h});
}

XGRAD_FORMULA lstm_formula{
    "lstm",
    "h_t = sigmoid(o) tanh(c_t), c_t = sigmoid(f) c_(t-1) + sigmoid(i) tanh(g), (i, f, g, o) = x_t + weight h_(t-1)",
    "dL/dc_t = gh_t sigmoid(o_t) (1 - tanh(c_t)^2) + sigmoid(f_(t+1)) dL/dc_(t+1) with gh_t = gy_t + weight^T "
    "dL/dx_(t+1); dL/dweight = sum of dL/dx_t h_(t-1)^T"};
Recurrence plain::lstm(const Tensor& x, const Tensor& weight, const Tensor& h, const Tensor& c,
                       const RecurrenceOptions& options) {
  return unrolled<cells::Lstm>(lstm_sequences(x, weight, h, c, options), {x, weight, h, c});
}

XGRAD_FORMULA gru_formula{
    "gru",
    "h_t = (1 - z) n + z h_(t-1), n = tanh(x_n + r u_n), r = sigmoid(x_r + u_r), z = sigmoid(x_z + u_z), "
    "u = weight h_(t-1) + bias",
    "dL/dh_(t-1) = gy_(t-1) + z dL/dh_t + weight^T dL/du_t; dL/dweight = sum of dL/du_t h_(t-1)^T"};
Recurrence plain::gru(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                      const RecurrenceOptions& options) {
  return unrolled<cells::Gru>(gru_sequences(x, weight, bias, h, options), {x, weight, h, bias});
}

namespace {

// ---- Checks ---------------------------------------------------------------------------------------------------------

// The state after all valid steps.
Tensor last_of(const Sequences& sequences, const Tensor& output) {
  if (sequences.reverse) return output[{_, 0}];
  if (sequences.all_count()) return output[{_, -1}];
  Index index(Shape{sequences.B, 1, output.dim(2)});
  for (std::int64_t b = 0; b < sequences.B; ++b) {
    std::fill_n(index.mutable_data() + b * output.dim(2), output.dim(2), sequences.lengths->data()[b] - 1);
  }
  return squeeze(gather(output, 1, index), {1});
}

void check_shape(const char* op, const char* what, const Tensor& x, const Shape& expected) {
  if (x.shape() != expected) fail<ShapeError>(op, what, " of shape ", x.shape(), ", needs ", expected);
}

Sequences sequences_of(const char* op, std::int64_t gates, const Tensor& x, const Tensor& weight, const Tensor& h,
                       const RecurrenceOptions& options) {
  if (h.rank() != 2) fail<ShapeError>(op, "needs a state (B, h), got ", h.shape());
  // The width that x and weight agree on, so that an error blames a state of another; otherwise that of the state.
  const bool agree = x.rank() == 3 && weight.rank() == 2 && weight.dim(0) == x.dim(2) && x.dim(2) % gates == 0;
  const std::int64_t width = agree ? x.dim(2) / gates : h.dim(1);
  const std::int64_t B = x.rank() == 3 ? x.dim(0) : 0, T = x.rank() == 3 ? x.dim(1) : 0;
  if (x.rank() != 3 || x.dim(2) != gates * width || T == 0) {
    fail<ShapeError>(op, "needs projected inputs (B, T, ", gates * width, ") with T >= 1, got ", x.shape());
  }
  if (options.lengths && options.lengths->shape() != Shape{B}) {
    fail<ShapeError>(op, "lengths of shape ", options.lengths->shape(), " for ", B, " sequences");
  }
  for (std::int64_t b = 0; options.lengths && b < B; ++b) {
    const std::int64_t length = options.lengths->data()[b];
    if (length < 1 || length > T)
      fail<ValueError>(op, "length ", length, " of sequence ", b, " is not in [1, ", T, "]");
  }
  check_shape(op, "weight", weight, {gates * width, width});
  check_shape(op, "state", h, {B, width});
  return {.B = B, .T = T, .h = width, .reverse = options.reverse, .lengths = options.lengths};
}

Sequences lstm_sequences(const Tensor& x, const Tensor& weight, const Tensor& h, const Tensor& c,
                         const RecurrenceOptions& options) {
  Sequences sequences = sequences_of("lstm", 4, x, weight, h, options);
  check_shape("lstm", "memory", c, {sequences.B, sequences.h});
  return sequences;
}

Sequences gru_sequences(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& h,
                        const RecurrenceOptions& options) {
  Sequences sequences = sequences_of("gru", 3, x, weight, h, options);
  check_shape("gru", "bias", bias, {3 * sequences.h});
  return sequences;
}

// ---- All steps at once ----------------------------------------------------------------------------------------------

template <class Cell>
CellInputs arrays(const Inputs<Cell>& inputs) {
  return {inputs[0].value(), inputs[1].value(), inputs[2].value(), inputs.size() > 3 ? inputs.back().value() : Array()};
}

template <class Cell>
constexpr std::string_view nonlinearity = std::same_as<Cell, cells::Rnn<Squash::relu>> ? "relu" : "tanh";

// The state after each step, followed by an lstm's memory after the last.
template <class Cell>
Recurrence recurrence(const Sequences& sequences, const Inputs<Cell>& inputs) {
  const Tensor y = record_fused(
      Cell::name, inputs,
      [sequences](const auto&... own) {
        const Recurrence all = unrolled<Cell>(sequences, {own...});
        if (!Cell::memory) return all.output;
        return concat({all.output, unsqueeze(all.c, 1)}, 1);
      },
      [&] {
        const bool keep = recording() && std::ranges::any_of(inputs, &Tensor::requires_grad);
        SavedSteps saved;
        Array value = run_cells<Cell>(sequences, arrays<Cell>(inputs), keep ? SaveSteps::yes : SaveSteps::no, saved);
        return std::pair(std::move(value), [sequences, saved](const Inputs<Cell>& in, const Tensor& gy, Wanted wanted) {
          CellInputs g = cell_gradients<Cell>(sequences, arrays<Cell>(in), saved, gy.value(),
                                              {.weight = wanted[1], .last = in.size() > 3 && wanted[3]});
          Inputs<Cell> result{Tensor(std::move(g.x)), Tensor(), Tensor(std::move(g.h))};
          if (wanted[1]) result[1] = Tensor(std::move(g.weight));
          if constexpr (input_count < Cell >> 3) {
            if (wanted[3]) result[3] = Tensor(std::move(g.last));
          }
          return result;
        });
      },
      attribute("nonlinearity", unless<std::string_view>("tanh", nonlinearity<Cell>)),
      attribute("lengths", sequences.lengths), attribute("reverse", unless(false, sequences.reverse)),
      multiply_adds(inputs[0].size(), inputs[1].dim(1)));  // all gates of all steps, from the state before
  if constexpr (!Cell::memory) return {y, last_of(sequences, y)};
  const Tensor output = y[{_, slice(0, -1)}];
  return {output, last_of(sequences, output), y[{_, -1}]};
}

}  // namespace

Recurrence rnn(const Tensor& x, const Tensor& weight, const Tensor& h, Squash f, const RecurrenceOptions& options) {
  const Sequences sequences = sequences_of("rnn", 1, x, weight, h, options);
  return f == Squash::tanh ? recurrence<cells::Rnn<Squash::tanh>>(sequences, {x, weight, h})
                           : recurrence<cells::Rnn<Squash::relu>>(sequences, {x, weight, h});
}

Recurrence lstm(const Tensor& x, const Tensor& weight, const Tensor& h, const Tensor& c,
                const RecurrenceOptions& options) {
  return recurrence<cells::Lstm>(lstm_sequences(x, weight, h, c, options), {x, weight, h, c});
}

Recurrence gru(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& h,
               const RecurrenceOptions& options) {
  return recurrence<cells::Gru>(gru_sequences(x, weight, bias, h, options), {x, weight, h, bias});
}

}  // namespace xgrad
