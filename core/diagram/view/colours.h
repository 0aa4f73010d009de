// Colours as text and as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../../base/config.h"

namespace xgrad {

/// A colour, each part from 0 to 255.
struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

namespace detail {

/// The accepted notations and names of colours: "#rgb, #rrggbb, black, ...".
std::string colour_words();
/// The colour with this name; none if it is not among colour_words().
std::optional<Rgb> colour_of(std::string_view words);
/// "#0fa3c8".
std::string hex(const Rgb& colour);
/// Black or white, whichever is easier to read on `fill`.
Rgb readable_on(const Rgb& fill);

}  // namespace detail
}  // namespace xgrad
