// The formulas of the recurrent cells, for registers and for tensors, and their backward passes for registers.
#pragma once

#include <array>

#include "../registers/simd.h"
#include "../registers/squash.h"

namespace xgrad::cells {

/// One step. V is a Pack or a Tensor: x the input's part of each gate, u the state's part, `carried` the part of the
/// previous state that enters without a product (an lstm's c, a gru's h).
template <class V, std::size_t saved_count>
struct Stepped {
  V h, c;                            ///< the new state, and an lstm's new memory
  std::array<V, saved_count> saved;  ///< for the backward pass
};

/// One step back: the gradients of x, of u where it differs, and of `carried`.
template <std::size_t gates>
struct SteppedBack {
  std::array<Pack, gates> x, u;
  Pack carried;
};

inline Pack relu(const Pack& v) { return maximum(v, 0); }

template <Squash squash>
struct Rnn {
  static constexpr const char* name = "rnn";
  static constexpr std::size_t gates = 1, saved = 1;
  static constexpr bool memory = false;    // carries a c besides h
  static constexpr bool separate = false;  // the gradients of x and u differ
  static constexpr bool has_bias = false;  // u has its own bias

  template <class V>
  static Stepped<V, saved> step(const std::array<V, 1>& x, const std::array<V, 1>& u, const V&) {
    V h;
    if constexpr (squash == Squash::tanh) {
      h = tanh(x[0] + u[0]);
    } else {
      h = relu(x[0] + u[0]);
    }
    return {.h = h, .c = {}, .saved = {h}};
  }
  static SteppedBack<1> back(const Pack& gh, const Pack&, const std::array<Pack, saved>& y, const Pack&) {
    if constexpr (squash == Squash::tanh) {
      return {.x = {gh * (1 - y[0] * y[0])}, .u = {}, .carried = 0};
    } else {
      return {.x = {where(y[0] > 0, gh, Pack(0))}, .u = {}, .carried = 0};
    }
  }
};

struct Lstm {
  static constexpr const char* name = "lstm";
  static constexpr std::size_t gates = 4, saved = 5;
  static constexpr bool memory = true, separate = false, has_bias = false;

  template <class V>
  static Stepped<V, saved> step(const std::array<V, 4>& x, const std::array<V, 4>& u, const V& c) {
    const V i = sigmoid(x[0] + u[0]), f = sigmoid(x[1] + u[1]), g = tanh(x[2] + u[2]), o = sigmoid(x[3] + u[3]);
    const V next = f * c + i * g, squashed = tanh(next);
    return {.h = o * squashed, .c = next, .saved = {i, f, g, o, squashed}};
  }
  static SteppedBack<4> back(const Pack& gh, const Pack& gc_later, const std::array<Pack, saved>& values,
                             const Pack& c) {
    const auto& [i, f, g, o, squashed] = values;
    const Pack gc = gc_later + gh * o * (1 - squashed * squashed);
    return {.x = {gc * g * i * (1 - i), gc * c * f * (1 - f), gc * i * (1 - g * g), gh * squashed * o * (1 - o)},
            .u = {},
            .carried = gc * f};
  }
};

struct Gru {
  static constexpr const char* name = "gru";
  static constexpr std::size_t gates = 3, saved = 4;
  static constexpr bool memory = false, separate = true, has_bias = true;

  template <class V>
  static Stepped<V, saved> step(const std::array<V, 3>& x, const std::array<V, 3>& u, const V& h) {
    const V r = sigmoid(x[0] + u[0]), z = sigmoid(x[1] + u[1]), n = tanh(x[2] + r * u[2]);
    return {.h = n + z * (h - n), .c = {}, .saved = {r, z, n, u[2]}};
  }
  static SteppedBack<3> back(const Pack& gh, const Pack&, const std::array<Pack, saved>& values, const Pack& h) {
    const auto& [r, z, n, u] = values;
    const Pack gn = gh * (1 - z) * (1 - n * n), gr = gn * u * r * (1 - r), gz = gh * (h - n) * z * (1 - z);
    return {.x = {gr, gz, gn}, .u = {gr, gz, gn * r}, .carried = gh * z};
  }
};

}  // namespace xgrad::cells
