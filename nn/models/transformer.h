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

/// The place of the norm in a residual connection.
enum class NormOrder {
  post,  ///< norm(x + f(x)), as in the paper
  pre,   ///< x + f(norm(x)), which trains without warm-up (Xiong et al. 2020)
};

/// The norm in a residual connection.
enum class NormKind {
  layer,                 ///< layer norm, as in the paper
  layer_without_affine,  ///< layer norm without gain and bias
  batch,                 ///< batch norm of the channels: in training, a position depends on all others of the batch
  none,
};

struct AddNormOptions {
  double dropout = 0;
  NormOrder order = NormOrder::post;
  NormKind kind = NormKind::layer;
};
/// A residual connection with dropout and norm.
struct AddNorm : Layer<AddNorm> {
  using Options = AddNormOptions;

  /// A layer norm is over the last axes, which have these sizes. A batch norm takes only one size, the number of
  /// channels. Throws what LayerNorm and Dropout throw, and ValueError for a batch norm with more sizes.
  AddNorm(At here, const Shape& sizes, const Options& options = {});

  /// norm(x + dropout(y)). Throws ShapeError if the shapes differ.
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

/// The memory that decoder block i attends to in its cross-attention.
enum class CrossAttention {
  last,        ///< the result of the encoder, as in the paper
  same_depth,  ///< the result of encoder block i (He et al. 2018)
  all,         ///< the results of all N encoder blocks; key s N + i is position s of block i
};

/// The options of the encoder and the decoder.
struct TransformerOptions {
  std::int64_t dim = 512;  ///< C, the width of the embeddings
  std::int64_t ffn = 2048;
  std::int64_t heads = 8;
  std::int64_t layers = 6;
  double dropout = 0.1;
  NormOrder norm = NormOrder::post;
  NormKind norm_kind = NormKind::layer;  ///< in residual connections; the last norm of a pre-norm model is a layer norm
  /// The sizes of the axes of every layer norm. By default (C): each position is normalised separately. With (T, C),
  /// all positions of a sequence share mean and variance. Every sequence then has T positions, and every position
  /// depends on all others, masked or not.
  Shape norm_shape = {};
  Activation activation = relu;
  bool attention_bias = false;
  CrossAttention cross_attention = CrossAttention::last;
  Positions positions = Positions::sinusoidal;  ///< with `joined`, words have C/2 channels and positions the rest
  bool scale_embedding = true;                  ///< whether embeddings are multiplied by sqrt(C)
  std::int64_t max_length = 1000;

  /// The number of channels of an embedded word. Throws ValueError for joined positions with an odd `dim`.
  std::int64_t word_dim() const;
  PositionalEncodingOptions encoding() const { return {.kind = positions, .dropout = dropout}; }
  /// The options of the parts of a block. Throws ValueError for a `norm_shape` that is neither (C) nor (T, C).
  Shape norm_sizes() const;
  AddNormOptions add_norm() const { return {.dropout = dropout, .order = norm, .kind = norm_kind}; }
  MultiHeadAttentionOptions attention() const { return {.dropout = dropout, .bias = attention_bias}; }
  MlpOptions feed_forward() const { return {.in = dim, .hidden = ffn, .activation = activation}; }
};

/// A block of the encoder: self-attention and feed-forward network, each with a residual connection. Throws ValueError
/// for the options that Encoder refuses.
struct EncoderBlock : Layer<EncoderBlock, TransformerOptions> {
  using Layer::Layer;

  /// x (B, T, C) -> (B, T, C). Throws ShapeError if x has another C, or another T than `norm_shape`.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;

  MultiHeadAttention attn{at("attn"), options.dim, options.heads, options.attention()};
  AddNorm add_norm1{at("add_norm1"), options.norm_sizes(), options.add_norm()};
  Mlp ffn{at("ffn"), options.feed_forward()};
  AddNorm add_norm2{at("add_norm2"), options.norm_sizes(), options.add_norm()};
};

/// The encoder: embedding times sqrt(C), positions, blocks, and with pre-norm a last layer norm.
struct Encoder : Layer<Encoder, TransformerOptions> {
  /// Throws ValueError for sizes below 1, a `dim` that is not a multiple of `heads`, or a dropout outside [0, 1]. Also
  /// throws it for a `norm_shape` that is neither (C) nor (T, C), and for joined positions with an odd `dim`.
  Encoder(At here, std::int64_t vocabulary, const Options& options);
  explicit Encoder(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// ids (B, S) -> (B, S, C). `mask` is usually padding(lengths). Throws ValueError for an id outside the vocabulary.
  Tensor forward(const Index& ids, const AttentionMask& mask = {}) const;

  /// The results of all blocks, for a decoder that attends to several of them. The last one is the result of forward().
  /// With pre-norm, the last layer norm is applied to each. Throws what forward() throws.
  [[nodiscard]] Tensors block_outputs(const Index& ids, const AttentionMask& mask = {}) const;

  Embedding embedding;
  PositionalEncoding positions{at("positions"), options.max_length, options.word_dim(), options.encoding()};
  Stack<EncoderBlock> blocks{at("blocks"), options.layers, options};
  Maybe<LayerNorm> norm{at("norm"), options.norm == NormOrder::pre, options.norm_sizes()};  ///< only with pre-norm
};

/// The state of a decoder block: keys and values of earlier positions, and the memory that it attends to.
struct DecoderBlockState {
  KeyValueCache past;
  KeyValue memory;

