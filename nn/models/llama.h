// Llama (Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023): a stack of pre-norm blocks with
// RMS norm, rotary positions, gated feed-forward, and fewer heads of keys than of queries. With other options it is
// Llama 3.1, Mistral (Jiang et al. 2023) or Qwen2 (Yang et al. 2024).
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
  own,   ///< the head has a weight of its own
  tied,  ///< the embedding is the head, too
};

/// The defaults are those of Llama 7B.
struct LlamaOptions {
  std::int64_t vocabulary = 32000;            ///< V
  std::int64_t context = 2048;                ///< maximum number of positions
  std::int64_t dim = 4096;                    ///< C
  std::int64_t heads = 32;                    ///< H
  std::optional<std::int64_t> kv_heads = {};  ///< of keys and values; H if not given
  std::int64_t layers = 32;
  std::int64_t ffn = 11008;  ///< width of the feed-forward
  double norm_eps = 1e-6;
  double theta = 10000;  ///< of the rotary positions
  Head head = Head::own;
  std::optional<RotaryScaling> rope_scaling = {};  ///< Llama 3.1's
  std::optional<std::int64_t> window = {};         ///< Mistral's: each position sees itself and window - 1 before it
  bool qkv_bias = false;                           ///< Qwen2's
};

/// h = x + attn(norm1(x))      y = h + ffn(norm2(h))
struct LlamaBlock : Layer<LlamaBlock, LlamaOptions> {
  using Layer::Layer;
  static void check(const Options& options);

  /// x (B, T, C) -> (B, T, C): each position sees those before. Throws ShapeError.
  Tensor forward(const Tensor& x) const;
  /// The same for the next positions, which see the past, too; it grows by them, unless something is thrown.
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
/// First weights normal with standard deviation 0.02.
struct Llama : LanguageModel {
  using Options = LlamaOptions;

  /// Throws ValueError for sizes below 1, a `dim` that does not divide by `heads` into even parts, or `heads` by
  /// kv_heads, and a window below 1.
  Llama(At here, const Options& options);
  explicit Llama(Placeless, ...);  ///< does not compile: the place, at("name") or root, is missing

  std::int64_t context() const override { return options.context; }

  const Options options;
  Embedding embedding{at("embedding"), options.vocabulary, options.dim, {.init = detail::first_weights()}};
  Stack<LlamaBlock> blocks{at("blocks"), options.layers, options};
  RMSNorm norm{at("norm"), options.dim, {.eps = options.norm_eps}};
  Maybe<Linear> head{at("head"), options.head == Head::own, options.dim, options.vocabulary,
                     LinearOptions{.bias = false}};  ///< of Head::own

 protected:
  Tensor forward(const Index& ids) const override;
  Tensor forward(const Index& ids, LanguageState& state) const override;
  std::int64_t layers() const override { return blocks.size(); }

 private:
  Tensor logits(const Tensor& h) const;
};

}  // namespace xgrad::nn
