// What there is to say about the numbers of an array, in diagrams and reports.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../array/array.h"

namespace xgrad {

/// What is known of the numbers of a tensor.
struct NumbersSummary {
  Shape shape;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  std::int64_t zeros = 0;
  double least = 0;  ///< this and the next three: of those that are finite; 0 if none is
  double mean = 0;
  double greatest = 0;
  double deviation = 0;                   ///< standard deviation, divided by their count
  std::vector<std::int64_t> histogram{};  ///< how many in each of equally wide bins from least to greatest
  std::vector<Real> numbers{};            ///< all of them in row-major order, if they are few; else none
};

/// One that several views of the same run hold; nullptr: nothing is known.
using SharedSummary = std::shared_ptr<const NumbersSummary>;

struct SummaryOptions {
  int bins = 20;          ///< of the histogram
  int most_numbers = 64;  ///< an array with more elements is described without them
};

/// What there is to say about the numbers. Throws ValueError for fewer than one bin or a negative number of numbers.
NumbersSummary summary_of(const Array& array, const SummaryOptions& options = {});

/// The same, to be held by many.
SharedSummary shared_summary_of(const Array& array, const SummaryOptions& options = {});

/// In a line: `[[1, 2], [3, 4]]` if there are at most 8, else `-1.2 … 3.1, mean 0.5 ▁▃█▂`, and what is not finite.
std::string to_string(const NumbersSummary& summary);

namespace detail {

/// As rounded (base/text.h), but without the sign that a NaN may have.
std::string number_text(double number, int precision = 6);
/// A histogram in ten letters at most, an empty bin as a line.
std::string sparkline(const std::vector<std::int64_t>& histogram);
/// What is not finite: "3 NaN, 1 infinite"; empty if all is.
std::string words_for_not_finite(const NumbersSummary& summary);

}  // namespace detail

}  // namespace xgrad
