// The transformer (Vaswani et al., "Attention Is All You Need", 2017): blocks, encoder, decoder, and both together.
#pragma once

#include <vector>

#include "../attention/multi_head_attention.h"
#include "../containers/maybe.h"
#include "../containers/stack.h"
#include "../decoding/decode.h"
#include "../layer.h"
#include "../layers/embedding.h"
#include "../layers/mlp.h"
#include "../layers/norm.h"
#include "../layers/positions.h"

namespace xgrad::nn {

/// The place of the layer norm in a residual connection.
enum class NormOrder {
  post,  ///< norm(x + f(x)), as in the paper
  pre,   ///< x + f(norm(x)), which trains without warm-up (Xiong et al. 2020)
};

/// The norm in a residual connection.
enum class NormKind {
  layer,                 ///< layer norm, as in the paper
  layer_without_affine,  ///< layer norm without gain and bias
  batch,  ///< batch norm of the channels: in training, a position then depends on all others of the batch
  none,
};

struct AddNormOptions {
  double dropout = 0;
  NormOrder order = NormOrder::post;
  NormKind kind = NormKind::layer;
};
/// Residual connection, dropout and norm.
struct AddNorm : Layer<AddNorm> {
  using Options = AddNormOptions;

  /// The norm is over the last axes, of these sizes; a batch norm over one. Throws as LayerNorm and Dropout.
  AddNorm(At here, const Shape& sizes, const Options& options = {});

  /// norm(x + dropout(y)). Throws ShapeError when the shapes differ.
  Tensor forward(const Tensor& x, const Tensor& y) const;

  /// x with a residual connection around the sublayer f: norm(x + dropout(f(x))) or x + dropout(f(norm(x))).
  template <class F>
  Tensor around(const Tensor& x, const F& f) const {
    return order == NormOrder::post ? (*this)(x, f(x)) : add(x, f(normed(x)));
  }

  const NormOrder order;
  Maybe<LayerNorm> norm;
  Maybe<BatchNorm1d> batch_norm;
  Dropout dropout;

 private:
  Tensor normed(const Tensor& x) const;
  Tensor add(const Tensor& x, const Tensor& y) const;
};

/// The memory of the cross-attention of decoder block i.
enum class CrossAttention {
  last,        ///< the encoder's result, as in the paper
  same_depth,  ///< the result of encoder block i (He et al. 2018)
  all,         ///< the results of all N encoder blocks; key s N + i is position s of block i
};

/// The options of encoder and decoder.
struct TransformerOptions {
  std::int64_t dim = 512;  ///< C
  std::int64_t ffn = 2048;
  std::int64_t heads = 8;
  std::int64_t layers = 6;
  double dropout = 0.1;
  NormOrder norm = NormOrder::post;
  NormKind norm_kind = NormKind::layer;  ///< in residual connections; the last norm of pre-norm is a layer norm
  /// The sizes of every layer norm: each position by itself, (C), if empty. With (T, C) all positions of a sequence
  /// have one mean and one variance; so sequences have T positions, and each depends on all others, masked or not.
  Shape norm_shape = {};
  Activation activation = relu;
  bool attention_bias = false;
  CrossAttention cross_attention = CrossAttention::last;
  Positions positions = Positions::sinusoidal;  ///< with `joined`, words have C/2 channels and positions the others
  bool scale_embedding = true;                  ///< embeddings times sqrt(C)
  std::int64_t max_length = 1000;

  /// The channels of an embedded word. Throws ValueError for joined positions and an odd `dim`.
  std::int64_t word_dim() const;
  PositionalEncodingOptions encoding() const { return {.kind = positions, .dropout = dropout}; }
  /// The options of the parts of a block. Throws ValueError for a `norm_shape` that is neither (C) nor (T, C).
  Shape norm_sizes() const;
  AddNormOptions add_norm() const { return {.dropout = dropout, .order = norm, .kind = norm_kind}; }
  MultiHeadAttentionOptions attention() const { return {.dropout = dropout, .bias = attention_bias}; }
  MlpOptions feed_forward() const { return {.in = dim, .hidden = ffn, .activation = activation}; }
};

/// Self-attention and feed-forward, each with its residual connection. Throws ValueError as Encoder.
struct EncoderBlock : Layer<EncoderBlock, TransformerOptions> {
  using Layer::Layer;

