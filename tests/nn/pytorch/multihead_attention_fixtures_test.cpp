// MultiheadAttention against PyTorch's, in combinations of all options.
#include "../support.h"
#include "support/fixtures.h"

#include <xgrad/nn/pytorch/multihead_attention.h>

namespace xgrad::testing {
namespace {

Results multihead(const Case& c) {
  const nn::pytorch::MultiheadAttention layer(nn::root, 4, 2,
                                              {.bias = c.flag("bias"),
                                               .add_bias_kv = c.flag("bias_kv"),
                                               .add_zero_attn = c.flag("zero_attn"),
                                               .kdim = c.numbers("widths")[0],
                                               .vdim = c.numbers("widths")[1],
                                               .batch_first = c.text("layout") == "batch_first"});
  const Tensors parameters = load_list(layer, c.xs().back().value());

  nn::pytorch::MultiheadCall call{.is_causal = c.text("attn") == "causal",
                                  .need_weights = c.text("weights") != "none",
                                  .average_attn_weights = c.text("weights") == "averaged"};
  int next = 3;
  const auto mask = [&](const std::string& kind) -> nn::pytorch::MaskOrBias {
    if (kind == "none") return {};
    const int i = next++;
    if (kind == "bias" || kind == "biases") return c.x(i);
    return c.mask(i);
  };
  call.key_padding_mask = mask(c.text("padding"));
  call.attn_mask = mask(c.text("attn"));
  const auto [y, weights] = layer.forward(c.x(0), c.x(1), c.x(2), call);
  Results results(weights.defined() ? Tensors{y, weights} : Tensors{y});
  results.parameters = parameters;
  return results;
}

}  // namespace

TEST_CASE("MultiheadAttention and its gradients equal PyTorch's in combinations of all options") {
  check_fixtures("multihead", {{"multihead", multihead}});
}

}  // namespace xgrad::testing
