// MultiheadAttention against PyTorch's; its names, masks, layouts and weights.
#include "../support.h"
#include "support/fixtures.h"

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;
using namespace nn::pytorch;

TEST_CASE("One mask serves all heads of three sequences, and leaves an added key visible") {
  const MultiheadAttention attn{root, 6, 3, {.add_bias_kv = true}};
  const Tensor x(normal({3, 4, 6}));
  check_close(attn.forward(x, x, x, {.attn_mask = zeros({4, 4})}).output.value(), attn.forward(x, x, x).output.value());
}

TEST_CASE("The library's own masks leave added keys visible") {
  const MultiheadAttention attn{root, 4, 2, {.add_bias_kv = true, .add_zero_attn = true}};
  const Tensor x(normal({2, 3, 4}));
  const Mask later({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0});
  check_close(attn(x, causal).value(), attn.forward(x, x, x, {.attn_mask = later}).output.value());
  const Mask padded({2, 3}, {0, 1, 1, 0, 0, 0});
  check_close(attn(x, padding(Index({2}, {1, 3}))).value(),
              attn.forward(x, x, x, {.key_padding_mask = padded}).output.value());
  const Tensor bias(normal({1, 3}));
  check_close(attn(x, {.bias = bias}).value(),
              attn.forward(x, x, x, {.attn_mask = Tensor(broadcast_to(bias, {3, 3}))}).output.value());
}

TEST_CASE("Weights sum to 1, are averaged over heads if wanted, and asking for them changes no result") {
  const MultiheadAttention attn{root, 4, 2, {.dropout = 0.5, .add_zero_attn = true}};
  const Tensor x(normal({2, 3, 4}));
  manual_seed(7);
  const auto [y, dropped] = attn.forward(x, x, x, {.average_attn_weights = false});
  CHECK(dropped.shape() == Shape{2, 2, 3, 4});
  manual_seed(7);
  check_close(attn.forward(x, x, x, {.need_weights = false}).output.value(), y.value());
  std::int64_t zeros = 0;
  for (const Real weight : dropped.value()) zeros += weight == 0;
  CHECK(zeros > 10);
  CHECK(zeros < 38);

  const Eval eval(attn);
  const Tensor each = attn.forward(x, x, x, {.average_attn_weights = false}).weights;
  const Tensor averaged = attn.forward(x, x, x).weights;
  check_close(averaged.value(), mean(each, 1).value());
  check_close(sum(averaged, -1).value(), ones({2, 3}).value());
  CHECK(!attn.forward(x, x, x, {.need_weights = false}).weights.defined());
}

TEST_CASE("A query that may attend to nothing gives the output's bias, with gradients 0") {
  const MultiheadAttention attn{root, 4, 2};
  attn.out_proj.bias.assign(normal({4}, 9));
  const Tensor x = variable(normal({1, 3, 4}, 1));
  for (const bool weights : {true, false}) {
    for (const MaskOrBias& mask : {MaskOrBias(Mask({1, 3}, true)), MaskOrBias(full({1, 3}, -INFINITY))}) {
      const auto [y, w] = attn.forward(x, x, x, {.key_padding_mask = mask, .need_weights = weights});
      for (int t = 0; t < 3; ++t) CHECK(equal(y.value()[{0, t}], attn.out_proj.bias.value()));
      if (weights) CHECK(equal(w.value(), Array({1, 3, 3}, Real(0))));
      const Tensors gradients = grad(y, {x}, {.seed = normal({1, 3, 4}, 2)});
      CHECK(equal(gradients[0].value(), Array({1, 3, 4}, Real(0))));
    }
  }
}

TEST_CASE("MultiheadAttention refuses what does not fit") {
  CHECK_REFUSED(ValueError, MultiheadAttention(root, 64, 5), "multihead_attention", "embed_dim 64", "5 heads");
  CHECK_REFUSED(ValueError, MultiheadAttention(root, 4, 2, {.dropout = -1}), "MultiheadAttention",
                "dropout -1 is not in [0, 1]");
  CHECK_REFUSED(ValueError, MultiheadAttention(root, 4, 2, {.kdim = -1}), "MultiheadAttention", "kdim -1 is not");
  CHECK_REFUSED(ValueError, MultiheadAttention(root, 4, 2, {.vdim = -1}), "MultiheadAttention", "vdim -1 is not");
  CHECK_REFUSED(ValueError, MultiheadAttention(root, 0, 2), "MultiheadAttention", "embed_dim 0 is not positive");
  CHECK_REFUSED(ValueError, MultiheadAttention(root, 4, 0), "MultiheadAttention", "heads 0 is not positive");
  struct Model : Module {
    MultiheadAttention attn{at("attn"), 4, 2};
  } model;
  const MultiheadAttention& attn = model.attn;
  const Tensor x(normal({2, 3, 4})), y(normal({2, 5, 4}));
  CHECK_REFUSED(ShapeError, attn.forward(x, y, y, {.attn_mask = Mask({5, 3}, false)}), "multihead_attention",
                "attn_mask of shape [5, 3], needs [3, 5] or [4, 3, 5]", "in attn");
  CHECK_REFUSED(ShapeError, attn.forward(x, y, y, {.key_padding_mask = zeros({5})}), "multihead_attention",
                "key_padding_mask of shape [5], needs [2, 5]", "in attn");
  const Tensor one(normal({1, 5, 4})), flat(normal({5, 4}));
  const auto refused = [&](const Tensor& q, const Tensor& k, const Tensor& v, const char* rule) {
    CHECK_REFUSED(ShapeError, attn.forward(q, k, v), "multihead_attention",
                  str(rule, ": query ", q.shape(), ", key ", k.shape(), ", value ", v.shape()), "in attn");
  };
  const char* const axes = "needs three axes, or two without a batch, as many in each";
  refused(x, y, flat, axes);
  refused(x, flat, y, axes);
  refused(flat, y, y, axes);
  refused(flat[0], flat[0], flat[0], axes);
  refused(x, one, one, "batch sizes differ");
  refused(x, y, one, "batch sizes differ");
  refused(x, y, x, "keys and values differ in number");
}

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
