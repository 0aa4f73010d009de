// Summaries of the numbers of an array, for diagrams and reports.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../array/array.h"

namespace xgrad {

/// A summary of the numbers of a tensor.
struct NumbersSummary {
  Shape shape;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  std::int64_t zeros = 0;
  double least = 0;  ///< this and the next three: of the finite numbers; 0 if there are none
  double mean = 0;
  double greatest = 0;
  double deviation = 0;                   ///< standard deviation, divided by their count
  std::vector<std::int64_t> histogram{};  ///< counts in 20 bins of equal width from least to greatest
  std::vector<Real> numbers{};            ///< all of them in row-major order, if they are at most 64; else none
};

/// A summary that several views of the same run share; nullptr: nothing is known.
using SharedSummary = std::shared_ptr<const NumbersSummary>;

/// The summary of an array.
NumbersSummary summary_of(const Array& array);

/// The same, to be shared.
SharedSummary shared_summary_of(const Array& array);

/// The summary on one line: `[[1, 2], [3, 4]]` if at most 8, else `-1.2 … 3.1, mean 0.5 ▁▃█▂`, NaN and infinity
/// counted.
std::string to_string(const NumbersSummary& summary);

namespace detail {

/// As rounded (base/text.h), but without the sign that a NaN may have.
std::string number_text(double number, int precision = 6);
/// A histogram in ten letters at most, an empty bin as a line.
std::string sparkline(const std::vector<std::int64_t>& histogram);
/// The numbers that are not finite, in words: "3 NaN, 1 infinite"; empty if there are none.
std::string words_for_not_finite(const NumbersSummary& summary);

}  // namespace detail

}  // namespace xgrad
