// Counting and printing.
#include "summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "../base/text.h"

namespace xgrad {
namespace {

constexpr int bins = 20;                   // of the histogram
constexpr std::int64_t most_numbers = 64;  // larger arrays are described without their numbers

// Rows in brackets.
void append_nested(std::string& text, const NumbersSummary& summary, int axis, std::size_t& next) {
  if (axis == summary.shape.rank()) {
    append(text, detail::number_text(summary.numbers[next++], summary.numbers.size() == 1 ? 4 : 3));
    return;
  }
  text += '[';
  for (std::int64_t i = 0; i < summary.shape[axis]; ++i) {
    if (i > 0) text += ", ";
    append_nested(text, summary, axis + 1, next);
  }
  text += ']';
}

}  // namespace

NumbersSummary summary_of(const Array& array) {
  NumbersSummary result{.shape = array.shape()};
  double least = std::numeric_limits<double>::infinity(), greatest = -least, sum = 0;
  std::int64_t finite = 0;
  for (const Real number : array) {
    if (std::isnan(number)) {
      ++result.nans;
    } else if (std::isinf(number)) {
      ++result.infinities;
    } else {
      const double x = number;
      result.zeros += x == 0;
      least = std::min(least, x);
      greatest = std::max(greatest, x);
      sum += x;
      ++finite;
    }
  }
  if (array.size() <= most_numbers) result.numbers.assign(array.begin(), array.end());
  if (finite == 0) return result;
  result.least = least;
  result.greatest = greatest;
  result.mean = std::clamp(sum / static_cast<double>(finite), least, greatest);
  result.histogram.resize(static_cast<std::size_t>(bins));
  double squares = 0;
  // Halves in units of a power of two: neither differences nor squares leave the range of double.
  const double half = result.mean / 2, most = std::max(greatest / 2 - half, half - least / 2);
  const int unit = std::max(std::ilogb(most), -1000);
  const double per_unit = std::ldexp(1, -unit);
  const double width = (greatest / 2 - least / 2) / bins;  // of halves: the difference may overflow
  for (const Real number : array) {
    if (!std::isfinite(number)) continue;
    const double x = number, off = (x / 2 - half) * per_unit;
    squares += off * off;
    const double bin = width > 0 ? (x / 2 - least / 2) / width : 0;
    ++result.histogram[static_cast<std::size_t>(std::min(bin, bins - 1.0))];
  }
  result.stddev = std::ldexp(std::sqrt(squares / static_cast<double>(finite)), unit + 1);
  return result;
}

SharedSummary shared_summary_of(const Array& array) {
  return std::make_shared<const NumbersSummary>(summary_of(array));
}

std::string to_string(const NumbersSummary& summary) {
  std::string text;
  const std::int64_t count = summary.shape.numel();
  if (count <= 8 && std::cmp_equal(summary.numbers.size(), count)) {
    std::size_t next = 0;
    append_nested(text, summary, 0, next);
    return text;
  }
  if (!summary.histogram.empty()) {
    const auto number = [](double x) { return detail::rounded(x, 3); };
    text = str(number(summary.least), " \u2026 ", number(summary.greatest), ", mean ", number(summary.mean), ' ',
               detail::sparkline(summary.histogram));
  }
  const std::string others = detail::words_for_not_finite(summary);
  return str(text, text.empty() || others.empty() ? "" : ", ", others);
}

std::string detail::number_text(double number, int precision) {
  return std::isnan(number) ? "nan" : rounded(number, precision);
}

std::string detail::sparkline(const std::vector<std::int64_t>& histogram) {
  static constexpr std::array bars{"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  constexpr std::size_t letters = 10;
  std::vector<std::int64_t> counts(std::min(letters, histogram.size()));
  for (std::size_t i = 0; i < histogram.size(); ++i) counts[i * counts.size() / histogram.size()] += histogram[i];
  const std::int64_t most = std::ranges::max(counts);
  std::string text;
  for (const std::int64_t count : counts) {
    text += bars[static_cast<std::size_t>(count == 0 ? 0 : std::max<std::int64_t>(7 * count / most, 1))];
  }
  return text;
}

std::string detail::words_for_not_finite(const NumbersSummary& summary) {
  std::string text;
  if (summary.nans > 0) text = str(summary.nans, " NaN");
  if (summary.infinities > 0) append(text, str(text.empty() ? "" : ", ", summary.infinities, " infinite"));
  return text;
}

}  // namespace xgrad
