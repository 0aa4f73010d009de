// Weighted sums over neighbours along the rows and the columns of planes: averages in windows, interpolation.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// The most rows, columns or elements of an image.
inline constexpr std::int64_t largest_image_side = (std::int64_t{1} << 31) - 1;

/// A matrix (out, in) of which row i is 0 but for start[i + 1] - start[i] columns from first[i] on. These have
/// weights[start[i]] and so on, or 1 if there are no weights; the result of row i is then divided by divisors[i], if
/// there are any. Rows that are not 0 begin and end in the order of their numbers.
struct Band {
  std::int64_t in = 0;
  std::int64_t out = 0;
  Index first{};     ///< (out)
  Index start{};     ///< (out + 1)
  Array weights{};   ///< (start[out]) or empty
  Array divisors{};  ///< (out) or empty

  std::int64_t count(std::int64_t row) const { return start.data()[row + 1] - start.data()[row]; }
  const Real* weights_of(std::int64_t row) const {
    return weights.size() > 0 ? weights.data() + start.data()[row] : nullptr;
  }
};

/// Some columns of a row.
struct Span {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The band whose row i has 1 in the columns of span(i).
Band make_band(std::int64_t in, std::int64_t out, const auto& span) {
  Band band{.in = in, .out = out, .first = Index(Shape{out}), .start = Index(Shape{out + 1})};
  std::int64_t *first = band.first.mutable_data(), *start = band.start.mutable_data();
  start[0] = 0;
  for (std::int64_t i = 0; i < out; ++i) {
    const Span columns = span(i);
    first[i] = columns.first;
    start[i + 1] = start[i] + columns.count;
  }
  return band;
}

/// The band whose row i has weight(i, column) in the columns of span(i).
template <class SpanOf, class Weight>
Band make_band(std::int64_t in, std::int64_t out, const SpanOf& span, const Weight& weight) {
  Band band = make_band(in, out, span);
  band.weights = Array(Shape{band.start.data()[out]});
  Real* to = band.weights.mutable_data();
  for (std::int64_t i = 0; i < out; ++i) {
    for (std::int64_t k = 0; k < band.count(i); ++k) *to++ = weight(i, band.first.data()[i] + k);
  }
  return band;
}

/// The matrix transposed, divisors left out.
Band transposed(const Band& band);

/// y = rows x columns' for each plane of x: (planes, rows.in, columns.in) -> (planes, rows.out, columns.out). Both
/// bands have divisors, or neither.
Array resampled(std::int64_t planes, const Array& x, const Band& rows, const Band& columns);

}  // namespace xgrad
