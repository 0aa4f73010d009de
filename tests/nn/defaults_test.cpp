// What layers and models do without options: as PyTorch's, torchvision's and transformers' of the same name, or as the
// paper says.
#include "support.h"

#include <cmath>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// The names and shapes of all parameters and buffers.
std::string described(const Module& module) {
  std::string all;
  for (const auto& [name, tensor] : module.named_parameters()) all += str(name, " ", tensor.shape(), " ");
  for (const auto& [name, tensor] : module.named_buffers()) all += str("(", name, " ", tensor.shape(), ") ");
  return all;
}

// Linear, Conv2d, LayerNorm, BatchNorm2d, Embedding, RNN, GRU and their cells: fixtures, which are loaded by name.
TEST_CASE("Layers have PyTorch's parameters") {
  const std::vector<std::pair<std::string, std::string>> rows{
      {described(Conv1d(root, 4, 6, 3)), "weight [6, 4, 3] bias [6] "},
      {described(ConvTranspose2d(root, 4, 6, {2, 3})), "weight [4, 6, 2, 3] bias [6] "},
      {described(RMSNorm(root, 3)), "weight [3] "},
      {described(GroupNorm(root, 2, 4)), "weight [4] bias [4] "},
      {described(BatchNorm1d(root, 3)),
       "weight [3] bias [3] (running_mean [3]) (running_var [3]) (num_batches_tracked []) "},
      {described(PReLU(root)), "weight [1] "},
      {described(LSTM(root, 3, 4, {.layers = 2, .bidirectional = true})),
       "weight_ih_l0 [16, 3] weight_hh_l0 [16, 4] bias_ih_l0 [16] bias_hh_l0 [16] weight_ih_l0_reverse [16, 3] "
       "weight_hh_l0_reverse [16, 4] bias_ih_l0_reverse [16] bias_hh_l0_reverse [16] weight_ih_l1 [16, 8] "
       "weight_hh_l1 [16, 4] bias_ih_l1 [16] bias_hh_l1 [16] weight_ih_l1_reverse [16, 8] weight_hh_l1_reverse [16, 4] "
       "bias_ih_l1_reverse [16] bias_hh_l1_reverse [16] "},
      {described(LSTMCell(root, 3, 4)), "weight_ih [16, 3] weight_hh [16, 4] bias_ih [16] bias_hh [16] "},
      {described(Mlp(root, {.in = 3, .hidden = 4})), "fc1.weight [4, 3] fc1.bias [4] fc2.weight [3, 4] fc2.bias [3] "},
      {described(SwiGlu(root, {.in = 3, .hidden = 4})), "w1.weight [4, 3] w2.weight [3, 4] w3.weight [4, 3] "},
      {described(SwiGlu(root, {.in = 3, .hidden = 4, .out = 5})),
       "w1.weight [4, 3] w2.weight [5, 4] w3.weight [4, 3] "},
      {described(MultiHeadAttention(root, 4, 2)), "q.weight [4, 4] k.weight [4, 4] v.weight [4, 4] o.weight [4, 4] "},
      {described(pytorch::MultiheadAttention(root, 4, 2)),
       "in_proj_weight [12, 4] in_proj_bias [12] out_proj.weight [4, 4] out_proj.bias [4] "},
      {described(pytorch::MultiheadAttention(root, 6, 2, {.bias = false, .kdim = 4, .vdim = 5})),
       "q_proj_weight [6, 6] k_proj_weight [6, 4] v_proj_weight [6, 5] out_proj.weight [6, 6] "},
      {described(pytorch::MultiheadAttention(root, 6, 2, {.bias = false, .add_bias_kv = true, .kdim = 6, .vdim = 6})),
       "in_proj_weight [18, 6] bias_k [1, 1, 6] bias_v [1, 1, 6] out_proj.weight [6, 6] "},
      {described(LinearAttention(root, 4, 2)), "q.weight [4, 4] k.weight [4, 4] v.weight [4, 4] o.weight [4, 4] "},
      {described(SelfAttention(root, 4, 2)), "w_q.weight [2, 4] w_k.weight [2, 4] w_v.weight [2, 4] "},
      {described(GaussianAttention(root)), ""},
      {described(AddNorm(root, {3})), "norm.weight [3] norm.bias [3] "},
      {described(PositionalEncoding(root, 5, 3)), ""},
      {described(PositionalEncoding(root, 5, 3, {.kind = Positions::learned})), "weight [5, 3] "},
      {described(Dropout(root)), ""},
  };
  for (const auto& [found, expected] : rows) CHECK(found == expected);
}

