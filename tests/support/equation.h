// The values of printed formulas: reads "s (1 - s) with s = sigmoid x" and calculates.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace xgrad::testing {

/// The value of an expression as Symbol::text() prints it, where letters have these values. Throws std::runtime_error,
/// with the place, for anything else.
double value_of(std::string_view text, std::map<std::string, double> letters);

}  // namespace xgrad::testing
