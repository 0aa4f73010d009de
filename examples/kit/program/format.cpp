// Text of numbers through std::to_chars, which no locale touches.
#include <xgrad/kit/program/format.h>

#include <charconv>
#include <cmath>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

template <class... Arguments>
std::string converted(Arguments... arguments) {
  char buffer[512];  // the longest double in fixed notation with a few decimals has about 330 characters
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, arguments...);
  if (error != std::errc()) fail<LimitError>("format", "number too long");
  return std::string(buffer, end);
}

}  // namespace

std::string number(double value) { return std::isnan(value) ? "nan" : converted(value); }

std::string number(float value) { return std::isnan(value) ? "nan" : converted(value); }

std::string fixed(double value, int decimals) {
  if (decimals < 0 || decimals > 100) fail<ValueError>("fixed", "decimals must be 0 to 100, got ", decimals);
  if (!std::isfinite(value)) return number(value);
  std::string text = converted(value, std::chars_format::fixed, decimals);
  if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string duration(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return "-:--";
  const long total = std::lround(seconds);
  const auto two_digits = [](long value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  const long hours = total / 3600, minutes = total / 60 % 60;
  if (hours == 0) return std::to_string(minutes) + ":" + two_digits(total % 60);
  return std::to_string(hours) + ":" + two_digits(minutes) + ":" + two_digits(total % 60);
}

}  // namespace xgrad::kit
