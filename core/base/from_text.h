// Numbers from text, the same under every locale, also where the standard library has no std::from_chars for reals:
// libc++ before 20, and macOS before 26.
#pragma once

#include <stdlib.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>  // macOS
#else
#include <locale.h>
#endif

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>

namespace xgrad::detail {

/// std::from_chars for reals by the C library.
template <std::floating_point Number>
std::from_chars_result real_by_c_library(const char* begin, const char* end, Number& value) {
  static const locale_t classic = newlocale(LC_ALL_MASK, "C", nullptr);
  // The C library also reads blanks, a plus and hexadecimal digits.
  constexpr std::string_view no_begin = " \t\n\v\f\r+";
  if (begin == end || no_begin.find(*begin) != no_begin.npos) return {begin, std::errc::invalid_argument};
  const std::string text(begin, std::find_if(begin, end, [](char c) { return c == 'x' || c == 'X'; }));
  char* stop = nullptr;
  Number number = 0;
  errno = 0;
  if constexpr (std::same_as<Number, float>) {
    number = strtof_l(text.c_str(), &stop, classic);
  } else {
    number = strtod_l(text.c_str(), &stop, classic);
  }
  if (stop == text.c_str()) return {begin, std::errc::invalid_argument};
  const char* const after = begin + (stop - text.c_str());
  // Subnormal numbers, which are in range, set errno, too.
  if (errno == ERANGE && (number == 0 || std::isinf(number))) return {after, std::errc::result_out_of_range};
  value = number;
  return {after, std::errc()};
}

/// std::from_chars for all numbers.
template <class Number>
std::from_chars_result from_text(const char* begin, const char* end, Number& value) {
  if constexpr (requires { std::from_chars(begin, end, value); }) {
    return std::from_chars(begin, end, value);
  } else {
    return real_by_c_library(begin, end, value);
  }
}

}  // namespace xgrad::detail
