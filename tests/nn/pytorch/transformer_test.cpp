// The transformer's layers: names, first numbers, dropout, masks. Their numbers are compared in
// transformer_fixtures_test.cpp.
#include "../support.h"

#include <cmath>
#include <set>

#include <xgrad/nn/attention/masks.h>
#include <xgrad/nn/pytorch/transformer.h>
#include <xgrad/ops/arrange/slice.h>

namespace xgrad::testing {
namespace {

using namespace nn;
using namespace nn::pytorch;

const TransformerLayerOptions small{.dim_feedforward = 6, .dropout = 0};

TEST_CASE("The transformer's parameters have PyTorch's names") {
  const Transformer model{root,
                          {.d_model = 4, .nhead = 2, .num_encoder_layers = 1, .num_decoder_layers = 2, .layer = small}};
  std::set<std::string> names;
  for (const auto& [name, value] : model.state_dict()) names.insert(name);
  std::set<std::string> expected;
  const auto expect = [&](const std::string& layer, const std::vector<std::string>& attentions, int norms) {
    for (const std::string& attn : attentions) {
      for (const char* own : {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"}) {
        expected.insert(cat(layer, ".", attn, ".", own));
      }
    }
    std::vector<std::string> maps{"linear1", "linear2"};
    for (int i = 1; i <= norms; ++i) maps.push_back(cat("norm", i));
    for (const std::string& map : maps)
      expected.insert({cat(layer, ".", map, ".weight"), cat(layer, ".", map, ".bias")});
  };
  expect("encoder.layers.0", {"self_attn"}, 2);
  expect("decoder.layers.0", {"self_attn", "multihead_attn"}, 3);
  expect("decoder.layers.1", {"self_attn", "multihead_attn"}, 3);
  expected.insert({"encoder.norm.weight", "encoder.norm.bias", "decoder.norm.weight", "decoder.norm.bias"});
  CHECK(names == expected);
}

TEST_CASE("The standard model has as many parameters as PyTorch's, and its matrices start Xavier-uniform") {
  const Transformer model{root};
  CHECK(model.num_parameters() == 44140544);
  for (const auto& named : model.named_parameters()) {
    const Tensor& parameter = named.second;
    if (parameter.rank() < 2) continue;
    const double bound = std::sqrt(6.0 / static_cast<double>(parameter.dim(0) + parameter.dim(1)));
    double most = 0;
    for (const Real value : parameter.value()) most = std::max<double>(most, std::abs(value));
    CHECK_MESSAGE(most <= bound, named.first);
    CHECK_MESSAGE(most > 0.99 * bound, named.first);
  }
}

TEST_CASE("A causal transformer does not look ahead, with a mask or with the hint") {
  const Transformer model{root,
                          {.d_model = 4, .nhead = 2, .num_encoder_layers = 1, .num_decoder_layers = 2, .layer = small}};
  const Tensor src(normal({2, 5, 4}, 1)), tgt(normal({2, 4, 4}, 2));
  const Tensor y = model(src, tgt, {}, {.tgt_is_causal = true});
  check_close(model(src, tgt, {}, {.tgt_mask = causal_mask(4)}).value(), y.value());
  check_close(model(src, tgt[{_, slice(0, 2)}], {}, {.tgt_is_causal = true}).value(), y.value()[{_, slice(0, 2)}]);
  CHECK(difference(model(src, tgt).value(), y.value()) > 1e-3);
}

TEST_CASE("Dropout acts in training, on every part, and not else") {
  const TransformerEncoderLayer layer{root, 4, 2, {.dim_feedforward = 6, .dropout = 0.5}};
  const Tensor x(normal({2, 3, 4}));
  manual_seed(1);
  const Tensor first = layer(x), second = layer(x);
  CHECK(!equal(first.value(), second.value()));
  const Eval eval(layer);
  CHECK(equal(layer(x).value(), layer(x).value()));
}

TEST_CASE("The transformer's layers refuse what does not fit") {
  CHECK_THROWS_AS(TransformerEncoderLayer(root, 6, 4), ValueError);
  CHECK_THROWS_AS(TransformerDecoderLayer(root, 4, 2, {.dim_feedforward = 0}), ValueError);
  CHECK_THROWS_AS(TransformerEncoderLayer(root, 4, 2, {.dropout = 1.5}), ValueError);
  CHECK_THROWS_AS(TransformerEncoder(root, -1, 4, 2), ValueError);
  const Transformer model{root,
                          {.d_model = 4, .nhead = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .layer = small}};
  CHECK_THROWS_AS(model(normal({2, 5, 3}), normal({2, 4, 4})), ShapeError);
  CHECK_THROWS_AS(model(normal({3, 5, 4}), normal({2, 4, 4})), ShapeError);
  CHECK(error_of<ShapeError>([&] {
          model(normal({2, 5, 4}), normal({2, 4, 4}), {.src_mask = Mask({4, 4}, false)});
        }) ==
        "multihead_attention: attn_mask of shape [4, 4], needs [5, 5] or [4, 5, 5]\n"
        "  in encoder.layers.0.self_attn (MultiheadAttention 4, 2 heads)");
}

}  // namespace
}  // namespace xgrad::testing
