// Embedding: a table of vectors, looked up by whole numbers; EmbeddingBag, which adds them up.
#pragma once

#include <optional>

#include "../../ops/layers/embedding_bag.h"
#include "../layer.h"

namespace xgrad::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< this row begins as zeros and gets no gradient
  Init init = {};                                ///< if not given, normal with deviation 1
};

namespace detail {

/// The base of embeddings: a table of rows.
template <class Self, class OptionsOf>
struct TableLayer : LayerCall<Self> {
  using Options = OptionsOf;

  /// Throws ValueError for sizes below 1 or a padding_idx outside [-count, count), which counts from the end below 0.
  TableLayer(At here, std::int64_t count, std::int64_t dim, const Options& options = {});
  /// Says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit TableLayer(Module::Placeless, const Rest&...);

  const Options options;  ///< without the init
  const std::int64_t count;
  const std::int64_t dim;
  const std::optional<std::int64_t> padding_idx;
  const Tensor weight;  ///< (count, dim)

 protected:
  std::string settings() const override { return cat(count, " x ", dim); }
};

}  // namespace detail

/// y = weight[ids]      ids (...) -> (..., dim);  the same as one_hot(ids) weight.
struct Embedding : detail::TableLayer<Embedding, EmbeddingOptions> {
  using TableLayer::TableLayer;

  /// Throws ValueError for a number outside [0, count).
  Tensor forward(const Index& ids) const;
};

struct EmbeddingBagOptions {
  BagMode mode = BagMode::mean;
  std::optional<std::int64_t> padding_idx = {};  ///< this row begins as zeros and counts in no bag
  Init init = {};                                ///< if not given, normal with deviation 1
};

/// Sum, mean or largest elements of the rows of a bag: embedding_bag with a table of its own.
struct EmbeddingBag : detail::TableLayer<EmbeddingBag, EmbeddingBagOptions> {
  using TableLayer::TableLayer;

  /// Bags of one size, ids (B, L) -> (B, dim).
  Tensor forward(const Index& ids) const;
  /// Bags of any sizes in a list, each beginning at its offset. Throw as embedding_bag.
  Tensor forward(const Index& ids, const Index& offsets) const;
};

}  // namespace xgrad::nn
