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

/// y = weight[ids]      ids (...) -> (..., dim);  the same as one_hot(ids) weight.
struct Embedding : Layer<Embedding> {
  using Options = EmbeddingOptions;

  /// Throws ValueError for sizes below 1 or a padding_idx outside [-count, count), which counts from the end below 0.
  Embedding(At here, std::int64_t count, std::int64_t dim, const Options& options = {});
  explicit Embedding(Placeless, ...);  ///< does not compile: no place

  /// Throws ValueError for a number outside [0, count).
  Tensor forward(const Index& ids) const;

  const std::int64_t count;
  const std::int64_t dim;
  const std::optional<std::int64_t> padding_idx;
  const Tensor weight;  ///< (count, dim)

 protected:
  std::string settings() const override;
};

struct EmbeddingBagOptions {
  BagMode mode = BagMode::mean;
  std::optional<std::int64_t> padding_idx = {};  ///< this row begins as zeros and counts in no bag
  Init init = {};                                ///< if not given, normal with deviation 1
};

/// Sum, mean or largest elements of the rows of a bag: embedding_bag with a table of its own.
struct EmbeddingBag : Layer<EmbeddingBag> {
  using Options = EmbeddingBagOptions;

  /// Throws ValueError for sizes below 1 or a padding_idx outside [-count, count), which counts from the end below 0.
  EmbeddingBag(At here, std::int64_t count, std::int64_t dim, const Options& options = {});
  explicit EmbeddingBag(Placeless, ...);  ///< does not compile: no place

  /// Bags of one size, ids (B, L) -> (B, dim).
  Tensor forward(const Index& ids) const;
  /// Bags of any sizes in a list, each beginning at its offset. Throw as embedding_bag.
  Tensor forward(const Index& ids, const Index& offsets) const;

  const std::int64_t count;
  const std::int64_t dim;
  const BagMode mode;
  const std::optional<std::int64_t> padding_idx;
  const Tensor weight;  ///< (count, dim)

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
