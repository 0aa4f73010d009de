// Steps that people count by, and no more digits than their distance needs.
#include <xgrad/kit/draw/ticks.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {

double round_step(double span, int count) {
  const double rough = span / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

std::vector<double> multiples(double step, double low, double high) {
  const double first = std::ceil(low / step - 1e-6), count = std::floor(high / step + 1e-6) - first;
  std::vector<double> result;
  for (std::int64_t i = 0; static_cast<double>(i) <= count; ++i) {  // first + i may be first again
    const double multiple = std::clamp((first + static_cast<double>(i)) * step, low, high);
    if (result.empty() || multiple > result.back()) result.push_back(multiple);
  }
  return result;
}

std::vector<double> nice_ticks(double low, double high, int count) {
  if (!(std::isfinite(low) && std::isfinite(high) && low < high && count >= 1)) {
    fail<ValueError>("nice_ticks", "no range from ", number(low), " to ", number(high), " in ", count, " parts");
  }
  const double step = round_step(high - low, count);
  if (!std::isnormal(step)) {
    fail<ValueError>("nice_ticks", "no numbers are so far apart as ", count, " from ", number(low), " to ",
                     number(high));
  }
  return multiples(step, low, high);
}

std::vector<std::string> tick_labels(const std::vector<double>& ticks) {
  struct Unit {
    double size;
    const char* sign;
  };
  static constexpr std::array<Unit, 5> units{{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}};
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
  double largest = 0;
  for (const double tick : ticks) largest = std::max(largest, std::abs(tick));
  const auto decimals = [&](double unit) {
    return std::clamp(static_cast<int>(-std::floor(std::log10(step / unit) + 1e-6)), 0, 100);
  };
  std::vector<std::string> labels;
  if (largest >= 1e15 || (largest < 1e-3 && decimals(1) > 4)) {
    const int exponent = static_cast<int>(std::floor(std::log10(largest) + 1e-6));
    const double power = std::pow(10.0, exponent);
    for (const double tick : ticks) {
      labels.push_back(tick == 0 ? "0" : fixed(tick / power, decimals(power)) + "×10" + superscript(exponent));
    }
    return labels;
  }
  std::size_t u = 0;  // no more digits than it takes: 20k, and not 20000
  while (u + 1 < units.size() && (step >= units[u + 1].size || largest >= (u == 0 ? 1e4 : 1e3) * units[u].size)) ++u;
  for (const double tick : ticks) {
    labels.push_back(fixed(tick / units[u].size, decimals(units[u].size)) + (tick == 0 ? "" : units[u].sign));
  }
  return labels;
}

std::string superscript(int exponent) {
  static constexpr std::string_view digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(exponent)) text += c == '-' ? "⁻" : digits[c - '0'];
  return text;
}

}  // namespace xgrad::kit
