// The transformer.
#include "transformer.h"

#include <cmath>

#include "../../core/graph/record.h"
#include "../../ops/creation/create.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/indexing/index.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/shape.h"
#include "../../ops/shape/slice.h"

namespace xgrad::nn {
namespace {

template <class Model>
Tensor embed(const Model& model, const Index& ids, std::int64_t first = 0) {
  const Tensor words = model.embedding(ids);
  const double scale = std::sqrt(static_cast<double>(model.options.dim));
  return model.positions(model.options.scale_embedding ? words * scale : words, first);  // (B, T, C)
}

// The mask of S positions for n keys in a row at each position. Causal and band still count positions: see
// with_positions_as_keys.
AttentionMask repeat_keys(const AttentionMask& mask, std::int64_t S, std::int64_t n) {
  const auto repeat = [n](const auto& keys) {
    if (keys.rank() == 0 || keys.dim(-1) == 1) return keys;
    Index from(Shape{keys.dim(-1) * n});
    for (std::int64_t i = 0; i < from.size(); ++i) from.mutable_data()[i] = i / n;
    return index_select(keys, -1, from);
  };
  AttentionMask repeated = mask;
  if (mask.lengths) {
    std::int64_t* lengths = repeated.lengths->mutable_data();
    for (std::int64_t i = 0; i < mask.lengths->size(); ++i) {
      if (lengths[i] < 0 || lengths[i] > S)
        fail<ValueError>("decoder", "length ", lengths[i], " is not in [0, ", S, "]");
      lengths[i] *= n;
    }
  }
  if (mask.masked) repeated.masked = repeat(*mask.masked);
  if (mask.bias.defined()) repeated.bias = repeat(mask.bias);
  return repeated;
}

// The same mask for the queries at positions first ... first + T - 1 and `keys` keys, n for each position. Attention
// itself would take the first query for position 0, and every key for a position of its own.
AttentionMask with_positions_as_keys(const AttentionMask& mask, std::int64_t first, std::int64_t T, std::int64_t keys,
                                     std::int64_t n) {
  if ((!mask.causal && !mask.band) || (first == 0 && n == 1)) return mask;
  const AttentionMask positions{.causal = mask.causal, .band = mask.band};
  const Mask masked = masked_keys(positions, {1, first + T, keys / n})[{_, _, slice(first, first + T)}];
  AttentionMask others = mask;
  others.causal = false;
  others.band.reset();
  return others & repeat_keys({.masked = masked}, keys / n, n);
}

// The rows of a mask of all queries for those at positions first ... first + T - 1.
AttentionMask rows_of(const AttentionMask& mask, std::int64_t first, std::int64_t T) {
  const auto check = [&](std::int64_t rows) {
    if (rows < first + T) {
      fail<ShapeError>("decoder", "a memory mask of ", rows, " positions, but ", first, " came before and ", T,
                       " more are asked for");
    }
  };
  const auto rows = [&](const auto& x) {
    if (x.rank() < 2 || x.dim(-2) == 1) return x;
    check(x.dim(-2));
    return x[{ellipsis, slice(first, first + T), _}];
  };
  AttentionMask part = mask;
  if (mask.lengths && mask.lengths->rank() == 2) {
    check(mask.lengths->dim(1));
    part.lengths = (*mask.lengths)[{_, slice(first, first + T)}];
  }
  if (mask.masked) part.masked = rows(*mask.masked);
  if (mask.bias.defined()) part.bias = rows(mask.bias);
  return part;
}

}  // namespace

Shape TransformerOptions::norm_sizes() const {
  if (norm_shape.empty()) return {dim};
  if (norm_shape.rank() > 2 || norm_shape.back() != dim) {
    fail<ValueError>("transformer", "needs norm_shape (C) or (T, C) with C = ", dim, ", got ", norm_shape);
  }
  return norm_shape;
}

std::int64_t TransformerOptions::word_dim() const {
  if (positions != Positions::joined) return dim;
  if (dim % 2 != 0) fail<ValueError>("transformer", "joined positions need an even dim, got ", dim);
  return dim / 2;
}

// -- parts ------------------------------------------------------------------------------------------------------------

AddNorm::AddNorm(At here, const Shape& sizes, const Options& options)
    : Layer(std::move(here)),
      order(options.order),
      norm(at("norm"), options.kind == NormKind::layer || options.kind == NormKind::layer_without_affine, sizes,
           LayerNormOptions{.affine = options.kind == NormKind::layer}),
      batch_norm(at("batch_norm"), options.kind == NormKind::batch, sizes.back()),
      dropout(at("dropout"), options.dropout) {
  if (batch_norm && sizes.rank() > 1) fail<ValueError>("add_norm", "batch norm over one axis, got ", sizes);
}

Tensor AddNorm::forward(const Tensor& x, const Tensor& y) const { return normed(add(x, y)); }

Tensor AddNorm::normed(const Tensor& x) const {
  if (!batch_norm) return norm(x);
  return reshape((*batch_norm)(reshape(x, {-1, batch_norm->channels})), x.shape());
}

Tensor AddNorm::add(const Tensor& x, const Tensor& y) const {
  const ModuleScope here(*this);
  if (x.shape() != y.shape()) fail<ShapeError>("add_norm", "shapes differ: ", x.shape(), " and ", y.shape());
  return x + dropout(y);
}

// -- encoder ----------------------------------------------------------------------------------------------------------

Tensor EncoderBlock::forward(const Tensor& x, const AttentionMask& mask) const {
  const Tensor h = add_norm1.around(x, [&](const Tensor& normed) { return attn(normed, mask); });  // (B, T, C)
  return add_norm2.around(h, ffn);
}

Encoder::Encoder(At here, std::int64_t vocabulary, const Options& given)
    : Layer(std::move(here), given), embedding(at("embedding"), vocabulary, options.word_dim()) {}

Tensor Encoder::forward(const Index& ids, const AttentionMask& mask) const {
  return norm(blocks(embed(*this, ids), mask));  // (B, S, C)
}

Tensors Encoder::block_outputs(const Index& ids, const AttentionMask& mask) const {
  const ModuleScope here(*this, ids);
  Tensor h = embed(*this, ids);  // (B, S, C)
  Tensors results;
  for (std::int64_t i = 0; i < blocks.size(); ++i) {
    h = blocks[i](h, mask);
    results.push_back(norm(h));
  }
  if (results.empty()) results.push_back(norm(h));
  results.back() = here(results.back());
  return results;
}

// -- decoder ----------------------------------------------------------------------------------------------------------

template <class AttendSelf, class AttendMemory>
Tensor DecoderBlock::run(const Tensor& x, const AttendSelf& attend_self, const AttendMemory& attend_memory) const {
  const Tensor g = add_norm1.around(x, attend_self);    // (B, T, C)
  const Tensor h = add_norm2.around(g, attend_memory);  // (B, T, C)
  return add_norm3.around(h, ffn);
}

Tensor DecoderBlock::forward(const Tensor& x, const Tensor& memory, const AttentionMask& memory_mask,
                             const AttentionMask& mask) const {
  return run(
      x, [&](const Tensor& normed) { return self_attn(normed, mask); },
      [&](const Tensor& g) { return cross_attn(g, memory, memory, memory_mask); });
}

DecoderBlockState DecoderBlock::start(const Tensor& memory) const {
  return {.past = {}, .memory = cross_attn.remember(memory, memory)};
}

Tensor DecoderBlock::forward(const Tensor& x, DecoderBlockState& state, const AttentionMask& memory_mask) const {
  return run(
      x, [&](const Tensor& normed) { return self_attn(normed, state.past); },
      [&](const Tensor& g) { return cross_attn(g, state.memory, memory_mask); });
}

void DecoderState::rewind(std::int64_t length) {
  detail::check_rewind("decoder", length, position);
  for (DecoderBlockState& block : blocks) block.rewind(length);
  position = length;
}

void DecoderState::select(const Index& rows) {
  DecoderState next = *this;
  next.origin = index_select(origin, 0, rows);
  for (DecoderBlockState& block : next.blocks) block.past.select(rows);
  if (!equal(next.origin, origin)) {
    for (DecoderBlockState& block : next.blocks) block.memory.select(rows);
    next.memory_mask = select_rows(memory_mask, rows);
  }
  *this = std::move(next);
}

// The memories of the blocks: one for all of them, or one each.
struct Decoder::Memories {
  Tensors list;
  AttentionMask mask;
  std::int64_t keys_per_position = 1;

