// Summaries of the elements of an array, for diagrams and reports.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../array/array.h"

namespace xgrad {

/// A summary of the elements of an array.
struct NumbersSummary {
  Shape shape;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  std::int64_t zeros = 0;
  double least = 0;  ///< least, mean, greatest and stddev are of the finite elements; 0 if there are none
  double mean = 0;
  double greatest = 0;
  double stddev = 0;                      ///< the standard deviation with the divisor n
  std::vector<std::int64_t> histogram{};  ///< counts in 20 bins of equal width from least to greatest
  std::vector<Real> numbers{};            ///< all elements in row-major order if there are at most 64, else none
};

/// A summary that several views of one run share, or nullptr if there is none.
using SharedSummary = std::shared_ptr<const NumbersSummary>;

/// Computes the summary of an array.
NumbersSummary summary_of(const Array& array);
SharedSummary shared_summary_of(const Array& array);

/// The summary on one line: `[[1, 2], [3, 4]]` for at most 8 elements, else `-1.2 … 3.1, mean 0.5 ▁▃█▂` and the counts
/// of NaN and infinity.
std::string to_string(const NumbersSummary& summary);

namespace detail {

/// A number as rounded() prints it (base/text.h), without the sign that a NaN may have.
std::string number_text(double number, int precision = 6);
/// A histogram as a line of at most ten block characters.
std::string sparkline(const std::vector<std::int64_t>& histogram);
/// The counts of elements that are not finite: "3 NaN, 1 infinite"; empty if there are none.
std::string words_for_not_finite(const NumbersSummary& summary);

}  // namespace detail

}  // namespace xgrad
