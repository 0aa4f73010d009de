// Rewind: a scope guard that undoes the changes of a call to a state, if the call throws.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/graph/tensor.h"

namespace xgrad::nn {

/// A scope guard for a state: its destructor restores the state unless keep() was called. A state whose class declares
/// `static constexpr bool restored_by_copy = true` is restored from a copy. A state that grows by positions, such as a
/// KeyValueCache, is cut to its earlier length. For objects of other types a Rewind does nothing. A Layer makes a
/// Rewind for each argument of its call.
///
///     Rewind undo(past);
///     const Tensor y = undo.keep(o(past.attend(layer, q, k, v, heads, dropout)));
template <class State>
class [[nodiscard]] Rewind {
  struct Nothing {};
  static constexpr bool by_copy = !std::is_const_v<State> && requires { requires State::restored_by_copy; };
  static constexpr bool by_length = !std::is_const_v<State> && requires(State & state, std::int64_t length) {
    { state.length() } -> std::same_as<std::int64_t>;
    state.rewind(length);
  };
  using Before = std::conditional_t<by_copy, State, std::conditional_t<by_length, std::int64_t, Nothing>>;

 public:
  [[nodiscard]] explicit Rewind(State& state) : state_(state), before_(before(state)) {}
  ~Rewind() {
    if constexpr (by_copy) {
      if (!kept_) state_ = std::move(before_);
    } else if constexpr (by_length) {
      if (!kept_ && state_.length() >= before_) state_.rewind(before_);
    }
  }
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;

  void keep() { kept_ = true; }
  Tensor keep(Tensor result) {
    keep();
    return result;
  }

 private:
  static Before before(const State& state) {
    if constexpr (by_copy) return state;
    if constexpr (by_length) return state.length();
    if constexpr (!by_copy && !by_length) return {};
  }

  State& state_;
  Before before_;
  bool kept_ = false;
};

}  // namespace xgrad::nn