  const Tensor& operator[](std::int64_t block) const {
    return list.size() == 1 ? list.front() : list[static_cast<std::size_t>(block)];
  }
};

Decoder::Decoder(At here, std::int64_t vocabulary, const Options& given)
    : Layer(std::move(here), given),
      embedding(at("embedding"), vocabulary, options.word_dim()),
      out(at("out"), options.dim, vocabulary) {}

Decoder::Memories Decoder::memories(const Tensors& block_outputs, const AttentionMask& mask) const {
  const std::int64_t N = std::ssize(block_outputs);
  if (N == 0) fail<ValueError>("decoder", "no memory to attend to");
  for (const Tensor& memory : block_outputs) {
    if (memory.rank() != 3) fail<ShapeError>("decoder", "needs a memory (B, S, C), got ", memory.shape());
  }
  if (N == 1 || options.cross_attention == CrossAttention::last) return {{block_outputs.back()}, mask};
  if (options.cross_attention == CrossAttention::same_depth) {
    if (N != blocks.size()) fail<ValueError>("decoder", N, " encoder layers for the same depth of ", blocks.size());
    return {block_outputs, mask};
  }
  const Tensor together = stack(block_outputs, 2);  // (B, S, N, C)
  return {{flatten(together, 1, 2)}, repeat_keys(mask, together.dim(1), N), N};
}

Tensor Decoder::forward(const Index& ids, const Tensor& memory, const AttentionMask& memory_mask) const {
  return forward(ids, Tensors{memory}, memory_mask);
}

Tensor Decoder::forward(const Index& ids, const Tensors& block_outputs, const AttentionMask& memory_mask) const {
  const Memories memory = memories(block_outputs, memory_mask);
  Tensor h = embed(*this, ids);  // (B, T, C)
  const AttentionMask mask =
      with_positions_as_keys(memory.mask, 0, h.dim(1), memory[0].dim(1), memory.keys_per_position);
  for (std::int64_t i = 0; i < blocks.size(); ++i) h = blocks[i](h, memory[i], mask);
  return out(norm(h));
}

DecoderState Decoder::start(const Tensor& memory, const AttentionMask& memory_mask) const {
  return start(Tensors{memory}, memory_mask);
}

DecoderState Decoder::start(const Tensors& block_outputs, const AttentionMask& memory_mask) const {
  const ModuleScope here(*this);
  const Memories memory = memories(block_outputs, memory_mask);
  DecoderState state{.blocks = {},
                     .memory_mask = memory.mask,
                     .keys_per_position = memory.keys_per_position,
                     .origin = arange(block_outputs.back().dim(0))};
  for (std::int64_t i = 0; i < blocks.size(); ++i) state.blocks.push_back(blocks[i].start(memory[i]));
  return state;
}

Tensor Decoder::forward(const Index& ids, DecoderState& state) const {
  if (ids.rank() != 2 || ids.dim(0) != state.batch()) {
    fail<ShapeError>("decoder", "ids ", ids.shape(), " with the state of ", state.batch(), " sequences");
  }
  Tensor h = embed(*this, ids, state.position);  // (B, T, C)
  const std::int64_t T = h.dim(1), keys = state.blocks.empty() ? 0 : state.blocks.front().memory.length();
  const AttentionMask mask = with_positions_as_keys(rows_of(state.memory_mask, state.position, T), state.position, T,
                                                    keys, state.keys_per_position);
  for (std::int64_t i = 0; i < blocks.size(); ++i) {
    h = blocks[i](h, state.blocks[static_cast<std::size_t>(i)], mask);
  }
  state.position += T;
  return out(norm(h));
}

// -- both -------------------------------------------------------------------------------------------------------------

EncoderDecoder::EncoderDecoder(At here, std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                               const Options& options)
    : Layer(std::move(here)),
      encoder(at("encoder"), source_vocabulary, options),
      decoder(at("decoder"), target_vocabulary, options) {}

Tensors EncoderDecoder::encode(const Index& source, const Index& lengths) const {
  if (decoder.options.cross_attention == CrossAttention::last) return {encoder(source, padding(lengths))};
  return encoder.block_outputs(source, padding(lengths));
}

Tensor EncoderDecoder::forward(const Index& source, const Index& lengths, const Index& target) const {
  return decoder(target, encode(source, lengths), padding(lengths));  // (B, T, V)
}

DecoderStepper EncoderDecoder::start(const Index& source, const Index& lengths) const {
  const ModuleScope here(*this);
  const NoGrad off;
  const std::optional<Eval> eval = outside_of_training(*this);
  return {decoder, decoder.start(encode(source, lengths), padding(lengths))};
}

Index shift_right(const Index& target, std::int64_t bos) {
  if (target.rank() != 2) fail<ShapeError>("shift_right", "needs (B, T), got ", target.shape());
  Index shifted(target.shape());
  std::int64_t* out = shifted.mutable_data();
  const std::int64_t T = target.dim(1);
  for (std::int64_t i = 0; i < target.size(); ++i) out[i] = i % T == 0 ? bos : target.data()[i - 1];
  return shifted;
}

}  // namespace xgrad::nn
