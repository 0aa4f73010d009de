// Embedding: a table of vectors, looked up by whole numbers.
#pragma once

#include <optional>

#include "module.h"

namespace xgrad::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< this row begins as zeros and gets no gradient
  Init init = {};                                ///< if not given, normal with deviation 1
};

/// y = weight[ids]      ids (...) -> (..., dim);  the same as one_hot(ids) weight.
struct Embedding : Module {
  using Options = EmbeddingOptions;

  /// Throws ValueError for sizes below 1 or a padding_idx outside [-count, count), which counts from the end below 0.
  Embedding(At here, std::int64_t count, std::int64_t dim, const Options& options = {});
  explicit Embedding(Placeless, ...);  ///< does not compile: no place

  /// Throws ValueError for a number outside [0, count).
  Tensor operator()(const Index& ids) const;

  const std::int64_t count;
  const std::int64_t dim;
  const std::optional<std::int64_t> padding_idx;
  const Tensor weight;  ///< (count, dim)

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
