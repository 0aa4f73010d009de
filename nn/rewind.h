// Rewind: when a call throws, the states that it has changed are as before.
#pragma once

#include "../core/graph/tensor.h"

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace xgrad::nn {

/// A scope guard that rewinds a state that grows by positions, such as a KeyValueCache, unless keep() is reached. The
/// state has length() and rewind(length). A Layer makes one for each such argument of its call.
///
///     Rewind undo(past);
///     const Tensor y = undo.keep(o(past.attend(layer, q, k, v, heads, dropout)));
template <class State>
class [[nodiscard]] Rewind {
 public:
  [[nodiscard]] explicit Rewind(State& state) : state_(state), length_(state.length()) {}
  ~Rewind() {
    if (!kept_ && state_.length() >= length_) state_.rewind(length_);
  }
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;

  Tensor keep(Tensor result = {}) {
    kept_ = true;
    return result;
  }

 private:
  State& state_;
  std::int64_t length_;
  bool kept_ = false;
};

/// The same for a state of a few tensors, which is copied. The state says so:
/// `static constexpr bool restored_by_copy = true`.
template <class State>
requires State::restored_by_copy class [[nodiscard]] Rewind<State> {
 public:
  [[nodiscard]] explicit Rewind(State& state) : state_(state), before_(state) {}
  ~Rewind() {
    if (!kept_) state_ = std::move(before_);
  }
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;

  void keep() { kept_ = true; }

 private:
  State& state_;
  State before_;
  bool kept_ = false;
};

namespace detail {

/// Types of states that a call may change and a Rewind restores.
template <class State>
concept Rewound = !std::is_const_v<State> && (requires { requires State::restored_by_copy; } ||
                                              requires(State& state, std::int64_t length) {
                                                { state.length() } -> std::same_as<std::int64_t>;
                                                state.rewind(length);
                                              });
/// The guard of any other argument.
struct NotRewound {
  template <class T>
  explicit NotRewound(const T&) {}
  void keep() {}
};
template <class Argument>
struct GuardOf {
  using Type = NotRewound;
};
template <Rewound State>
struct GuardOf<State> {
  using Type = Rewind<State>;
};
template <class Argument>
using Guard = typename GuardOf<Argument>::Type;

}  // namespace detail

}  // namespace xgrad::nn
