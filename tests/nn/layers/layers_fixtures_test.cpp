#include <xgrad/xgrad.h>

#include "../support.h"

namespace xgrad::testing {
namespace {

Results linear_layer(const Case& c) {
  const nn::Linear layer(nn::root, 4, 3, {.bias = c.flag("bias")});
  return run_module(c, layer, [&] { return layer(c.x(0)); });
}

Results embedding_layer(const Case& c) {
  nn::EmbeddingOptions options;
  if (c.has("padding_idx")) options.padding_idx = c.integer("padding_idx");
  const nn::Embedding layer(nn::root, 6, 3, options);
  return run_module(c, layer, [&] { return layer(c.index(0)); });
}

Results layer_norm_layer(const Case& c) {
  const nn::LayerNorm layer(nn::root, c.shape("size"), {.affine = c.flag("affine"), .bias = c.flag("bias")});
  return run_module(c, layer, [&] { return layer(c.x(0)); });
}

Results multihead_attention(const Case& c) {
  const nn::pytorch::MultiheadAttentionOptions options{
      .bias = c.flag("bias"), .kdim = c.integer("kdim"), .vdim = c.integer("vdim")};
  AttentionMask mask;
  if (c.text("mask") == "padding") mask.masked = c.mask(3).reshaped({2, 1, 1, 3});
  if (c.text("mask") == "pairs") mask.masked = c.mask(3);
  if (c.text("mask") == "bias") mask.bias = c.x(3);
  const nn::pytorch::MultiheadAttention layer(nn::root, 4, c.integer("heads"), options);
  return run_module(c, layer, [&] { return layer(c.x(0), c.x(1), c.x(2), mask); });
}

nn::TransformerOptions block_options(const Case& c) {
  return {.dim = 4,
          .ffn = 6,
          .heads = 2,
          .dropout = 0,
          .norm = c.text("norm") == "pre" ? nn::NormOrder::pre : nn::NormOrder::post,
          .activation = c.text("activation") == "relu" ? nn::Activation(relu) : nn::Activation(gelu),
          .attention_bias = true};
}

Results encoder_block(const Case& c) {
  const nn::EncoderBlock layer(nn::root, block_options(c));
  return run_module(c, layer, [&] { return layer(c.x(0), nn::padding(c.index(1))); });
}

Results decoder_block(const Case& c) {
  const nn::DecoderBlock layer(nn::root, block_options(c));
  return run_module(c, layer, [&] { return layer(c.x(0), c.x(1), nn::padding(c.index(2))); });
}

}  // namespace

TEST_CASE("layers and their gradients equal PyTorch's") {
  check_fixtures("nn", {
                           {"linear", linear_layer},
                           {"embedding", embedding_layer},
                           {"layer_norm", layer_norm_layer},
                           {"multihead_attention", multihead_attention},
                           {"encoder_block", encoder_block},
                           {"decoder_block", decoder_block},
                       },
                 // Biases of keys have no gradient: softmax takes no notice of them.
                 {.terms = {{"encoder_block", 1}, {"decoder_block", 1}},
                  .ulps = 48,  // of several products, one after the other; 38 were seen
                  .ulps_of = {{"multihead_attention/2", 1200}}});  // terms 300 times its gradients by queries and keys
}

}  // namespace xgrad::testing
