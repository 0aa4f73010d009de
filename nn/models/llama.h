// Llama (Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023): a stack of pre-norm blocks with
// RMS norm, rotary positions and a gated feed-forward network, and, if kv_heads is given, fewer heads of keys than of
// queries. Its options also cover Llama 3.1, Mistral (Jiang et al. 2023) and Qwen2 (Yang et al. 2024).
#pragma once

#include <optional>

#include "../attention/multi_head_attention.h"
#include "../containers/maybe.h"
#include "../containers/stack.h"
#include "../layer.h"
#include "../layers/embedding.h"
#include "../layers/norm.h"
#include "../layers/swiglu.h"
#include "language_model.h"

namespace xgrad::nn {

/// Whether the embedding and the head share their weight.
enum class Head {
  own,   ///< the head has its own weight
  tied,  ///< the head uses the weight of the embedding
};

/// The options of Llama. The defaults give Llama 7B.
struct LlamaOptions {
  std::int64_t vocabulary = 32000;            ///< V, the number of tokens
  std::int64_t context = 2048;                ///< maximum number of positions
  std::int64_t dim = 4096;                    ///< C, the width of the embeddings
  std::int64_t heads = 32;                    ///< H, the number of heads
  std::optional<std::int64_t> kv_heads = {};  ///< number of heads of keys and values; H if not given
  std::int64_t layers = 32;
  std::int64_t ffn = 11008;  ///< width of the hidden layer of the feed-forward network
  double norm_eps = 1e-6;
  double theta = 10000;  ///< base of the rotary positions
  Head head = Head::own;
  std::optional<RotaryScaling> rope_scaling = {};  ///< scaling of the rotary positions in Llama 3.1
  std::optional<std::int64_t> window = {};         ///< attend to this many positions, the current included (Mistral)
  bool qkv_bias = false;                           ///< whether the maps of queries, keys and values have biases (Qwen2)
};

/// A block: h = x + attn(norm1(x))      y = h + ffn(norm2(h))
struct LlamaBlock : Layer<LlamaBlock, LlamaOptions> {
  using Layer::Layer;
  static void check(const Options& options);

  /// x (B, T, C) -> (B, T, C). Each position attends to itself and all earlier ones. Throws ShapeError.
  Tensor forward(const Tensor& x) const;
  /// The same, step by step: x are the next positions, which also attend to `past`. Their keys and values are appended
  /// to `past`, unless something is thrown.
  Tensor forward(const Tensor& x, KeyValueCache& past) const;

  RMSNorm norm1{at("norm1"), options.dim, {.eps = options.norm_eps}};
  MultiHeadAttention attn{at("attn"),
                          options.dim,
                          options.heads,
                          {.bias = options.qkv_bias,
                           .o_bias = false,
                           .kv_heads = options.kv_heads,
                           .packed = true,
                           .rotary_theta = options.theta,
                           .rotary_scaling = options.rope_scaling}};
  RMSNorm norm2{at("norm2"), options.dim, {.eps = options.norm_eps}};
  SwiGlu ffn{at("ffn"), {.in = options.dim, .hidden = options.ffn}};
};

/// logits = head(norm(blocks(embedding(ids))))
///
/// Initial weights are normal with standard deviation 0.02.
struct Llama : LanguageModel {
  using Options = LlamaOptions;

  /// Throws ValueError for sizes below 1, a window below 1, or `heads` that are not a multiple of kv_heads. Also throws
  /// it unless dim / heads is an even integer.
  Llama(At here, const Options& options);
  explicit Llama(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  std::int64_t context() const override { return options.context; }

  const Options options;
  Embedding embedding{at("embedding"), options.vocabulary, options.dim, {.init = detail::first_weights()}};
  Stack<LlamaBlock> blocks{at("blocks"), options.layers, options};
  RMSNorm norm{at("norm"), options.dim, {.eps = options.norm_eps}};
  Maybe<Linear> head{at("head"), options.head == Head::own, options.dim, options.vocabulary,
                     LinearOptions{.bias = false}};  ///< absent if the head is tied

 protected:
  Tensor forward(const Index& ids) const override;
  Tensor forward(const Index& ids, LanguageState& state) const override;
  std::int64_t layers() const override { return blocks.size(); }

 private:
  Tensor logits(const Tensor& h) const;
};

}  // namespace xgrad::nn
