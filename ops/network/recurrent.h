// Recurrences: one direction of one recurrent layer through all steps of a batch of sequences, as one operation.
//
// One product projects the inputs of all steps beforehand: x = linear(sequence, w_ih, bias), (B, T, gates h). Step t
// then multiplies the previous state h by W, the argument `weight` (gates h, h), and computes the gates:
//
//     rnn     h' = f(x + W h)                                                      f = tanh or relu
//     lstm    i, f, g, o = x + W h                                                 (Hochreiter, Schmidhuber 1997)
//             c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c')
//     gru     x_r, x_z, x_n = x;   u_r, u_z, u_n = W h + b                         (Cho et al. 2014)
//             r = sigmoid(x_r + u_r),   z = sigmoid(x_z + u_z),   n = tanh(x_n + r u_n)
//             h' = (1 - z) n + z h
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"
#include "../kernels/registers/squash.h"

namespace xgrad {

/// Lengths and direction of a batch of sequences.
struct RecurrenceOptions {
  std::optional<Index> lengths{};  ///< (B): the number of valid steps of each sequence, from the first; by default T
  bool reverse = false;            ///< runs from the last valid step to the first
};

/// The results of a recurrence.
struct [[nodiscard]] Recurrence {
  Tensor output;  ///< (B, T, h): the state after each step, 0 for steps that are not valid
  Tensor h;       ///< (B, h): the final state, after all valid steps
  Tensor c{};     ///< (B, h): the final memory (cell state) of an lstm
};

/// The simple recurrence: x (B, T, h), weight (h, h), h (B, h). All three functions throw ShapeError when shapes do not
/// fit or T is 0, and ValueError for a length outside [1, T].
Recurrence rnn(const Tensor& x, const Tensor& weight, const Tensor& h, Squash f, const RecurrenceOptions& options = {});

/// The LSTM: x (B, T, 4h) with the gates i, f, g, o concatenated, weight (4h, h), h and c (B, h).
Recurrence lstm(const Tensor& x, const Tensor& weight, const Tensor& h, const Tensor& c,
                const RecurrenceOptions& options = {});

/// The GRU: x (B, T, 3h) with r, z, n concatenated, weight (3h, h), bias b (3h), h (B, h).
Recurrence gru(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& h,
               const RecurrenceOptions& options = {});

/// The recurrences unfused, step by step; they run under Plain.
namespace plain {
Recurrence rnn(const Tensor& x, const Tensor& weight, const Tensor& h, Squash f, const RecurrenceOptions& options = {});
Recurrence lstm(const Tensor& x, const Tensor& weight, const Tensor& h, const Tensor& c,
                const RecurrenceOptions& options = {});
Recurrence gru(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& h,
               const RecurrenceOptions& options = {});
}  // namespace plain

}  // namespace xgrad
