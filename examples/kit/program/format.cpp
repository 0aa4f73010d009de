// Text of numbers through std::to_chars, which no locale touches.
#include <xgrad/kit/program/format.h>

#include <charconv>
#include <cmath>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

std::string fixed(double value, int decimals) {
  if (decimals < 0 || decimals > 100) fail<ValueError>("fixed", "decimals must be 0 to 100, got ", decimals);
  if (!std::isfinite(value)) return number(value);
  char digits[512];  // 309 before the point at most
  std::string text(digits,
                   std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals).ptr);
  if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string duration(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return "-:--";
  const long total = std::lround(seconds);
  const auto two_digits = [](long value) { return str(value < 10 ? "0" : "", value); };
  const long hours = total / 3600, minutes = total / 60 % 60;
  if (hours == 0) return str(minutes, ":", two_digits(total % 60));
  return str(hours, ":", two_digits(minutes), ":", two_digits(total % 60));
}

}  // namespace xgrad::kit
