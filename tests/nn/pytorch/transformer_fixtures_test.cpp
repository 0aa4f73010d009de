// The transformer's layers against PyTorch's.
#include "../support.h"
#include "support/fixtures.h"

#include <xgrad/nn/pytorch/transformer.h>

namespace xgrad::testing {
namespace {

nn::pytorch::TransformerLayerOptions layer_options(const Case& c) {
  return {.dim_feedforward = 5,
          .dropout = 0,
          .activation = c.text("activation") == "relu" ? nn::Activation(relu) : nn::Activation(gelu),
          .layer_norm_eps = c.number("eps"),
          .batch_first = c.text("layout") == "batch_first",
          .norm_first = c.flag("norm_first"),
          .bias = c.flag("bias")};
}

nn::pytorch::TransformerStackOptions stack_options(const Case& c) {
  return {.layer = layer_options(c), .norm = c.flag("norm")};
}

// The masks that the case has, which stand behind the inputs.
struct Masks {
  nn::pytorch::EncoderMasks source;
  nn::pytorch::DecoderMasks target;

  Masks(const Case& c, int inputs) {
    const std::map<std::string, nn::pytorch::MaskOrBias*> places{
        {"src_mask", &source.src_mask},
        {"src_key_padding_mask", &source.src_key_padding_mask},
        {"tgt_mask", &target.tgt_mask},
        {"memory_mask", &target.memory_mask},
        {"tgt_key_padding_mask", &target.tgt_key_padding_mask},
        {"memory_key_padding_mask", &target.memory_key_padding_mask},
    };
    int i = inputs;
    for (const std::string& name : c.texts("given")) {
      if (name == "none") continue;
      const bool bias = c.x(i).defined();
      *places.at(name) = bias ? nn::pytorch::MaskOrBias(c.x(i)) : nn::pytorch::MaskOrBias(c.mask(i));
      ++i;
    }
    source.is_causal = target.tgt_is_causal = target.memory_is_causal = c.text("masks") == "causal";
  }
};

template <class Run>
Results run(const Case& c, const nn::Module& module, const Run& f) {
  const Tensors parameters = load_list(module, c.xs().back().value());
  Results results = f();
  results.parameters = parameters;
  return results;
}

Results encoder_layer(const Case& c) {
  const nn::pytorch::TransformerEncoderLayer layer(nn::root, 4, 2, layer_options(c));
  return run(c, layer, [&] { return layer(c.x(0), Masks(c, 1).source); });
}

Results decoder_layer(const Case& c) {
  const nn::pytorch::TransformerDecoderLayer layer(nn::root, 4, 2, layer_options(c));
  return run(c, layer, [&] { return layer(c.x(0), c.x(1), Masks(c, 2).target); });
}

Results encoder(const Case& c) {
  const nn::pytorch::TransformerEncoder layers(nn::root, 2, 4, 2, stack_options(c));
  return run(c, layers, [&] { return layers(c.x(0), Masks(c, 1).source); });
}

Results decoder(const Case& c) {
  const nn::pytorch::TransformerDecoder layers(nn::root, 2, 4, 2, stack_options(c));
  return run(c, layers, [&] { return layers(c.x(0), c.x(1), Masks(c, 2).target); });
}

Results transformer(const Case& c) {
  const nn::pytorch::Transformer model(
      nn::root,
      {.d_model = 4, .nhead = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .layer = layer_options(c)});
  const Masks masks(c, 2);
  return run(c, model, [&] { return model(c.x(0), c.x(1), masks.source, masks.target); });
}

}  // namespace

TEST_CASE("The transformer's layers and their gradients equal PyTorch's") {
  check_fixtures("transformer", {{"encoder_layer", encoder_layer},
                                 {"decoder_layer", decoder_layer},
                                 {"encoder", encoder},
                                 {"decoder", decoder},
                                 {"transformer", transformer}});
}

}  // namespace xgrad::testing
