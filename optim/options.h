// Checks of the numbers and states that optimizers and schedules are given.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../core/base/error.h"
#include "../core/base/from_text.h"
#include "../core/base/text.h"
#include "../core/files/state.h"
#include "named_option.h"

namespace xgrad::optim::detail {

/// `value`, if it is finite and not negative. Throws ValueError otherwise, for the option `name` of `who`.
inline double not_negative(std::string_view who, std::string_view name, double value) {
  if (!(value >= 0) || std::isinf(value)) fail<ValueError>(who, name, " ", value, " is negative or not finite");
  return value;
}

/// `value`, if 0 <= value < 1. Throws ValueError otherwise.
inline double below_one(std::string_view who, std::string_view name, double value) {
  if (!(value >= 0 && value < 1)) fail<ValueError>(who, name, " ", value, " is not in [0, 1)");
  return value;
}

/// Whether a state can hold this count of steps: beyond 2^53 a formula would not see the next one.
inline bool possible_steps(std::int64_t steps) { return steps >= 0 && steps <= std::int64_t{1} << 53; }

/// 1 - beta^t, accurate for every t.
inline double bias_correction(double beta, std::int64_t t) {
  return -std::expm1(static_cast<double>(t) * std::log(beta));
}

/// `value`, if it is at least 1. Throws ValueError otherwise.
inline std::int64_t at_least_one(std::string_view who, std::string_view name, std::int64_t value) {
  if (value < 1) fail<ValueError>(who, name, " ", value, " is not positive");
  return value;
}

/// Throws FormatError: `parts` say what is wrong with a state.
template <class... Parts>
[[noreturn]] void refuse(const StateFile& state, const Parts&... parts) {
  fail<FormatError>("load_state_dict", state.source, state.source.empty() ? "" : ": ", parts...);
}

/// A number that a state has as text. Throws FormatError if it is none, with `what` for its name.
inline double number_in(const StateFile& state, const std::string& key, std::string_view what) {
  const std::string& text = state.text(key);
  double value = 0;
  const auto result = xgrad::detail::from_text(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    refuse(state, escaped(text), " is no ", what);
  }
  return value;
}

/// A learning rate of a state. Throws FormatError if it is none.
inline double rate_in(const StateFile& state, const std::string& key) {
  const double value = number_in(state, key, "learning rate");
  if (!(value >= 0) || std::isinf(value)) refuse(state, escaped(state.text(key)), " is no learning rate");
  return value;
}

/// Writes options into a state, each name with this suffix.
inline void add_named_options(StateFile& state, const std::vector<NamedOption>& all, std::string_view suffix = {}) {
  for (const auto& [name, value, range] : all) state.metadata[str(name, suffix)] = str(value);
}

/// Throws FormatError for an option that has another value in the state. A state without the option fits.
inline void check_named_options(const StateFile& state, const std::vector<NamedOption>& all,
                                std::string_view suffix = {}, std::string_view where = {}) {
  for (const auto& [name, value, range] : all) {
    const std::string key = str(name, suffix);
    if (!state.metadata.contains(key)) continue;
    if (const double before = number_in(state, key, name); before != value) {
      refuse(state, "taken with ", name, " ", before, where, ", not ", value);
    }
  }
}

/// An integer of a state that counts something. Throws FormatError if it is none.
inline std::int64_t count_in(const StateFile& state, std::string_view name, std::string_view what) {
  const Index& count = state.get<Index>(name);
  if (count.rank() != 0) refuse(state, escaped(name), " ", count.shape(), " for []");
  if (!possible_steps(count.item())) refuse(state, what, " ", count.item(), " steps");
  return count.item();
}

}  // namespace xgrad::optim::detail
