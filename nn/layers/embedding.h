// Embedding: a table of vectors, indexed by integers.
#pragma once

#include <optional>

#include "../layer.h"

namespace xgrad::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< this row is initially 0 and gets no gradient
  Init init = {};                                ///< initial weight; by default normal with standard deviation 1
};

/// y = weight[ids]      ids (...) -> (..., dim); the same as one_hot(ids) weight
struct Embedding : LayerCall<Embedding> {
  using Options = EmbeddingOptions;

  /// Throws ValueError for sizes below 1 or a padding_idx outside [-count, count). A negative padding_idx counts from
  /// the end.
  Embedding(At here, std::int64_t count, std::int64_t dim, const Options& options = {});
  explicit Embedding(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  const Options options;  ///< without the Init
  const std::int64_t count;
  const std::int64_t dim;
  const std::optional<std::int64_t> padding_idx;
  const Tensor weight;  ///< (count, dim)

  /// Throws ValueError for an id outside [0, count).
  Tensor forward(const Index& ids) const;

 protected:
  std::string extra_repr() const override { return str(count, " x ", dim); }
};

}  // namespace xgrad::nn