  /// x (B, T, C) -> (B, T, C). Throws ShapeError, also for another T than that of `norm_shape`.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;

  MultiHeadAttention attn{at("attn"), options.dim, options.heads, options.attention()};
  AddNorm add_norm1{at("add_norm1"), options.norm_sizes(), options.add_norm()};
  Mlp ffn{at("ffn"), options.feed_forward()};
  AddNorm add_norm2{at("add_norm2"), options.norm_sizes(), options.add_norm()};
};

/// Embedding times sqrt(C), positions, blocks, and with pre-norm a last layer norm.
struct Encoder : Layer<Encoder, TransformerOptions> {
  /// Throws ValueError for sizes below 1, a `dim` that does not divide by `heads`, a dropout outside [0, 1], a
  /// `norm_shape` that is neither (C) nor (T, C), joined positions in an odd `dim`.
  Encoder(At here, std::int64_t vocabulary, const Options& options);
  explicit Encoder(Placeless, ...);  ///< does not compile: the place, at("name") or root, is missing

  /// ids (B, S) -> (B, S, C); `mask` usually padding(lengths). Throws ValueError for an id outside the vocabulary.
  Tensor forward(const Index& ids, const AttentionMask& mask = {}) const;

  /// The results of all blocks, the last of which is that of forward(), for a decoder that attends to more than that
  /// one. With pre-norm, each goes through the last layer norm. Throws as forward().
  [[nodiscard]] Tensors block_outputs(const Index& ids, const AttentionMask& mask = {}) const;

  Embedding embedding;
  PositionalEncoding positions{at("positions"), options.max_length, options.word_dim(), options.encoding()};
  Stack<EncoderBlock> blocks{at("blocks"), options.layers, options};
  Maybe<LayerNorm> norm{at("norm"), options.norm == NormOrder::pre, options.norm_sizes()};  ///< with pre-norm
};

/// The state of a decoder block: the positions so far, and the memory that it attends to.
struct DecoderBlockState {
  KeyValueCache past;
  KeyValue memory;

  std::int64_t length() const { return past.length(); }
  /// Keeps only the first `length` positions. Throws ValueError if there are fewer.
  void rewind(std::int64_t length) { past.rewind(length); }
};

/// Masked self-attention, cross-attention to a memory, and feed-forward, each with its residual connection. Throws
/// ValueError as Encoder.
struct DecoderBlock : Layer<DecoderBlock, TransformerOptions> {
  using Layer::Layer;

  /// x (B, T, C), memory (B, S, C) -> (B, T, C): all positions at once, each seeing those before, or those that another
  /// `mask` leaves, as AttentionMask() leaves all. Throws ShapeError, also for another T than that of `norm_shape`.
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& memory_mask = {},
                 const AttentionMask& mask = causal) const;

  /// For decoding step by step: x (B, T, C) are the next T positions after those in `state`, which grows by them.
  /// Throws ShapeError if x is of another batch size, or not all T positions of `norm_shape` at once.
  DecoderBlockState start(const Tensor& memory) const;
  Tensor forward(const Tensor& x, DecoderBlockState& state, const AttentionMask& memory_mask) const;

  MultiHeadAttention self_attn{at("self_attn"), options.dim, options.heads, options.attention()};
  AddNorm add_norm1{at("add_norm1"), options.norm_sizes(), options.add_norm()};
  MultiHeadAttention cross_attn{at("cross_attn"), options.dim, options.heads, options.attention()};
  AddNorm add_norm2{at("add_norm2"), options.norm_sizes(), options.add_norm()};
  Mlp ffn{at("ffn"), options.feed_forward()};
  AddNorm add_norm3{at("add_norm3"), options.norm_sizes(), options.add_norm()};

 private:
  template <class AttendSelf, class AttendMemory>
  Tensor run(const Tensor& x, const AttendSelf& attend_self, const AttendMemory& attend_memory) const;
};

/// The state of a decoder in the middle of a sequence. When a step or select() throws, whatever the reason, it is
/// unchanged.
struct DecoderState {
  std::vector<DecoderBlockState> blocks;
  AttentionMask memory_mask;           ///< of all positions, those before included
  std::int64_t keys_per_position = 1;  ///< of the memory: more for CrossAttention::all
  Index origin;                        ///< (B) the row of the memory that each sequence began with
  std::int64_t position = 0;           ///< of the next token

