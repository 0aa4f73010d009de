// Embedding.
#include "embedding.h"

#include "../ops/compare.h"
#include "../ops/index.h"

namespace xgrad::nn {
namespace {

std::optional<std::int64_t> from_start(std::optional<std::int64_t> row, std::int64_t count) {
  if (!row) return row;
  if (*row < -count || *row >= count) fail<ValueError>("embedding", "padding_idx ", *row, " of ", count, " rows");
  return *row < 0 ? *row + count : *row;
}

}  // namespace

Embedding::Embedding(At here, std::int64_t rows, std::int64_t width, const Options& options)
    : Module(std::move(here)),
      count(positive("count", rows)),
      dim(positive("dim", width)),
      padding_idx(from_start(options.padding_idx, count)),
      weight(param("weight", {count, dim}, options.init ? options.init : init::normal())) {
  if (padding_idx && !options.init) {
    weight.update([&](Array& table) { std::fill_n(table.mutable_data() + *padding_idx * dim, dim, Real(0)); });
  }
}

Tensor Embedding::operator()(const Index& ids) const {
  const auto here = enter(ids);
  return here(embedding(weight, ids, {.padding_idx = padding_idx}));
}

std::string Embedding::settings() const { return cat(count, " x ", dim); }

}  // namespace xgrad::nn
