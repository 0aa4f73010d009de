// Attention among the fields of a record: which pairs of categories matter together (AutoInt, Song et al. 2019).
#pragma once

#include <array>
#include <cmath>

#include <xgrad/xgrad.h>

namespace field_attention {

using namespace xgrad;

/// One record is (sex, brand of the device); each field counts its categories from 0.
inline constexpr std::array<std::int64_t, 2> field_sizes{2, 3};
inline constexpr std::int64_t fields = std::ssize(field_sizes);

/// One table holds the categories of all fields: those of a field follow those of the fields before.
inline constexpr std::array<std::int64_t, 2> offsets{0, field_sizes[0]};
/// One row more than there are categories: no record reads it, so it keeps its first values.
inline constexpr std::int64_t table_size = field_sizes[0] + field_sizes[1] + 1;

/// The rows of the table for records (B, F). Throws ValueError for a category that a field does not have.
inline Index table_rows(const Index& records) {
  Index rows = records;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const std::int64_t field = i % fields;
    std::int64_t& row = rows.mutable_data()[i];
    if (row < 0 || row >= field_sizes[field]) {
      fail<ValueError>("field_attention", "category ", row, " of field ", field, ", which has ", field_sizes[field]);
    }
    row += offsets[field];
  }
  return rows;
}

/// x (B, F, in) times a matrix (in, out), as the paper's code writes it.
inline Tensor project(const Tensor& x, const Tensor& weight) { return tensordot(x, weight, {-1}, {0}); }

/// (B, F, H d) -> (H, B, F, d).
inline Tensor split_heads(const Tensor& x, std::int64_t heads) { return stack(chunk(x, heads, -1)); }

/// The intermediate results of one pass.
struct Interaction {
  Tensor queries, keys, values;  ///< (H, B, F, d)
  Tensor scores, weights;        ///< (H, B, F, F)
  Tensor output;                 ///< (B, F, H d)
};

/// Every field attends to every field, relu(softmax(q k' / sqrt(d)) v) in each head, with the heads side by side.
struct InteractingLayer : nn::Module {
  const std::int64_t heads;
  const Tensor w_query, w_key, w_value;  // (in, H d)

  InteractingLayer(At here, std::int64_t in, std::int64_t out, std::int64_t head_count)
      : Module(here),
        heads(head_count),
        w_query(param("w_query", {in, out}, nn::init::xavier_uniform())),
        w_key(param("w_key", {in, out}, nn::init::xavier_uniform())),
        w_value(param("w_value", {in, out}, nn::init::xavier_uniform())) {}

  Interaction operator()(const Tensor& x) const {
    const auto here = enter(x);
    Interaction i;
    i.queries = split_heads(project(x, w_query), heads).named("queries");
    i.keys = split_heads(project(x, w_key), heads).named("keys");
    i.values = split_heads(project(x, w_value), heads).named("values");
    const Real scale = 1 / std::sqrt(Real(i.keys.dim(-1)));
    i.scores = (matmul(i.queries, i.keys, {.transpose_b = true}) * scale).named("scores");
    i.weights = softmax(i.scores).named("weights");
    const Tensor result = matmul(i.weights, i.values);  // (H, B, F, d)
    Tensors side_by_side;
    for (std::int64_t h = 0; h < heads; ++h) side_by_side.push_back(result[{h}]);
    i.output = here(relu(concat(side_by_side, -1))).named("output");
    return i;
  }
};

/// Records to the logit of a click.
struct ClickModel : nn::Module {
  nn::Embedding embedding{at("embedding"), table_size, 6};
  InteractingLayer interact{at("interact"), 6, 6, 2};
  nn::Linear out{at("out"), fields * 6, 1};

  Interaction interaction(const Index& records) const { return interact(embedding(table_rows(records))); }

  Tensor operator()(const Index& records) const {  // (B, fields) -> (B)
    return reshape(out(flatten(interaction(records).output, 1)), {-1});
  }
};

}  // namespace field_attention
