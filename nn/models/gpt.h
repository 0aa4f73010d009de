// GPT-2 (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019): a stack of pre-norm blocks of
// causal self-attention and feed-forward network, with learned positions. Embedding and head share their weight.
//
//     nn::Gpt model{nn::root, {.vocabulary = 65, .context = 64, .dim = 128, .heads = 4, .layers = 4}};
//     const Tensor loss = cross_entropy(model(ids), next_ids);                     // (B, T), (B, T)
#pragma once

#include "../attention/multi_head_attention.h"
#include "../containers/stack.h"
#include "../layer.h"
#include "../layers/embedding.h"
#include "../layers/mlp.h"
#include "../layers/norm.h"
#include "../layers/positions.h"
#include "language_model.h"

namespace xgrad::nn {

/// The options of GPT-2. The defaults give the smallest model.
struct GptOptions {
  std::int64_t vocabulary = 50257;  ///< V, the number of tokens
  std::int64_t context = 1024;      ///< maximum number of positions
  std::int64_t dim = 768;           ///< C, the width of the embeddings
  std::int64_t heads = 12;          ///< H, the number of heads
  std::int64_t layers = 12;
  std::int64_t ffn = 0;  ///< width of the hidden layer of the feed-forward network; 4 C if 0
  double dropout = 0;    ///< dropout of embedding, attention weights and residual branches; GPT-2 was trained with 0.1
  bool bias = true;      ///< whether the linear maps and layer norms have biases
  double norm_eps = 1e-5;
  Activation activation = [](const Tensor& x) { return gelu(x, Gelu::tanh); };

  /// The options of the layer norms.
  LayerNormOptions norm() const { return {.eps = norm_eps, .bias = bias}; }
};

/// A block: h = x + dropout(attn(norm1(x)))      y = h + dropout(ffn(norm2(h)))
struct GptBlock : Layer<GptBlock, GptOptions> {
  using Layer::Layer;

  /// x (B, T, C) -> (B, T, C). Each position attends to itself and all earlier ones. Throws ShapeError.
  Tensor forward(const Tensor& x) const;
  /// The same, step by step: x are the next positions, which also attend to `past`. Their keys and values are appended
  /// to `past`, unless something is thrown.
  Tensor forward(const Tensor& x, KeyValueCache& past) const;

  LayerNorm norm1{at("norm1"), options.dim, options.norm()};
  MultiHeadAttention attn{
      at("attn"), options.dim, options.heads, {.dropout = options.dropout, .bias = options.bias, .packed = true}};
  LayerNorm norm2{at("norm2"), options.dim, options.norm()};
  Mlp ffn{at("ffn"),
          {.in = options.dim,
           .hidden = options.ffn == 0 ? 4 * options.dim : options.ffn,
           .activation = options.activation,
           .bias = options.bias}};
  Dropout dropout{at("dropout"), options.dropout};
};

/// logits = norm(blocks(embedding(ids) + positions)) embedding'
///
/// Initial weights are normal with standard deviation 0.02, in the last map of a residual branch 0.02 / sqrt(2 layers).
/// Biases are 0. GPT-2 has the same initial values.
struct Gpt : LanguageModel {
  using Options = GptOptions;

  /// Throws ValueError for sizes below 1, a `dim` that is not a multiple of `heads`, or a dropout outside [0, 1].
  Gpt(At here, const Options& options);
  explicit Gpt(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  std::int64_t context() const override { return options.context; }

  const Options options;
  Embedding embedding{at("embedding"), options.vocabulary, options.dim, {.init = detail::first_weights()}};
  PositionalEncoding positions{at("positions"), options.context, options.dim, detail::learned(options.dropout)};
  Stack<GptBlock> blocks{at("blocks"), options.layers, options};
  LayerNorm norm{at("norm"), options.dim, options.norm()};

 protected:
  Tensor forward(const Index& ids) const override;
  Tensor forward(const Index& ids, LanguageState& state) const override;
  std::int64_t layers() const override { return blocks.size(); }
};

}  // namespace xgrad::nn
