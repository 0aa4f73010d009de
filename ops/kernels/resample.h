// Weighted sums over neighbours along the rows and the columns of planes: averages in windows, interpolation.
#pragma once

#include "../../core/array.h"

namespace xgrad {

/// A matrix (out, in) of which row i is 0 but for weights[start[i]] ... weights[start[i + 1] - 1] from column first[i]
/// on.
struct Band {
  std::int64_t in = 0;
  std::int64_t out = 0;
  Index first;  ///< (out)
  Index start;  ///< (out + 1)
  Array weights;
};

/// Some columns of a row.
struct Span {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The band whose row i has weight(i, column) in the columns of span(i).
template <class SpanOf, class Weight>
Band make_band(std::int64_t in, std::int64_t out, const SpanOf& span, const Weight& weight) {
  Band band{.in = in, .out = out, .first = Index(Shape{out}), .start = Index(Shape{out + 1}), .weights = {}};
  std::int64_t *first = band.first.mutable_data(), *start = band.start.mutable_data();
  start[0] = 0;
  for (std::int64_t i = 0; i < out; ++i) {
    const Span columns = span(i);
    first[i] = columns.first;
    start[i + 1] = start[i] + columns.count;
  }
  band.weights = Array(Shape{start[out]});
  Real* to = band.weights.mutable_data();
  for (std::int64_t i = 0; i < out; ++i) {
    for (std::int64_t k = start[i]; k < start[i + 1]; ++k) to[k] = weight(i, first[i] + k - start[i]);
  }
  return band;
}

/// The matrix transposed. Rows with weights must begin and end in the order of their numbers.
Band transposed(const Band& band);

/// y = rows x columns' for each plane of x: (planes, rows.in, columns.in) -> (planes, rows.out, columns.out).
Array resampled(std::int64_t planes, const Array& x, const Band& rows, const Band& columns);

}  // namespace xgrad
