// BERT (Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", 2019): an
// encoder of post-norm blocks in which every position attends to the whole text, and a head that predicts masked words
// or classifies a text.
//
//     nn::Bert model{nn::root, {.vocabulary = 1000, .context = 64, .dim = 128, .heads = 4, .layers = 4, .ffn = 512}};
//     const Tensor logits = model(ids, {.lengths = lengths});                       // (B, T, V)
//
//     const nn::Bert judge{nn::root, {.head = nn::BertHead::classes, .classes = 3}};
//     const Tensor judged = judge(ids, {.lengths = lengths});                       // (B, 3)
#pragma once

#include <optional>

#include "../attention/multi_head_attention.h"
#include "../containers/maybe.h"
#include "../containers/stack.h"
#include "../layer.h"
#include "../layers/embedding.h"
#include "../layers/mlp.h"
#include "../layers/norm.h"
#include "../layers/positions.h"
#include "language_model.h"

namespace xgrad::nn {

/// The head after the encoder, h = encode(ids). It determines the result of the model.
enum class BertHead {
  words,   ///< predicts the word at each position: logits (B, T, V)
  none,    ///< no head: h (B, T, C)
  pooled,  ///< pool(h), (B, C)
  classes  ///< a linear map of pool(h): logits (B, classes)
};

/// The options of BERT. The defaults give BERT base.
struct BertOptions {
  std::int64_t vocabulary = 30522;  ///< V, the number of tokens
  std::int64_t context = 512;       ///< maximum number of positions
  std::int64_t segments = 2;        ///< maximum number of texts in one sequence
  std::int64_t dim = 768;           ///< C, the width of the embeddings
  std::int64_t heads = 12;          ///< H, the number of heads
  std::int64_t layers = 12;
  std::int64_t ffn = 3072;  ///< width of the hidden layer of the feed-forward network
  double dropout = 0.1;     ///< dropout probability of embedding, attention weights and residual branches
  double norm_eps = 1e-12;
  Activation activation = gelu;
  BertHead head = BertHead::words;
  std::int64_t classes = 2;  ///< number of classes, for BertHead::classes
};

/// The inputs of BERT besides its ids (B, T).
struct BertInputs {
  std::optional<Index> lengths = {};   ///< (B): number of valid ids of each row, the others are padding; T if not given
  std::optional<Index> segments = {};  ///< (B, T): the number of the text that each id belongs to; 0 if not given
};

/// A block: h = norm1(x + dropout(attn(x)))      y = norm2(h + dropout(ffn(h)))
struct BertBlock : Layer<BertBlock, BertOptions> {
  using Layer::Layer;

  /// x (B, T, C) -> (B, T, C). Throws ShapeError.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;

  MultiHeadAttention attn{
      at("attn"), options.dim, options.heads, {.dropout = options.dropout, .bias = true, .packed = true}};
  LayerNorm norm1{at("norm1"), options.dim, {.eps = options.norm_eps}};
  Mlp ffn{at("ffn"), {.in = options.dim, .hidden = options.ffn, .activation = options.activation}};
  LayerNorm norm2{at("norm2"), options.dim, {.eps = options.norm_eps}};
  Dropout dropout{at("dropout"), options.dropout};
};

/// h = blocks(dropout(norm(embedding(ids) + segments + positions)))
/// logits = head_norm(activation(transform(h))) embedding' + bias                       BertHead::words
/// logits = classifier(dropout(pool(h))),    pool(h) = tanh(pooler(h_0))                BertHead::classes
///
/// Initial weights are normal with standard deviation 0.02; biases are 0.
struct Bert : Layer<Bert, BertOptions> {
  /// Throws ValueError for sizes below 1, a `dim` that is not a multiple of `heads`, or a dropout outside [0, 1].
  Bert(At here, const Options& options);
  explicit Bert(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// The contextual embedding of each position: ids (B, T) -> (B, T, C). Throws ShapeError if an input has another
  /// shape, and ValueError for an id, segment or length out of range or more positions than the context.
  Tensor encode(const Index& ids, const BertInputs& inputs = {}) const;
  /// The embedding of a whole text: tanh(pooler(h_0)), h (B, T, C) -> (B, C). Throws ShapeError, and ValueError if the
  /// head has no pooler.
  Tensor pool(const Tensor& h) const;
  /// The result of the head: ids (B, T) -> (B, T, V), (B, T, C), (B, C) or (B, classes). Throws what encode() throws.
  Tensor forward(const Index& ids, const BertInputs& inputs = {}) const;

  /// The call also takes the inputs in braces: bert(ids, {.lengths = lengths}).
  using Layer::operator();
  Tensor operator()(const Index& ids, const BertInputs& inputs) const { return Layer::operator()(ids, inputs); }

  Embedding embedding{at("embedding"), options.vocabulary, options.dim, {.init = detail::first_weights()}};
  Embedding segments{at("segments"), options.segments, options.dim, {.init = detail::first_weights()}};
  PositionalEncoding positions{at("positions"), options.context, options.dim, detail::learned()};
  LayerNorm norm{at("norm"), options.dim, {.eps = options.norm_eps}};
  Dropout dropout{at("dropout"), options.dropout};
  Stack<BertBlock> blocks{at("blocks"), options.layers, options};
  Maybe<Linear> transform{at("transform"), options.head == BertHead::words, options.dim, options.dim};
  Maybe<LayerNorm> head_norm{at("head_norm"), options.head == BertHead::words, options.dim,
                             LayerNormOptions{.eps = options.norm_eps}};
  const Tensor bias =  ///< (V), initially 0; undefined without a head for words
      options.head == BertHead::words ? param("bias", {options.vocabulary}, init::zeros()) : Tensor();
  Maybe<Linear> pooler{at("pooler"), options.head == BertHead::pooled || options.head == BertHead::classes, options.dim,
                       options.dim};
  Maybe<Linear> classifier{at("classifier"), options.head == BertHead::classes, options.dim, options.classes};
};

}  // namespace xgrad::nn
