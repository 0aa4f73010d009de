// Numbers and durations as text, the same in every locale; nothing here prints.
#pragma once

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <xgrad/core/base/text.h>

namespace xgrad::kit {

/// The shortest text that reads back as the same number: 42, 0.1 and 0.1f -> "0.1", 1e300 -> "1e+300"; also "nan",
/// "inf", "-inf".
template <class Number>
requires std::integral<Number> || std::floating_point<Number> std::string number(Number value) {
  if constexpr (std::floating_point<Number>) {
    if (std::isnan(value)) return "nan";  // without its sign
  }
  return str(value);
}

/// A fixed count of decimals, never "-0.00": fixed(3.14159, 2) -> "3.14". Throws ValueError unless 0 <= decimals <=
/// 100.
std::string fixed(double value, int decimals);

/// Time as people read it: 75.2 -> "1:15", 3725 -> "1:02:05"; negative or unknown (nan, inf) -> "-:--".
std::string duration(double seconds);

/// A value as text, made from a number or a string, for ProgressBar, CsvLogger, Table and ResultLine.
///
/// Threads: like a std::string.
class Field {
 public:
  template <class T>
  requires((std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool> && !std::same_as<T, char>)
      Field(T value)
      : text_(number(value)) {}
  Field(std::string text) : text_(std::move(text)) {}
  Field(std::string_view text) : text_(text) {}
  Field(const char* text) : text_(text) {}

  /// The value's text.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Fields with their names, in the order given: {{"loss", 0.031}, {"tok/s", fixed(rate, 0)}}.
using NamedFields = std::vector<std::pair<std::string, Field>>;

}  // namespace xgrad::kit
