// Values as text for messages, names and files: the shortest form that reads back, independent of the locale.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "config.h"

namespace xgrad {

inline void append(std::string& out, std::string_view text) { out += text; }
inline void append(std::string& out, const char* text) { out += text; }
inline void append(std::string& out, const std::string& text) { out += text; }
inline void append(std::string& out, char c) { out += c; }
inline void append(std::string& out, bool value) { out += value ? "true" : "false"; }

template <class T>
requires((std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool> &&
         !std::same_as<T, char>) void append(std::string& out, T value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

namespace detail {
template <class T>
concept HasElements = requires(const T& list) {
  list.begin();
  list.end();
};
template <class T>
concept HasText = !HasElements<T> && requires(const T& value) {
  to_string(value);
};
}  // namespace detail

/// Appends a list in brackets: `[2, 3]`.
template <detail::HasElements Range>
void append(std::string& out, const Range& values) {
  out += '[';
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += ", ";
    first = false;
    append(out, value);
  }
  out += ']';
}

/// Appends a report, a tensor, a module: what to_string() gives.
template <detail::HasText T>
void append(std::string& out, const T& value) {
  out += to_string(value);
}

/// The text of the parts, one after the other: `str("axis ", 3)` is "axis 3". (Tensors are joined by concat.)
template <class... Parts>
std::string str(const Parts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

/// Text as errors show names from files: in double quotes, at most about 100 bytes, everything but printable ASCII
/// escaped.
std::string escaped(std::string_view text);

namespace detail {

/// A number with at most `precision` digits: `0.333333`, `1e-07`, `nan`.
inline std::string rounded(double value, int precision = 6) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, precision).ptr};
}

/// 1234567 as "1,234,567".
std::string with_commas(std::int64_t count);

/// Bytes for people, with four digits: "1.5 KiB".
std::string bytes_text(double bytes);

/// Untrusted text made printable: control bytes become \n or \x07, invalid UTF-8 becomes U+FFFD, and text of more than
/// about 200 bytes is cut.
std::string printable(std::string_view text);

}  // namespace detail

}  // namespace xgrad
