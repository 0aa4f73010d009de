// Checks of the numbers and states that optimizers and schedules are given.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "../core/error.h"
#include "../core/files/state.h"

namespace xgrad::optim::detail {

/// `value`, if it is finite and not negative. Throws ValueError otherwise, for the option `name` of `who`.
inline double not_negative(std::string_view who, std::string_view name, double value) {
  if (!(value >= 0) || std::isinf(value)) fail<ValueError>(who, name, " must be finite and not negative, got ", value);
  return value;
}

/// `value`, if 0 <= value < 1. Throws ValueError otherwise.
inline double below_one(std::string_view who, std::string_view name, double value) {
  if (!(value >= 0 && value < 1)) fail<ValueError>(who, name, " must be in [0, 1), got ", value);
  return value;
}

/// Whether a state can hold this count of steps: beyond 2^53 a formula would not see the next one.
inline bool possible_steps(std::int64_t steps) { return steps >= 0 && steps <= std::int64_t{1} << 53; }

/// Throws FormatError: `parts` is what is wrong with a state.
template <class... Parts>
[[noreturn]] void refuse(const StateFile& state, const Parts&... parts) {
  fail<FormatError>("load_state_dict", state.source, state.source.empty() ? "" : ": ", parts...);
}

}  // namespace xgrad::optim::detail
