// Cross-entropy of logits and classes: softmax, logarithm and choice in one pass over each row.
#pragma once

#include <optional>

#include "../../../core/array/array.h"

namespace xgrad {

/// The classes of a batch of rows, checked.
struct Targets {
  Index classes;  ///< (...)
  std::optional<std::int64_t> ignored;
  Real smoothing;
  std::int64_t V;

  bool counts(std::int64_t row) const { return !ignored || classes.data()[row] != *ignored; }
  std::int64_t counted() const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < classes.size(); ++i) count += counts(i);
    return count;
  }
};

/// The results of the forward pass, with the totals for the backward pass.
struct CrossEntropyRows {
  Array losses;
  Array totals;  ///< (rows, 2): shift and total of every row that counts
};
CrossEntropyRows cross_entropy_rows(const Array& logits, const Targets& targets);

/// gy_i (mass p - q) for each row: p = softmax, q the smoothed target, mass the sum of q. One gy may serve all.
/// Overwrites the logits if nothing else holds them.
Array cross_entropy_gradient_rows(Array logits, const Targets& targets, const Array& totals, const Array& gy);

}  // namespace xgrad
