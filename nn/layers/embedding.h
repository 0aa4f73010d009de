// Embedding: a table of vectors, looked up by integers.
#pragma once

#include <optional>

#include "../layer.h"

namespace xgrad::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< this row begins as zeros and gets no gradient
  Init init = {};                                ///< if not given, normal with standard deviation 1
};

/// y = weight[ids]      ids (...) -> (..., dim);  the same as one_hot(ids) weight.
struct Embedding : LayerCall<Embedding> {
  using Options = EmbeddingOptions;

  /// Throws ValueError for sizes below 1 or a padding_idx outside [-count, count), which counts from the end below 0.
  Embedding(At here, std::int64_t count, std::int64_t dim, const Options& options = {});
  /// Says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit Embedding(Module::Placeless, const Rest&...);

  const Options options;  ///< without the init
  const std::int64_t count;
  const std::int64_t dim;
  const std::optional<std::int64_t> padding_idx;
  const Tensor weight;  ///< (count, dim)

  /// Throws ValueError for a number outside [0, count).
  Tensor forward(const Index& ids) const;

 protected:
  std::string extra_repr() const override { return str(count, " x ", dim); }
};

}  // namespace xgrad::nn
