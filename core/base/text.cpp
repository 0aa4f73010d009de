// Untrusted text and sizes, made printable.
#include "text.h"

#include <algorithm>
#include <array>

namespace xgrad {
namespace {

// The length of the well-formed UTF-8 sequence at the beginning of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool outside = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  const bool no_character = lead == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
  return overlong || outside || no_character ? 0 : length;
}

// The character that a well-formed sequence stands for; U+FFFD for none.
std::uint32_t code_point(std::string_view sequence) {
  if (sequence.empty()) return 0xFFFD;
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  std::uint32_t point = lead & (0x7Fu >> sequence.size());
  for (const char c : sequence.substr(1)) point = point << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return point;
}

constexpr std::string_view hexadecimal = "0123456789abcdef";

// As C++ writes it: \u202e, \U0001f600.
void append_escape(std::string& out, std::uint32_t point) {
  const bool is_short = point < 0x10000;
  append(out, is_short ? "\\u" : "\\U");
  for (int shift = is_short ? 12 : 28; shift >= 0; shift -= 4) append(out, hexadecimal[point >> shift & 15]);
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::size_t shown = 100;
  const std::string_view end = text.size() > shown ? "\"..." : "\"";
  std::string result = "\"";
  for (text = text.substr(0, shown); !text.empty();) {
    const std::size_t length = utf8_length(text);
    const std::uint32_t point = code_point(text.substr(0, length));
    if (point == '\n') {
      append(result, "\\n");
    } else if (point >= ' ' && point <= '~') {
      append(result, str(point == '"' || point == '\\' ? "\\" : "", text[0]));
    } else {
      append_escape(result, point);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return str(result, end);
}

std::string detail::with_commas(std::int64_t count) {
  std::string digits = str(count);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) digits.insert(digits.begin() + i, ',');
  return digits;
}

std::string detail::bytes_text(double bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return str(rounded(bytes, 4), ' ', units[unit]);
}

std::string detail::printable(std::string_view text) {
  constexpr std::size_t longest = 200;
  const bool is_printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (is_printable && text.size() <= longest) return std::string(text);
  std::string result;
  while (!text.empty()) {
    if (result.size() > longest) return result + "\u2026";
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    if (first < 0x20 || first == 0x7F) {
      append(result, first == '\n' ? "\\n" : str("\\x", hexadecimal[first / 16], hexadecimal[first % 16]));
    } else {
      append(result, length == 0 ? std::string_view("\uFFFD") : text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

}  // namespace xgrad
