// The transformer's layers with the parameters, names, options and results of PyTorch's.
#include "transformer.h"

#include "../../ops/elementwise/arithmetic.h"

namespace xgrad::nn::pytorch {
namespace {

MultiheadAttentionOptions attention_options(const TransformerLayerOptions& options) {
  return {.dropout = options.dropout, .bias = options.bias, .batch_first = options.batch_first};
}

LayerNormOptions norm_options(const TransformerLayerOptions& options) {
  return {.eps = options.layer_norm_eps, .bias = options.bias};
}

TransformerStackOptions with_norm(const TransformerModelOptions& options) {
  return {.layer = options.layer, .norm = true};
}

// x with a residual connection around a sublayer of this layer.
template <class Layer, class F>
Tensor around(const Layer& layer, const LayerNorm& norm, const Dropout& dropout, const Tensor& x, const F& f) {
  return layer.options.norm_first ? x + dropout(f(norm(x))) : norm(x + dropout(f(x)));
}

template <class Layer>
Tensor feed_forward(const Layer& layer, const Tensor& x) {
  return layer.linear2(layer.dropout(layer.options.activation(layer.linear1(x))));
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(At here, std::int64_t d_model, std::int64_t nhead,
                                                 const Options& given)
    : Module(std::move(here)),
      options(given),
      self_attn(at("self_attn"), d_model, nhead, attention_options(options)),
      linear1(at("linear1"), d_model, options.dim_feedforward, {.bias = options.bias}),
      dropout(at("dropout"), options.dropout),
      linear2(at("linear2"), options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(at("norm1"), d_model, norm_options(options)),
      norm2(at("norm2"), d_model, norm_options(options)),
      dropout1(at("dropout1"), options.dropout),
      dropout2(at("dropout2"), options.dropout) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& src, const EncoderMasks& masks) const {
  const auto here = enter(src);
  const MultiheadCall call{.key_padding_mask = masks.src_key_padding_mask,
                           .attn_mask = masks.src_mask,
                           .is_causal = masks.is_causal,
                           .need_weights = false};
  const Tensor h =
      around(*this, norm1, dropout1, src, [&](const Tensor& x) { return self_attn.forward(x, x, x, call).output; });
  return here(around(*this, norm2, dropout2, h, [&](const Tensor& x) { return feed_forward(*this, x); }));
}

TransformerDecoderLayer::TransformerDecoderLayer(At here, std::int64_t d_model, std::int64_t nhead,
                                                 const Options& given)
    : Module(std::move(here)),
      options(given),
      self_attn(at("self_attn"), d_model, nhead, attention_options(options)),
      multihead_attn(at("multihead_attn"), d_model, nhead, attention_options(options)),
      linear1(at("linear1"), d_model, options.dim_feedforward, {.bias = options.bias}),
      dropout(at("dropout"), options.dropout),
      linear2(at("linear2"), options.dim_feedforward, d_model, {.bias = options.bias}),
      norm1(at("norm1"), d_model, norm_options(options)),
      norm2(at("norm2"), d_model, norm_options(options)),
      norm3(at("norm3"), d_model, norm_options(options)),
      dropout1(at("dropout1"), options.dropout),
      dropout2(at("dropout2"), options.dropout),
      dropout3(at("dropout3"), options.dropout) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks) const {
  const auto here = enter(tgt, memory);
  const MultiheadCall self_call{.key_padding_mask = masks.tgt_key_padding_mask,
                                .attn_mask = masks.tgt_mask,
                                .is_causal = masks.tgt_is_causal,
                                .need_weights = false};
  const MultiheadCall memory_call{.key_padding_mask = masks.memory_key_padding_mask,
                                  .attn_mask = masks.memory_mask,
                                  .is_causal = masks.memory_is_causal,
                                  .need_weights = false};
  const Tensor g = around(*this, norm1, dropout1, tgt,
                          [&](const Tensor& x) { return self_attn.forward(x, x, x, self_call).output; });
  const Tensor h = around(*this, norm2, dropout2, g, [&](const Tensor& x) {
    return multihead_attn.forward(x, memory, memory, memory_call).output;
  });
  return here(around(*this, norm3, dropout3, h, [&](const Tensor& x) { return feed_forward(*this, x); }));
}

TransformerEncoder::TransformerEncoder(At here, std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                                       const Options& options)
    : Module(std::move(here)),
      layers(at("layers"), num_layers, d_model, nhead, options.layer),
      norm(at("norm"), options.norm, d_model, norm_options(options.layer)) {}

Tensor TransformerEncoder::operator()(const Tensor& src, const EncoderMasks& masks) const {
  const auto here = enter(src);
  const Tensor y = layers(src, masks);
  return here(norm(y));
}

TransformerDecoder::TransformerDecoder(At here, std::int64_t num_layers, std::int64_t d_model, std::int64_t nhead,
                                       const Options& options)
    : Module(std::move(here)),
      layers(at("layers"), num_layers, d_model, nhead, options.layer),
      norm(at("norm"), options.norm, d_model, norm_options(options.layer)) {}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory, const DecoderMasks& masks) const {
  const auto here = enter(tgt, memory);
  const Tensor y = layers(tgt, memory, masks);
  return here(norm(y));
}

Transformer::Transformer(At here, const Options& options)
    : Module(std::move(here)),
      encoder(at("encoder"), options.num_encoder_layers, options.d_model, options.nhead, with_norm(options)),
      decoder(at("decoder"), options.num_decoder_layers, options.d_model, options.nhead, with_norm(options)) {
  for (const Tensor& parameter : parameters()) {
    if (parameter.rank() > 1) init::reset(parameter, init::xavier_uniform());
  }
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt, const EncoderMasks& source,
                               const DecoderMasks& target) const {
  const auto here = enter(src, tgt);
  return here(decoder(tgt, encoder(src, source), target));
}

}  // namespace xgrad::nn::pytorch
