// Bags of words: rows of a table, added up.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The reduction of the rows of a bag.
enum class BagMode {
  sum,   ///< their sum
  mean,  ///< their mean
  max,   ///< the largest of each column; equal ones share the gradient evenly
};

struct EmbeddingBagFuncOptions {
  BagMode mode = BagMode::mean;
  Tensor per_sample_weights = {};                ///< shaped like ids: a factor for each row; for sums only
  std::optional<std::int64_t> padding_idx = {};  ///< this row counts in no bag; from the end if negative
};

/// For each row of ids (B, L) the reduction of these rows of the table `weight` (V, C): (B, C). An empty bag gives 0.
/// Throws ShapeError, and ValueError for an id outside [0, V), a padding_idx outside [-V, V), or weights with another
/// mode than sum.
Tensor embedding_bag(const Tensor& weight, const Index& ids, const EmbeddingBagFuncOptions& options = {});
/// The same for bags of any sizes in one list of ids: bag b begins at offsets[b]. Throws ValueError, too, unless
/// offsets begin with 0, ascend and stay within the list.
Tensor embedding_bag(const Tensor& weight, const Index& ids, const Index& offsets,
                     const EmbeddingBagFuncOptions& options = {});

}  // namespace xgrad