// What no row of the catalogue shows, each of which begins with its description.
TEST_CASE("Descriptions have what is not as always") {
  const Conv1dOptions same{.padding = same_padding, .groups = 2};
  const Conv2dOptions striding{.stride = {1, 2}, .padding = {0, 1}, .groups = 2};
  const std::vector<std::pair<std::string, std::string>> rows{
      {Conv1d(root, 4, 6, 3, same).description(), "Conv1d 4 -> 6, kernel 3, padding same, 2 groups"},
      {Conv2d(root, 4, 6, 3, striding).description(), "Conv2d 4 -> 6, kernel 3, stride 1 x 2, padding 0 x 1, 2 groups"},
      {PositionalEncoding(root, 5, 3, {.kind = Positions::joined}).description(), "PositionalEncoding 5 x 3, joined"},
      {PositionalEncoding(root, 5, 3, {.kind = Positions::none}).description(), "PositionalEncoding none"},
      {DotProductAttention(root, {.dropout = 0.25}).description(), "DotProductAttention dropout 0.25"},
  };
  for (const auto& [found, expected] : rows) CHECK(found == expected);
}

// Where the catalogue has only rows with options.
TEST_CASE("Layers without options compute what their functions do without options") {
  const Tensor sequence(normal({2, 4, 7})), picture(normal({2, 4, 6, 7}));
  const Conv1d conv(root, 4, 6, 3);
  const ConvTranspose2d transposed(root, 4, 6, {2, 3});
  CHECK(equal(conv(sequence).value(), conv1d(sequence, conv.weight, conv.bias).value()));
  CHECK(equal(transposed(picture).value(), conv_transpose2d(picture, transposed.weight, transposed.bias).value()));
  CHECK(equal(MaxPool2d(root, 2)(picture).value(), max_pool2d(picture, 2).value()));
  CHECK(equal(AvgPool1d(root, 2)(sequence).value(), avg_pool1d(sequence, 2).value()));
  CHECK(equal(Softmax(root)(picture).value(), softmax(picture, -1).value()));
  CHECK(equal(Softshrink(root)(picture).value(), softshrink(picture, 0.5).value()));
  CHECK(equal(CELU(root)(picture).value(), celu(picture, 1).value()));
}

TEST_CASE("Norms without options have PyTorch's eps and momentum") {
  const Array small = uniform({4, 6, 5}, Real(-0.003), Real(0.003));  // a variance of 3e-6: eps matters
  const Tensor x(small);
  const auto standardized = [&](const Axes& axes, double eps) {
    const Tensor centred = x - mean(x, axes, {.keepdim = true});
    return (centred / sqrt(mean(square(centred), axes, {.keepdim = true}) + eps)).value();
  };
  check_close(LayerNorm(root, 5)(x).value(), standardized({-1}, 1e-5));
  check_close(LayerNorm(root, {6, 5})(x).value(), standardized({1, 2}, 1e-5));
  check_close(GroupNorm(root, 1, 6)(x).value(), standardized({1, 2}, 1e-5));
  check_close(GroupNorm(root, 6, 6)(x).value(), standardized({2}, 1e-5));
  check_close(AddNorm(root, {5})(x, 0 * x).value(), standardized({-1}, 1e-5));
  const Tensor tiny = x * 1e-6;
  check_close(RMSNorm(root, 5)(tiny).value(),
              (tiny / sqrt(mean(square(tiny), -1, {.keepdim = true}) + std::numeric_limits<Real>::epsilon())).value());
  const BatchNorm1d batch(root, 6);
  check_close(batch(x).value(), standardized({0, 2}, 1e-5));
  check_close(batch.running_mean.value(), (0.1 * mean(x, {0, 2})).value());
  check_close(batch.running_var.value(), (0.9 + 0.1 * var(x, {0, 2})).value());
  CHECK(batch.num_batches_tracked.item() == 1);
}

