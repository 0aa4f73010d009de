// Numbers for people, in reports.
#pragma once

#include <charconv>
#include <string>

#include "config.h"

namespace xgrad::detail {

/// At most so many digits, whatever the locale: `0.333333`, `1e-07`, `nan`.
inline std::string rounded(double value, int precision = 6) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, precision).ptr};
}

}  // namespace xgrad::detail
