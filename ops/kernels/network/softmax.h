// Softmax and variants over the last axis, row by row.
#pragma once

#include <optional>

#include "../../../core/array/array.h"

namespace xgrad {

/// How many entries of every row of x (B, ..., T, S) count, from the first: lengths (B), or (B, T) for each row.
struct RowLengths {
  Index lengths;
  std::int64_t rows_per_sequence = 1;
  std::int64_t steps = 1;  ///< T, or 1 where the rows of a sequence have equal lengths

  std::int64_t operator()(std::int64_t row) const {
    return lengths.data()[row / rows_per_sequence * steps + row % steps];
  }
};
/// y = e^x / sum e^x of the entries of every row that count, by default all, and 0 after them.
Array softmax_rows(const Array& x, const std::optional<RowLengths>& length = {});
/// The gradient from y, of the formula in ops/network/softmax.h; 0 after the entries that count.
Array softmax_gradient_rows(const Array& gy, const Array& y, const std::optional<RowLengths>& length = {});

/// y = x - ln sum e^x of every row.
Array log_softmax_rows(const Array& x);
/// The gradient from y, of the formula in ops/network/softmax.h.
Array log_softmax_gradient_rows(const Array& gy, const Array& y);

}  // namespace xgrad