TEST_CASE("Dropout without options drops half, in training only") {
  CHECK(Dropout(root).p == 0.5);
  CHECK(Dropout2d(root).p == 0.5);
  CHECK(DropPath(root).p == 0.5);
  // All others drop nothing.
  const Tensor x(normal({2, 3, 4}));
  const auto check_steady = [&](const auto& layer) { CHECK(equal(layer(x).value(), layer(x).value())); };
  check_steady(Mlp(root, {.in = 4, .hidden = 5}));
  check_steady(PositionalEncoding(root, 5, 4));
  check_steady(MultiHeadAttention(root, 4, 2));
  check_steady(pytorch::MultiheadAttention(root, 4, 2));
  check_steady(SelfAttention(root, 4, 2));
  const AddNorm add_norm(root, {4});
  CHECK(equal(add_norm(x, x).value(), add_norm(x, x).value()));
  const auto check_pooling = [&](const auto& attn) { CHECK(equal(attn(x, x, x).value(), attn(x, x, x).value())); };
  check_pooling(DotProductAttention(root));
  check_pooling(BandAttention(root));
  check_pooling(GaussianAttention(root));
  check_pooling(AdditiveAttention(root, {.query = 4, .key = 4, .hidden = 3}));
  check_pooling(BilinearAttention(root, {.query = 4, .key = 4}));
}

TEST_CASE("Attention without options") {
  const Tensor x(normal({2, 3, 4}));
  const Array plain = scaled_dot_product_attention(x, x, x).value();
  check_close(DotProductAttention(root)(x, x, x).value(), plain);
  check_close(BandAttention(root)(x, x, x).value(), x.value());  // each position sees itself
  const Tensor distance = sum(square(unsqueeze(x, 2) - unsqueeze(x, 1)), -1);
  check_close(GaussianAttention(root)(x, x, x).value(), matmul(softmax(-0.5 * distance), x).value());
  CHECK_REFUSED(ValueError, BilinearAttention(root, {}), "Linear", "in 0 is not positive");
  CHECK_REFUSED(ValueError, BilinearAttention(root, {.query = 3}), "Linear", "out 0 is not positive");
  CHECK_REFUSED(ValueError, AdditiveAttention(root, {}), "Linear", "in 0 is not positive");
  CHECK_REFUSED(ValueError, AdditiveAttention(root, {.query = 2, .hidden = 2}), "Linear", "in 0 is not positive");
  CHECK_REFUSED(ValueError, AdditiveAttention(root, {.query = 2, .key = 2}), "Linear", "out 0 is not positive");
  CHECK_REFUSED(ValueError, SwiGlu(root, {}), "Linear", "in 0 is not positive");
  CHECK_REFUSED(ValueError, SwiGlu(root, {.hidden = 1}), "Linear", "in 0 is not positive");
  CHECK_REFUSED(ValueError, SwiGlu(root, {.in = 1}), "Linear", "out 0 is not positive");
  CHECK_REFUSED(ValueError, Mlp(root, {}), "Linear", "in 0 is not positive");
  CHECK_REFUSED(ValueError, Mlp(root, {.in = 1}), "Linear", "out 0 is not positive");
  check_close(Mlp(root, {.in = 4, .hidden = 1, .init = init::ones(), .bias_init = init::zeros()})(x).value(),
              (relu(sum(x, -1, {.keepdim = true})) * ones({4})).value());
}

TEST_CASE("Recurrent layers without options are those of tanh, forwards") {
  const Tensor x(normal({2, 3})), h(normal({2, 4}, 2));
  const RNNCell cell(root, 3, 4);
  const auto& w = cell.weights;
  const Tensor next = tanh(linear(x, w.ih, w.bias_ih) + linear(h, w.hh, w.bias_hh));
  check_close(cell(x, h).value(), next.value());
  const RNN layer(root, 3, 4);
  CHECK(layer.directions == 1);
  CHECK(layer.layers == 1);
  CHECK(layer.dropout == 0);
  const auto& all = layer.weights(0);
  check_close(layer(unsqueeze(x, 1)).h[0].value(), tanh(linear(x, all.ih, all.bias_ih) + all.bias_hh).value());
  CHECK(LSTM(root, 3, 4).dropout == 0);
  CHECK(GRU(root, 3, 4).dropout == 0);
}

