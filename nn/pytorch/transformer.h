// The transformer's layers with the parameters, names, options and results of PyTorch's, so that files go both ways.
//
// nn/models/transformer.h has the models that the examples are made of: with embeddings, positions, and decoding step
// by step.
#pragma once

#include "../containers/maybe.h"
#include "../containers/stack.h"
#include "../layers/activation.h"
#include "../layers/dropout.h"
#include "../layers/norm.h"
#include "multihead_attention.h"

namespace xgrad::nn::pytorch {

/// The options of every layer of an encoder or decoder.
struct TransformerLayerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  Activation activation = relu;  ///< or gelu, or any other
  double layer_norm_eps = 1e-5;
  bool batch_first = true;  ///< (B, T, C), as everywhere here; else (T, B, C), PyTorch's default
  bool norm_first = false;  ///< x + f(norm(x)) instead of norm(x + f(x))
  bool bias = true;         ///< of all linear maps and norms
};

/// The masks of an encoder, as in MultiheadCall.
struct EncoderMasks {
  MaskOrBias src_mask{};              ///< (S, S), or (B H, S, S)
  MaskOrBias src_key_padding_mask{};  ///< (B, S)
  bool is_causal = false;             ///< position t sees 0 ... t; src_mask need not say so
};

/// Self-attention and feed-forward, each with its residual connection, dropout and layer norm (Vaswani et al. 2017):
///
///     h = norm1(x + self_attn(x)),    y = norm2(h + linear2(activation(linear1(h))))
struct TransformerEncoderLayer : Module {
  using Options = TransformerLayerOptions;

  /// Throws ValueError for sizes below 1, a d_model that does not divide by nhead, a dropout outside [0, 1].
  TransformerEncoderLayer(At here, std::int64_t d_model, std::int64_t nhead, const Options& options = {});
  explicit TransformerEncoderLayer(Placeless, ...);  ///< does not compile: no place

  /// src (B, S, C), or (S, B, C) unless batch_first, or (S, C), to the same shape. Throws ShapeError.
  Tensor operator()(const Tensor& src, const EncoderMasks& masks = {}) const;

  const Options options;
  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;
};

/// The masks of a decoder, for its own positions and for the memory.
struct DecoderMasks {
  MaskOrBias tgt_mask{};                 ///< (T, T), or (B H, T, T)
  MaskOrBias memory_mask{};              ///< (T, S), or (B H, T, S)
  MaskOrBias tgt_key_padding_mask{};     ///< (B, T)
  MaskOrBias memory_key_padding_mask{};  ///< (B, S)
  bool tgt_is_causal = false;            ///< position t sees 0 ... t; tgt_mask need not say so
  bool memory_is_causal = false;
};

/// Self-attention, attention to a memory, and feed-forward, each with its residual connection, dropout and layer norm:
///
///     g = norm1(x + self_attn(x)),    h = norm2(g + multihead_attn(g, memory)),
///     y = norm3(h + linear2(activation(linear1(h))))
struct TransformerDecoderLayer : Module {
  using Options = TransformerLayerOptions;

  /// Throws as TransformerEncoderLayer.
  TransformerDecoderLayer(At here, std::int64_t d_model, std::int64_t nhead, const Options& options = {});
  explicit TransformerDecoderLayer(Placeless, ...);  ///< does not compile: no place

  /// tgt (B, T, C), memory (B, S, C), in the layouts of TransformerEncoderLayer, to the shape of tgt. Throws
  /// ShapeError.
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;

  const Options options;
  MultiheadAttention self_attn, multihead_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;
};

struct TransformerStackOptions {
  TransformerLayerOptions layer{};
  bool norm = false;  ///< one more layer norm at the end, as norm_first needs it
};

/// layers.0, layers.1, ... one after the other, and a last norm if wanted.
struct TransformerEncoder : Module {
  using Options = TransformerStackOptions;

  /// Throws as TransformerEncoderLayer, and ValueError for a negative number of layers.
  TransformerEncoder(At here, std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     const Options& options = {});
  explicit TransformerEncoder(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& src, const EncoderMasks& masks = {}) const;

  Stack<TransformerEncoderLayer> layers;
  Maybe<LayerNorm> norm;
};

/// The same of decoder layers.
struct TransformerDecoder : Module {
  using Options = TransformerStackOptions;

  TransformerDecoder(At here, std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                     const Options& options = {});
  explicit TransformerDecoder(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks = {}) const;

  Stack<TransformerDecoderLayer> layers;
  Maybe<LayerNorm> norm;
};

struct TransformerModelOptions {
  std::int64_t d_model = 512;
  std::int64_t nhead = 8;
  std::int64_t num_encoder_layers = 6;
  std::int64_t num_decoder_layers = 6;
  TransformerLayerOptions layer{};
};

/// Encoder and decoder, both with a last norm; matrices start Xavier-uniform. Embeddings and the map to a vocabulary
/// are up to the user.
///
///     nn::pytorch::Transformer model{nn::root, {.d_model = 64, .nhead = 4}};
///     const Tensor y = model(src, tgt, {.src_key_padding_mask = padding}, {.tgt_is_causal = true});       // (B, T, C)
struct Transformer : Module {
  using Options = TransformerModelOptions;

  /// Throws as TransformerEncoder.
  explicit Transformer(At here, const Options& options = {});
  explicit Transformer(Placeless, ...);  ///< does not compile: no place

  /// src (B, S, C), tgt (B, T, C), in the layouts of TransformerEncoderLayer, to the shape of tgt. Throws ShapeError.
  Tensor operator()(const Tensor& src, const Tensor& tgt, const EncoderMasks& source = {},
                    const DecoderMasks& target = {}) const;

  TransformerEncoder encoder;
  TransformerDecoder decoder;
};

}  // namespace xgrad::nn::pytorch
