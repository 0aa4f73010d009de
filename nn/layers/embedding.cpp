// Embedding.
#include "embedding.h"

#include "../../ops/indexing/index.h"

namespace xgrad::nn {
namespace {

std::optional<std::int64_t> from_start(std::optional<std::int64_t> row, std::int64_t count) {
  if (!row) return row;
  if (*row < -count || *row >= count) fail<ValueError>("embedding", "padding_idx ", *row, " of ", count, " rows");
  return *row < 0 ? *row + count : *row;
}

// The row for padding begins as zeros, unless an Init was given.
void clear_padding(const Tensor& weight, std::optional<std::int64_t> row, const Init& given) {
  if (!row || given) return;
  const std::int64_t dim = weight.dim(1);
  weight.update([&](Array& table) { std::fill_n(table.mutable_data() + *row * dim, dim, Real(0)); });
}

}  // namespace

Embedding::Embedding(At here, std::int64_t rows, std::int64_t width, const Options& given)
    : LayerCall(std::move(here)),
      options([&] {
        Options stored = given;
        stored.init = {};  // which may hold as many numbers as the table
        return stored;
      }()),
      count(positive("count", rows)),
      dim(positive("dim", width)),
      padding_idx(from_start(options.padding_idx, count)),
      weight(param("weight", {count, dim}, given.init ? given.init : init::normal(), Decay::no)) {
  clear_padding(weight, padding_idx, given.init);
}

Tensor Embedding::forward(const Index& ids) const { return embedding(weight, ids, {.padding_idx = padding_idx}); }

}  // namespace xgrad::nn