TEST_CASE("First numbers without an init are PyTorch's") {
  manual_seed(3);
  const auto bound = [](const Tensor& x) { return largest(x.value()); };
  const Linear linear(root, 100, 80);
  for (const Tensor& p : linear.parameters()) {
    CHECK(bound(p) <= 0.1);
    CHECK(bound(p) == doctest::Approx(0.1).epsilon(0.06).scale(0));
  }
  const Conv2d conv(root, 4, 30, 5);
  const ConvTranspose2d transposed(root, 30, 4, 5);
  const Conv2d grouped(root, 8, 30, 5, {.groups = 2});
  const GRU gru(root, 30, 100);
  for (const Module* layer : std::initializer_list<const Module*>{&conv, &transposed, &grouped, &gru}) {
    CAPTURE(layer->description());
    for (const Tensor& p : layer->parameters()) {
      CHECK(bound(p) <= 0.1);
      CHECK(bound(p) == doctest::Approx(0.1).epsilon(0.25).scale(0));
    }
  }
  CHECK(deviation(grouped.weight) == doctest::Approx(0.1 / std::sqrt(3.)).epsilon(0.03).scale(0));
  CHECK(deviation(Embedding(root, 100, 30).weight) == doctest::Approx(1).epsilon(0.05).scale(0));
  CHECK(deviation(PositionalEncoding(root, 100, 30, {.kind = Positions::learned}).weight) ==
        doctest::Approx(1).epsilon(0.05).scale(0));
  const pytorch::MultiheadAttention attn(root, 40, 2, {.add_bias_kv = true});
  CHECK(bound(attn.in_proj_weight) == doctest::Approx(std::sqrt(6. / 160)).epsilon(0.01).scale(0));
  CHECK(bound(attn.in_proj_bias) == 0);
  CHECK(bound(attn.out_proj.weight) == doctest::Approx(1 / std::sqrt(40.)).epsilon(0.01).scale(0));
  CHECK(bound(attn.out_proj.bias) == 0);
  CHECK(deviation(attn.bias_k) == doctest::Approx(std::sqrt(2. / 80)).epsilon(0.4).scale(0));
}

TEST_CASE("A residual block and networks without options are those of the paper") {
  const ResidualBlock block(root);
  CHECK(block.out == 64);
  CHECK(!block.downsample);
  CHECK(!block.conv3);
  CHECK(block.num_parameters() == 2 * (64 * 64 * 9 + 2 * 64));
  CHECK(block(normal({1, 64, 3, 4})).shape() == Shape{1, 64, 3, 4});
  CHECK(resnet18().channels == 3);
  CHECK(resnet18().width == 64);
  CHECK(resnet18().classes == 1000);
  CHECK(resnet50().layers == std::array<std::int64_t, 4>{3, 4, 6, 3});
  CHECK(resnet50().block == ResidualBlockKind::bottleneck);
}

TEST_CASE("The options of searches are said in their header") {
  const auto common = [](const auto& o) {
    return std::vector<double>{double(o.bos), double(o.eos.tokens().size()), double(o.max_length)};
  };
  const auto changes = [](const auto& o) { return std::array{double(o.min_length), o.repetition_penalty}; };
  const GreedyOptions greedy;
  const SamplingOptions sample;
  const BeamOptions beam;
  const ExhaustiveOptions all;
  for (const auto& found : {common(greedy), common(sample), common(beam)}) {
    CHECK(found == std::vector<double>{0, 0, 100});
  }
  CHECK(common(all) == std::vector<double>{0, 0, 5});
  for (const auto& found : {changes(greedy), changes(sample), changes(beam)}) CHECK(found == std::array{0., 1.});
  CHECK(std::array{sample.temperature, sample.top_p} == std::array{1., 1.});
  CHECK(!sample.top_k);
  CHECK(!sample.seed);
  CHECK(std::array{double(beam.num_beams), beam.length_penalty, double(beam.num_best)} == std::array{4., 0.75, 1.});
  CHECK(beam.stopping == Stopping::enough);
  CHECK(beam.candidates == Candidates::complete);
  CHECK(std::array{all.length_penalty, double(all.num_best), double(all.max_sequences)} == std::array{0., 1., 1e6});
  const Hypothesis none;
  CHECK(std::array{double(none.ended), none.log_p, none.score} == std::array{0., 0., 0.});
}