  std::int64_t length() const { return past.length(); }
  /// Keeps only the first `length` positions. Throws ValueError if there are fewer.
  void rewind(std::int64_t length) { past.rewind(length); }
};

/// A block of the decoder: masked self-attention, cross-attention to a memory, and feed-forward network, each with a
/// residual connection. Throws ValueError for the options that Encoder refuses.
struct DecoderBlock : Layer<DecoderBlock, TransformerOptions> {
  using Layer::Layer;

  /// All positions in one pass: x (B, T, C), memory (B, S, C) -> (B, T, C). By default the mask is causal; with
  /// AttentionMask() every position attends to all. Throws ShapeError, also if `norm_shape` has another T.
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& memory_mask = {},
                 const AttentionMask& mask = causal) const;

  /// Step by step: start() returns the state before the first position. forward() takes the next T positions, x (B, T,
  /// C), and appends them to the state. It throws ShapeError if x and state differ in batch size, or if x does not have
  /// all T positions of `norm_shape`.
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

/// The state of a decoder between two steps. If a step or select() throws, it is unchanged.
struct DecoderState {
  std::vector<DecoderBlockState> blocks;
  AttentionMask memory_mask;           ///< for all positions, the earlier ones included
  std::int64_t keys_per_position = 1;  ///< keys for each position of the memory: N for CrossAttention::all
  Index origin;                        ///< (B): the row of the memory from which each sequence started
  std::int64_t position = 0;           ///< position of the next token

  std::int64_t batch() const { return origin.size(); }
  /// The number of positions so far.
  std::int64_t length() const { return position; }
  /// Keeps only the first `length` positions. Throws ValueError if there are fewer.
  void rewind(std::int64_t length);
  /// Row rows[i] of the batch becomes row i: a beam search continues some sequences and drops others. The memory is
  /// copied only if a row gets the memory of another row. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

/// The decoder: embedding times sqrt(C), positions, blocks, with pre-norm a last layer norm, and a linear map to the
/// logits.
struct Decoder : Layer<Decoder, TransformerOptions> {
  /// Throws what Encoder throws.
  Decoder(At here, std::int64_t vocabulary, const Options& options);
  explicit Decoder(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Teacher forcing, all positions in one pass: ids (B, T), memory (B, S, C) -> logits (B, T, V). The logits at
  /// position t depend on the ids 0 ... t.
  Tensor forward(const Index& ids, const Tensor& memory, const AttentionMask& memory_mask = {}) const;
  /// The same with the results of several encoder blocks, each (B, S, C). CrossAttention::all takes any number of
  /// results, CrossAttention::same_depth as many as the decoder has blocks; CrossAttention::last uses the last. A
  /// single memory serves all blocks. The mask has an entry for each position s, also where a position has several
  /// keys. Throws ValueError if the number of results does not fit.
  Tensor forward(const Index& ids, const Tensors& block_outputs, const AttentionMask& memory_mask = {}) const;

  /// Step by step: ids (B, T) are the next T tokens, often one -> logits (B, T, V), the same as in one pass. A
  /// `memory_mask` with one row for each query needs rows for all positions up to the last step. Throws ShapeError if
  /// ids and state differ in batch size, or for a position that the mask does not cover.
  DecoderState start(const Tensor& memory, const AttentionMask& memory_mask = {}) const;
  DecoderState start(const Tensors& block_outputs, const AttentionMask& memory_mask = {}) const;
  Tensor forward(const Index& ids, DecoderState& state) const;

  Embedding embedding;
  PositionalEncoding positions{at("positions"), options.max_length, options.word_dim(), options.encoding()};
  Stack<DecoderBlock> blocks{at("blocks"), options.layers, options};
  Maybe<LayerNorm> norm{at("norm"), options.norm == NormOrder::pre, options.norm_sizes()};  ///< only with pre-norm
  Linear out;

 private:
  struct Memories;
  Memories memories(const Tensors& block_outputs, const AttentionMask& mask) const;
};

/// The result of EncoderDecoder::start, for greedy(), sample() and beam_search().
using DecoderStepper = StateStepper<Decoder, DecoderState>;

/// The whole model, from tokens of one language to tokens of another:
///
///     nn::EncoderDecoder model{nn::root, source_vocab.size(), target_vocab.size(), options};
///     const Tensor logits = model(source, lengths, nn::shift_right(target, bos));     // (B, T, V), for training
///     auto decoding = model.start(source, lengths);
///     const nn::Decoded result = nn::greedy(decoding, {.bos = bos, .eos = eos});
struct EncoderDecoder : Layer<EncoderDecoder> {
  using Options = TransformerOptions;

  /// Throws what Encoder throws.
  EncoderDecoder(At here, std::int64_t source_vocabulary, std::int64_t target_vocabulary, const Options& options);
  explicit EncoderDecoder(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// source (B, S), of which the first `lengths` (B) tokens are valid, target (B, T) -> logits (B, T, V).
  Tensor forward(const Index& source, const Index& lengths, const Index& target) const;
  /// Starts decoding from the beginning. Records no graph. A model in training runs each step in evaluation mode,
  /// without dropout.
  DecoderStepper start(const Index& source, const Index& lengths) const;

  Encoder encoder;
  Decoder decoder;

 private:
  [[nodiscard]] Tensors encode(const Index& source, const Index& lengths) const;
};

/// The input of the decoder in teacher forcing: `bos`, then the target without its last token.      (B, T) -> (B, T)
/// Throws ShapeError unless target is (B, T).
Index shift_right(const Index& target, std::int64_t bos);

}  // namespace xgrad::nn
