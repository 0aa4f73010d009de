// Colours as text and as numbers.
#include "colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "../../base/text.h"

namespace xgrad::detail {
namespace {

using Named = std::pair<std::string_view, Rgb>;

// The names and values of CSS.
constexpr std::array<Named, 16> names{{{"black", {0, 0, 0}},
                                       {"blue", {0, 0, 255}},
                                       {"brown", {165, 42, 42}},
                                       {"cyan", {0, 255, 255}},
                                       {"gold", {255, 215, 0}},
                                       {"gray", {128, 128, 128}},
                                       {"green", {0, 128, 0}},
                                       {"lightgray", {211, 211, 211}},
                                       {"magenta", {255, 0, 255}},
                                       {"navy", {0, 0, 128}},
                                       {"orange", {255, 165, 0}},
                                       {"pink", {255, 192, 203}},
                                       {"purple", {128, 0, 128}},
                                       {"red", {255, 0, 0}},
                                       {"white", {255, 255, 255}},
                                       {"yellow", {255, 255, 0}}}};

constexpr std::string_view digits = "0123456789abcdef";

// The value of a hexadecimal digit of either case, or npos.
std::size_t digit(char c) { return digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c); }

// The brightness that the eye sees (Web Content Accessibility Guidelines 2.0, relative luminance).
double luminance(const Rgb& colour) {
  const auto linear = [](std::uint8_t part) {
    const double share = part / 255.0;
    return share <= 0.03928 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

}  // namespace

std::string colour_words() {
  std::string words = "#rgb, #rrggbb";
  for (const auto& [name, colour] : names) append(words, cat(", ", name));
  return words;
}

std::optional<Rgb> colour_of(std::string_view words) {
  if (const auto named = std::ranges::find(names, words, &Named::first); named != names.end()) return named->second;
  if ((words.size() != 4 && words.size() != 7) || words[0] != '#') return std::nullopt;
  const std::size_t each = words.size() / 3;  // digits of a part
  std::array<std::uint8_t, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t high = digit(words[1 + each * i]), low = digit(words[each * (i + 1)]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    parts[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return Rgb{parts[0], parts[1], parts[2]};
}

std::string hex(const Rgb& colour) {
  std::string text = "#";
  for (const std::uint8_t part : {colour.red, colour.green, colour.blue}) {
    text += digits[part / 16];
    text += digits[part % 16];
  }
  return text;
}

// The contrast of x with white is 1.05 / (x + 0.05), with black (x + 0.05) / 0.05; they meet at 0.179.
Rgb readable_on(const Rgb& fill) { return luminance(fill) > 0.179 ? Rgb{0, 0, 0} : Rgb{255, 255, 255}; }

}  // namespace xgrad::detail