TEST_CASE("The options of models are those of the papers") {
  const TransformerOptions base;
  CHECK(std::array{base.dim, base.ffn, base.heads, base.layers} == std::array<std::int64_t, 4>{512, 2048, 8, 6});
  CHECK(base.dropout == 0.1);
  CHECK(base.norm == NormOrder::post);
  CHECK(base.norm_kind == NormKind::layer);
  CHECK(base.activation.name() == "relu");
  CHECK(!base.attention_bias);
  CHECK(base.cross_attention == CrossAttention::last);
  CHECK(base.positions == Positions::sinusoidal);
  CHECK(base.scale_embedding);
  CHECK(base.max_length == 1000);
  CHECK(base.norm_sizes() == Shape{512});
  CHECK(base.encoding().dropout == 0.1);
  CHECK(base.attention().dropout == 0.1);
  CHECK(base.add_norm().dropout == 0.1);
  CHECK(base.feed_forward().dropout == 0);

  const GptOptions gpt2;
  CHECK(std::array{gpt2.vocabulary, gpt2.context, gpt2.dim, gpt2.heads, gpt2.layers, gpt2.ffn} ==
        std::array<std::int64_t, 6>{50257, 1024, 768, 12, 12, 0});
  CHECK(gpt2.dropout == 0);
  CHECK(gpt2.bias);
  CHECK(gpt2.norm_eps == 1e-5);
  CHECK(equal(gpt2.activation(normal({9})).value(), gelu(normal({9}), Gelu::tanh).value()));

  const LlamaOptions llama7b;
  CHECK(std::array{llama7b.vocabulary, llama7b.context, llama7b.dim, llama7b.heads, llama7b.layers, llama7b.ffn} ==
        std::array<std::int64_t, 6>{32000, 2048, 4096, 32, 32, 11008});
  CHECK(!llama7b.kv_heads);
  CHECK(llama7b.norm_eps == 1e-6);
  CHECK(llama7b.theta == 10000);
  CHECK(llama7b.head == Head::own);
  CHECK(!llama7b.window);
  CHECK(!llama7b.qkv_bias);

  const BertOptions bert;
  CHECK(std::array{bert.vocabulary, bert.context, bert.segments, bert.dim, bert.heads, bert.layers, bert.ffn,
                   bert.classes} == std::array<std::int64_t, 8>{30522, 512, 2, 768, 12, 12, 3072, 2});
  CHECK(bert.dropout == 0.1);
  CHECK(bert.norm_eps == 1e-12);
  CHECK(bert.activation.name() == "gelu");
  CHECK(bert.head == BertHead::words);

  const VisionTransformerOptions vit;
  CHECK(std::array{vit.image.height, vit.image.width, vit.patch.height, vit.patch.width, vit.channels, vit.dim,
                   vit.heads, vit.layers, vit.mlp,
                   vit.classes} == std::array<std::int64_t, 10>{224, 224, 16, 16, 3, 768, 12, 12, 0, 1000});
  CHECK(std::array{vit.dropout, vit.attention_dropout, vit.drop_path} == std::array{0., 0., 0.});
  const auto sizes = [](const VisionTransformerOptions& o) {
    return std::array{o.dim, o.heads, o.layers, o.patch.width};
  };
  using Sizes = std::array<std::int64_t, 4>;
  CHECK(sizes(vit_b()) == Sizes{768, 12, 12, 16});
  CHECK(sizes(vit_b(8)) == Sizes{768, 12, 12, 8});

  const SwinTransformerOptions swin;
  CHECK(std::array{swin.patch.height, swin.channels, swin.dim, swin.window.width, swin.classes} ==
        std::array<std::int64_t, 5>{4, 3, 96, 7, 1000});
  CHECK(swin.depths == std::vector<std::int64_t>{2, 2, 6, 2});
  CHECK(swin.heads == std::vector<std::int64_t>{3, 6, 12, 24});
  CHECK(std::array{swin.mlp_ratio, swin.dropout, swin.attention_dropout, swin.drop_path} == std::array{4., 0., 0., 0.});
  CHECK(swin_t().drop_path == 0.2);
  CHECK(swin_t().depths == swin.depths);

  const Seq2Seq recurrent(root, 5, 6);
  CHECK(recurrent.decoder.context == Context::attention);
  CHECK(!recurrent.encoder.reverse);
  CHECK(recurrent.encoder.embedding.dim == 32);
  CHECK(recurrent.encoder.gru.hidden == 32);
  CHECK(recurrent.encoder.gru.layers == 2);
  CHECK(recurrent.decoder.gru.dropout == 0);

  const CausalityLeak leak;
  const ModelSummary::Row row;
  CHECK(std::array{double(leak.t), double(leak.s), leak.change, PaddingLeak{}.change, double(PaddingLeak{}.columns),
                   double(row.level), double(row.parameters), double(row.multiply_adds), double(row.saved_bytes),
                   row.milliseconds} == std::array<double, 10>{});
  CHECK(!CausalityReport{}.depends);
  CHECK(!PaddingInvarianceReport{}.depends);
  CHECK(LoadStateOptions{}.strict);
  CHECK(CausalityOptions{}.model == nullptr);
  CHECK(PaddingInvarianceOptions{}.model == nullptr);
  CHECK(PaddingInvarianceOptions{}.output == PaddedOutput::positions);
  CHECK(PaddingInvarianceOptions{}.tolerance == (sizeof(Real) == 8 ? 1e-9 : 1e-4));
}

}  // namespace
}  // namespace xgrad::testing