  std::int64_t batch() const { return origin.size(); }
  /// The number of positions so far.
  std::int64_t length() const { return position; }
  /// Keeps only the first `length` positions. Throws ValueError if there are fewer.
  void rewind(std::int64_t length);
  /// Row rows[i] of the batch becomes row i: a beam search goes on with some and drops others. The memory is copied
  /// only if a row gets another's. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

/// Embedding times sqrt(C), positions, blocks, with pre-norm a last layer norm, and a linear map to the logits.
struct Decoder : Layer<Decoder, TransformerOptions> {
  /// Throws as Encoder.
  Decoder(At here, std::int64_t vocabulary, const Options& options);
  explicit Decoder(Placeless, ...);  ///< does not compile: the place, at("name") or root, is missing

  /// Teacher forcing, all positions at once: ids (B, T), memory (B, S, C) -> logits (B, T, V). Position t sees the ids
  /// of 0 ... t.
  Tensor forward(const Index& ids, const Tensor& memory, const AttentionMask& memory_mask = {}) const;
  /// The same with the results of several encoder blocks, each (B, S, C): of all of them for CrossAttention::all, of
  /// as many as this decoder has blocks for CrossAttention::same_depth. Otherwise the last one counts. A single memory
  /// serves all blocks. The mask speaks of positions t and s, however many keys a position has. Throws ValueError for a
  /// number that does not fit.
  Tensor forward(const Index& ids, const Tensors& block_outputs, const AttentionMask& memory_mask = {}) const;

  /// Step by step: ids (B, T) are the next T tokens (often one) -> logits (B, T, V), the same as in one pass; so the
  /// mask is that of the whole pass. Throws ShapeError if ids are of another batch size than the state, or for a
  /// position that the mask does not cover.
  DecoderState start(const Tensor& memory, const AttentionMask& memory_mask = {}) const;
  DecoderState start(const Tensors& block_outputs, const AttentionMask& memory_mask = {}) const;
  Tensor forward(const Index& ids, DecoderState& state) const;

  Embedding embedding;
  PositionalEncoding positions{at("positions"), options.max_length, options.word_dim(), options.encoding()};
  Stack<DecoderBlock> blocks{at("blocks"), options.layers, options};
  Maybe<LayerNorm> norm{at("norm"), options.norm == NormOrder::pre, options.norm_sizes()};  ///< with pre-norm
  Linear out;

 private:
  struct Memories;
  Memories memories(const Tensors& block_outputs, const AttentionMask& mask) const;
};

/// What EncoderDecoder::start gives to a search.
using DecoderStepper = StateStepper<Decoder, DecoderState>;

/// The whole model, from one language's tokens to another's.
///
///     nn::EncoderDecoder model{nn::root, source_vocab.size(), target_vocab.size(), options};
///     const Tensor logits = model(source, lengths, nn::shift_right(target, bos));     // (B, T, V), to be trained
///     auto decoding = model.start(source, lengths);
///     const nn::Decoded result = nn::greedy(decoding, {.bos = bos, .eos = eos});
struct EncoderDecoder : Layer<EncoderDecoder> {
  using Options = TransformerOptions;

  /// Throws as Encoder.
  EncoderDecoder(At here, std::int64_t source_vocabulary, std::int64_t target_vocabulary, const Options& options);
  explicit EncoderDecoder(Placeless, ...);  ///< does not compile: the place, at("name") or root, is missing

  /// source (B, S) of which the first `lengths` (B) tokens count, target (B, T) -> logits (B, T, V).
  Tensor forward(const Index& source, const Index& lengths, const Index& target) const;
  /// Decoding from the beginning. Records no graph. A model in training runs each step in evaluation mode, without
  /// dropout.
  DecoderStepper start(const Index& source, const Index& lengths) const;

  Encoder encoder;
  Decoder decoder;

 private:
  [[nodiscard]] Tensors encode(const Index& source, const Index& lengths) const;
};

/// The decoder's input in teacher forcing: `bos`, then the target without its last token.      (B, T) -> (B, T)
/// Throws ShapeError unless target is (B, T).
Index shift_right(const Index& target, std::int64_t bos);

}  // namespace xgrad::nn
