// The rows of the catalogue of layers.
#include "catalogue.h"

#include <xgrad/nn/nn.h>
#include <xgrad/nn/pytorch/pytorch.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// What a row does with its layer, inputs x and batch size B.
#define RUN(...)                                                             \
  [=]([[maybe_unused]] const auto& layer, [[maybe_unused]] const Tensors& x, \
      [[maybe_unused]] std::int64_t B) -> Tensor { return __VA_ARGS__; }
// A size n of a layer.
#define SIZE(Layer, ...)                                                       \
  LayerRow::Size {                                                             \
    [](At here, [[maybe_unused]] std::int64_t n) { Layer(here, __VA_ARGS__); } \
  }

struct LayerRows {
  std::vector<LayerRow> all = {};

  template <class Layer, class F, class... Arguments>
  LayerRow& add(const char* name, const std::vector<Shape>& inputs, const Shape& result, const F& run,
                const Arguments&... arguments) {
    LayerRow row{name, [=] { return std::make_unique<Layer>(root, arguments...); }, inputs, result, of<Layer>(run)};
    constexpr bool is_told = requires(const Layer& layer) { layer.arguments(); } ||
                             requires(const Layer& layer) { Layer(root, layer.options); };
    if constexpr (is_told || (sizeof...(Arguments) == 0 && std::is_constructible_v<Layer, At>)) {
      row.clone = [](const Module& module) { return nn::clone(static_cast<const Layer&>(module)); };
    }
    all.push_back(std::move(row));
    return all.back();
  }

  // A layer of one input that computes a function of it.
  template <class Layer, class F, class... Arguments>
  LayerRow& add_function(const char* name, const Shape& input, const Shape& result, const F& function,
                         const Arguments&... arguments) {
    LayerRow& row = add<Layer>(name, {input}, result, RUN(layer(x[0])), arguments...);
    row.same_as = of<Layer>(function);
    return row;
  }

 private:
  template <class Layer, class F>
  static LayerRow::Run of(const F& f) {
    return [f](const Module& module, const Tensors& x, std::int64_t batch) {
      return f(static_cast<const Layer&>(module), x, batch);
    };
  }
};

Index some_ids(std::int64_t B, std::int64_t T, std::int64_t vocabulary) {
  return (arange(B * T) * 7 % vocabulary).reshaped({B, T});
}

Tensor some_shares(const Tensors& x) { return full(x[0].shape(), Real(0.3)); }

void add_activations(LayerRows& rows) {
  const Shape s{2, 4, 6};
#define SAME(Layer, function) rows.add_function<Layer>(#Layer, s, s, RUN(function(x[0])))
  SAME(ReLU, relu);
  SAME(ReLU6, relu6);
  SAME(SELU, selu);
  SAME(SiLU, silu);
  SAME(Mish, mish);
  SAME(Sigmoid, sigmoid);
  SAME(LogSigmoid, logsigmoid);
  SAME(Hardsigmoid, hardsigmoid);
  SAME(Hardswish, hardswish);
  SAME(Tanh, tanh);
  SAME(Tanhshrink, tanhshrink);
  SAME(Softsign, softsign);
  SAME(Softplus, softplus);
  SAME(GELU, gelu);
#undef SAME
  rows.add_function<Identity>("Identity", s, s, RUN(x[0]));
  rows.add_function<GELU>("GELU tanh", s, s, RUN(gelu(x[0], Gelu::tanh)), Gelu::tanh);
  rows.add_function<LeakyReLU>("LeakyReLU 0.01", s, s, RUN(leaky_relu(x[0], {.negative_slope = 0.01})));
  rows.add_function<LeakyReLU>("LeakyReLU 0.2", s, s, RUN(leaky_relu(x[0], {.negative_slope = 0.2})),
                               LeakyReluOptions{.negative_slope = 0.2});
  rows.add_function<Hardtanh>("Hardtanh -1 to 1", s, s, RUN(clamp(x[0], -1, 1)));
  rows.add_function<Hardtanh>("Hardtanh -2 to 0.5", s, s, RUN(clamp(x[0], {.min = -2, .max = 0.5})),
                              HardtanhOptions{.min_val = -2, .max_val = 0.5});
  rows.add_function<Hardshrink>("Hardshrink 0.5", s, s, RUN(hardshrink(x[0], 0.5)));
  rows.add_function<Hardshrink>("Hardshrink 0.75", s, s, RUN(hardshrink(x[0], 0.75)), 0.75);
  rows.add_function<Softshrink>("Softshrink 0.2", s, s, RUN(softshrink(x[0], 0.2)), 0.2);
  rows.add_function<ELU>("ELU 1", s, s, RUN(elu(x[0], 1)));
  rows.add_function<CELU>("CELU 0.7", s, s, RUN(celu(x[0], 0.7)), 0.7);
  rows.add_function<GLU>("GLU axis -1", s, {2, 4, 3}, RUN(glu(x[0], -1)));
  rows.add_function<GLU>("GLU axis 1", s, {2, 2, 6}, RUN(glu(x[0], 1)), 1);
  rows.add_function<Softmax>("Softmax axis 1", s, s, RUN(softmax(x[0], 1)), 1);
  rows.add_function<LogSoftmax>("LogSoftmax axis -1", s, s, RUN(log_softmax(x[0], -1)));
  rows.add_function<PReLU>("PReLU 1", s, s, RUN(leaky_relu(x[0], {.negative_slope = 0.25})));
  rows.add_function<PReLU>("PReLU 4", s, s, RUN(prelu(x[0], full({4}, Real(0.1)))),
                           PReLUOptions{.num_parameters = 4, .init = 0.1})
      .sizes = {SIZE(PReLU, {.num_parameters = n})};
  rows.add<nn::Function>("Function tanh", {s}, s, RUN(layer(x[0])), Activation(tanh)).same_as = RUN(tanh(x[0]));
}

void add_losses(LayerRows& rows) {
  const Shape s{2, 3};
  const Tensor w(Array({3}, {1, 2, 3}));
  const auto classes = [](std::int64_t B) { return some_ids(1, B, 3).reshaped({B}); };
  // A loss with these options, of the other arguments.
#define LOSS(Layer, function, given, ...)                                         \
  {                                                                               \
    const auto o = given;                                                         \
    LayerRow& row = rows.add<Layer>(#Layer, {s}, {}, RUN(layer(__VA_ARGS__)), o); \
    row.same_as = RUN(function(__VA_ARGS__, o));                                  \
    row.least = 1;                                                                \
  }
  LOSS(CrossEntropyLoss, cross_entropy, (CrossEntropyOptions{.weight = w, .label_smoothing = 0.1}), x[0], classes(B))
  LOSS(CrossEntropyLoss, cross_entropy, CrossEntropyOptions{.ignore_index = 1}, x[0], classes(B))
  LOSS(NLLLoss, nll_loss, NllLossOptions{.weight = w}, x[0], classes(B))
  LOSS(BCELoss, binary_cross_entropy, BinaryCrossEntropyOptions{.weight = w}, sigmoid(x[0]), some_shares(x))
  LOSS(BCEWithLogitsLoss, binary_cross_entropy_with_logits,
       (BinaryCrossEntropyWithLogitsOptions{.weight = w, .pos_weight = w}), x[0], some_shares(x))
  LOSS(KLDivLoss, kl_div, KlDivOptions{.reduction = batchmean}, x[0], some_shares(x))
  LOSS(GaussianNLLLoss, gaussian_nll_loss, GaussianNllLossOptions{.full = true}, x[0], some_shares(x), exp(x[0]))
  LOSS(MSELoss, mse_loss, LossOptions{}, x[0], some_shares(x))
  LOSS(L1Loss, l1_loss, LossOptions{}, x[0], some_shares(x))
  LOSS(SmoothL1Loss, smooth_l1_loss, SmoothL1LossOptions{.beta = 0.5}, x[0], some_shares(x))
  LOSS(HuberLoss, huber_loss, HuberLossOptions{.delta = 0.5}, x[0], some_shares(x))
  LOSS(TripletMarginLoss, triplet_margin_loss, TripletMarginLossOptions{.swap = true}, x[0], some_shares(x),
       square(x[0]))
#undef LOSS
}

void add_shapes_and_pictures(LayerRows& rows) {
  const Shape s{2, 4, 6}, picture{2, 3, 5, 4};
  rows.add_function<Flatten>("Flatten 1 to -1", s, {2, 24}, RUN(flatten(x[0], 1, -1)));
  rows.add_function<Flatten>("Flatten 0 to 1", s, {8, 6}, RUN(flatten(x[0], 0, 1)), 0, 1);
  rows.add_function<Unflatten>("Unflatten axis 2 to [2, 3]", s, {2, 4, 2, 3}, RUN(unflatten(x[0], 2, {2, 3})), 2,
                               Shape{2, 3});
  rows.add_function<MaxPool1d>("MaxPool1d 2", s, {2, 4, 3}, RUN(max_pool1d(x[0], 2)), 2);
  rows.add_function<MaxPool2d>("MaxPool2d 2 x 3", picture, {2, 3, 6, 4},
                               RUN(max_pool2d(x[0], {2, 3}, {.stride = 1, .padding = 1})), Size2d{2, 3},
                               MaxPool2dOptions{.stride = 1, .padding = 1});
  rows.add_function<AvgPool1d>("AvgPool1d 3", s, {2, 4, 2}, RUN(avg_pool1d(x[0], 3, {.padding = 1})), 3,
                               AvgPool1dOptions{.padding = 1});
  rows.add_function<AvgPool2d>("AvgPool2d 2 x 2", picture, {2, 3, 2, 2}, RUN(avg_pool2d(x[0], 2)), Size2d(2));
  rows.add_function<AdaptiveAvgPool1d>("AdaptiveAvgPool1d 4", s, {2, 4, 4}, RUN(adaptive_avg_pool1d(x[0], 4)), 4);
  rows.add_function<AdaptiveAvgPool2d>("AdaptiveAvgPool2d 1 x 1", picture, {2, 3, 1, 1},
                                       RUN(adaptive_avg_pool2d(x[0], 1)), Size2d(1));
  rows.add<Dropout>("Dropout 0.5", {s}, s, RUN(layer(x[0]))).others = {{{}, {}}, {{2, 0}, {2, 0}}, {{1, 1}, {1, 1}}};
  rows.add<Dropout2d>("Dropout2d 0.25", {picture}, picture, RUN(layer(x[0])), 0.25);
  rows.add<DropPath>("DropPath 0.5", {picture}, picture, RUN(layer(x[0])));

  rows.add_function<Conv1d>("Conv1d 4 -> 6, kernel 3, stride 2, padding 1, 2 groups", s, {2, 6, 3},
                            RUN(conv1d(x[0], layer.weight, layer.bias, {.stride = 2, .padding = 1, .groups = 2})), 4, 6,
                            3, Conv1dOptions{.stride = 2, .padding = 1, .groups = 2})
      .sizes = {SIZE(Conv1d, n, 1, 1), SIZE(Conv1d, 1, n, 1), SIZE(Conv1d, 1, 1, n)};
  rows.add_function<Conv2d>("Conv2d 3 -> 4, kernel 3 x 2", picture, {2, 4, 3, 3},
                            RUN(conv2d(x[0], layer.weight, layer.bias)), 3, 4, Size2d{3, 2})
      .sizes = {SIZE(Conv2d, n, 1, 1), SIZE(Conv2d, 1, n, 1), SIZE(Conv2d, 1, 1, {n, 1}), SIZE(Conv2d, 1, 1, {1, n})};
  rows.add_function<ConvTranspose2d>(
          "ConvTranspose2d 3 -> 4, kernel 3, stride 2 x 1", picture, {2, 4, 12, 6},
          RUN(conv_transpose2d(x[0], layer.weight, {}, {.stride = {2, 1}, .output_padding = {1, 0}})), 3, 4, Size2d(3),
          ConvTranspose2dOptions{.stride = {2, 1}, .output_padding = {1, 0}, .bias = false})
      .sizes = {SIZE(ConvTranspose2d, n, 1, 1), SIZE(ConvTranspose2d, 1, n, 1), SIZE(ConvTranspose2d, 1, 1, {1, n})};
}

void add_maps_and_norms(LayerRows& rows) {
  const Shape s{2, 4, 6}, picture{2, 6, 2, 3};
  // An input of this many axes before the last one.
  const auto leading = [](std::int64_t in, std::int64_t out) {
    std::vector<std::pair<Shape, Shape>> all;
    for (const Shape& axes : {Shape{}, Shape{0}, Shape{1}, Shape{2, 0}, Shape{0, 2}, Shape{1, 1}}) {
      Shape from = axes, to = axes;
      from.push_back(in);
      to.push_back(out);
      all.emplace_back(from, to);
    }
    return all;
  };
  LayerRow& map =
      rows.add_function<Linear>("Linear 6 -> 3", s, {2, 4, 3}, RUN(linear(x[0], layer.weight, layer.bias)), 6, 3);
  map.others = leading(6, 3);
  map.sizes = {SIZE(Linear, n, 2), SIZE(Linear, 2, n)};
  rows.add_function<Linear>("Linear 6 -> 1", s, {2, 4, 1}, RUN(linear(x[0], layer.weight)), 6, 1,
                            LinearOptions{.bias = false})
      .others = leading(6, 1);
  LayerRow& mlp = rows.add<nn::Mlp>("Mlp 6 -> 1 -> 2", {s}, {2, 4, 2}, RUN(layer(x[0])),
                                MlpOptions{.in = 6, .hidden = 1, .out = 2, .activation = tanh, .dropout = 0.5});
  mlp.others = leading(6, 2);
  mlp.sizes = {SIZE(nn::Mlp, {.in = n, .hidden = 1}), SIZE(nn::Mlp, {.in = 1, .hidden = n})};
  rows.add<nn::Mlp>("Mlp 6 -> 4 -> 6", {s}, s, RUN(layer(x[0])), vision_mlp(6, 4));
  rows.add_function<SwiGlu>("SwiGlu 6 -> 5 -> 6", s, s,
                            RUN(linear(silu(layer.w1(x[0])) * layer.w3(x[0]), layer.w2.weight)),
                            SwiGluOptions{.in = 6, .hidden = 5})
      .sizes = {SIZE(SwiGlu, {.in = n, .hidden = 1}), SIZE(SwiGlu, {.in = 1, .hidden = n})};
  rows.add<Sequential>("Sequential of 3", {s}, {2, 4, 2}, RUN(layer(x[0])), make<Linear>(6, 3), make<Tanh>(),
                       make<Linear>(3, 2));
  rows.add<Stack<Linear>>("Stack of 2", {s}, s, RUN(layer(x[0])), 2, 6, 6);

  LayerRow& norm =
      rows.add_function<LayerNorm>("LayerNorm 6", s, s, RUN(layer_norm(x[0], layer.weight, layer.bias)), 6);
  norm.others = leading(6, 6);
  norm.sizes = {SIZE(LayerNorm, n), SIZE(LayerNorm, Shape({n, 2}))};
  rows.add_function<LayerNorm>("LayerNorm 6", s, s, RUN(layer_norm(x[0])), 6, LayerNormOptions{.affine = false})
      .others = leading(6, 6);
  rows.add<LayerNorm>("LayerNorm [4, 6]", {s}, s, RUN(layer(x[0])), Shape{4, 6}).undecayed = {"weight", "bias"};
  rows.add_function<RMSNorm>("RMSNorm 6", s, s, RUN(rms_norm(x[0], layer.weight)), 6).sizes = {
      SIZE(RMSNorm, n), SIZE(RMSNorm, Shape({n, 2}))};
  rows.add<RMSNorm>("RMSNorm [4, 6]", {s}, s, RUN(layer(x[0])), Shape{4, 6}).undecayed = {"weight"};
  LayerRow& batch = rows.add<BatchNorm1d>("BatchNorm1d 4", {{2, 4}}, {2, 4}, RUN(layer(x[0])), 4);
  batch.others = {{{1, 4, 2}, {1, 4, 2}}};
  batch.least = 2;
  batch.sizes = {SIZE(BatchNorm1d, n)};
  LayerRow& batches = rows.add<BatchNorm2d>("BatchNorm2d 6", {picture}, picture, RUN(layer(x[0])), 6);
  batches.least = 1;
  batches.sizes = {SIZE(BatchNorm2d, n)};
  rows.add<GroupNorm>("GroupNorm 2 groups, 6", {picture}, picture, RUN(layer(x[0])), 2, 6).sizes = {
      SIZE(GroupNorm, 1, n)};

  const auto of_ids = RUN(layer(some_ids(B, 4, 5)));
  LayerRow& table = rows.add<Embedding>("Embedding 5 x 3", {}, {2, 4, 3}, of_ids, 5, 3);
  table.undecayed = {"weight"};
  table.sizes = {SIZE(Embedding, n, 2), SIZE(Embedding, 2, n)};
  LayerRow& padded =
      rows.add<Embedding>("Embedding 5 x 3", {}, {2, 4, 3}, of_ids, 5, 3, EmbeddingOptions{.padding_idx = -1});
  padded.undecayed = {"weight"};
  padded.kinks = true;
  rows.add<PositionalEncoding>("PositionalEncoding 9 x 6", {s}, s, RUN(layer(x[0], 5)), 9, 6).sizes = {
      SIZE(PositionalEncoding, n, 2), SIZE(PositionalEncoding, 2, n)};
  const PositionalEncodingOptions learned{.kind = Positions::learned};
  LayerRow& positions =
      rows.add<PositionalEncoding>("PositionalEncoding 9 x 6, learned", {s}, s, RUN(layer(x[0], 5)), 9, 6, learned);
  positions.others = {{{0, 6}, {0, 6}}, {{1, 6}, {1, 6}}, {{2, 0, 6}, {2, 0, 6}}};
  positions.undecayed = {"weight"};
  positions.sizes = {SIZE(PositionalEncoding, n, 2, {.kind = Positions::learned}),
                     SIZE(PositionalEncoding, 2, n, {.kind = Positions::learned})};
}

void add_recurrences(LayerRows& rows) {
  const Shape s{2, 3, 4};
  const auto output = RUN(layer(x[0]).output);
  const auto cell = RUN(layer(x[0]));
  const auto shorter = RUN(layer(x[0], {.lengths = arange(B) % 3 + 1}).output);
  rows.add<RNN>("RNN 4 -> 3", {s}, {2, 3, 3}, output, 4, 3).sizes = {SIZE(RNN, n, 2), SIZE(RNN, 2, n)};
  rows.add<RNN>("RNN 4 -> 1, 2 layers, both directions", {s}, {2, 3, 2}, shorter, 4, 1,
                RNNOptions{.layers = 2, .bidirectional = true});
  rows.add<LSTM>("LSTM 4 -> 3", {s}, {2, 3, 3}, shorter, 4, 3).sizes = {
      SIZE(LSTM, n, 2), SIZE(LSTM, 2, n), {[](At here, std::int64_t n) { LSTM(here, 1, 2, {.layers = n}); }}};
  rows.all.back().sizes.back().legal = [](std::int64_t n) { return n >= 1 && n <= 4; };
  rows.add<LSTM>("LSTM 4 -> 1, 2 layers, both directions", {s}, {2, 3, 2}, output, 4, 1,
                 LSTMOptions{.layers = 2, .dropout = 0.2, .bidirectional = true});
  rows.add<GRU>("GRU 4 -> 3", {s}, {2, 3, 3}, output, 4, 3).sizes = {SIZE(GRU, n, 2), SIZE(GRU, 2, n)};
  rows.add<GRU>("GRU 4 -> 1", {s}, {2, 3, 1}, shorter, 4, 1, GRUOptions{.bias = false});
  rows.add<RNNCell>("RNNCell 4 -> 3", {{2, 4}}, {2, 3}, cell, 4, 3).sizes = {SIZE(RNNCell, n, 2), SIZE(RNNCell, 2, n)};
  rows.add<LSTMCell>("LSTMCell 4 -> 3", {{2, 4}}, {2, 3}, RUN(layer(x[0]).h), 4, 3).sizes = {SIZE(LSTMCell, n, 2),
                                                                                             SIZE(LSTMCell, 2, n)};
  rows.add<GRUCell>("GRUCell 4 -> 3", {{2, 4}}, {2, 3}, cell, 4, 3).sizes = {SIZE(GRUCell, n, 2), SIZE(GRUCell, 2, n)};
}

void add_attention(LayerRows& rows) {
  const Shape s{2, 3, 4};
  const std::vector<Shape> three{s, s, s};
  const auto self = RUN(layer(x[0]));
  const auto all = RUN(layer(x[0], x[1], x[2]));
  const auto even = [](std::int64_t n) { return n == 1 || n == 2 || n == 4; };
  rows.add<DotProductAttention>("DotProductAttention", three, s, all);
  rows.add<BandAttention>("BandAttention 1 before, 0 after", three, s, all, BandAttentionOptions{.before = 1});
  rows.add<BilinearAttention>("BilinearAttention 4, 4", three, s, all, BilinearAttentionOptions{.query = 4, .key = 4})
      .sizes = {SIZE(BilinearAttention, {.query = n, .key = 1}), SIZE(BilinearAttention, {.query = 1, .key = n})};
  rows.add<AdditiveAttention>("AdditiveAttention 4, 4 -> 3", three, s, all,
                              AdditiveAttentionOptions{.query = 4, .key = 4, .hidden = 3})
      .sizes = {SIZE(AdditiveAttention, {.query = n, .key = 1, .hidden = 1}),
                SIZE(AdditiveAttention, {.query = 1, .key = n, .hidden = 1}),
                SIZE(AdditiveAttention, {.query = 1, .key = 1, .hidden = n})};
  rows.add<GaussianAttention>("GaussianAttention", three, s, all, GaussianAttentionOptions{.trained = true});
  rows.add<SelfAttention>("SelfAttention 4 -> 2", {s}, {2, 3, 2}, self, 4, 2).sizes = {SIZE(SelfAttention, n, 1),
                                                                                       SIZE(SelfAttention, 1, n)};
  rows.add<LinearAttention>("LinearAttention 4, 2 heads", three, s, all, 4, 2).sizes = {
      SIZE(LinearAttention, n, 1), {[](At here, std::int64_t n) { LinearAttention(here, 4, n); }, even}};
  rows.add<MultiHeadAttention>("MultiHeadAttention 4, 2 heads", three, s, all, 4, 2,
                               MultiHeadAttentionOptions{.dropout = 0.2, .bias = true})
      .sizes = {SIZE(MultiHeadAttention, n, 1),
                {[](At here, std::int64_t n) { MultiHeadAttention(here, 4, n); }, even}};
  rows.add<MultiHeadAttention>("MultiHeadAttention 8, 4 heads, 2 of keys", {{2, 3, 8}}, {2, 3, 8}, self, 8, 4,
                               MultiHeadAttentionOptions{.kv_heads = 2, .packed = true, .rotary_theta = 100});
  rows.add<pytorch::MultiheadAttention>("MultiheadAttention 4, 2 heads", three, s, all, 4, 2).sizes = {
      SIZE(pytorch::MultiheadAttention, n, 1),
      {[](At here, std::int64_t n) { pytorch::MultiheadAttention(here, 4, n); }, even}};
  rows.add<pytorch::MultiheadAttention>("MultiheadAttention 4, 2 heads", three, s,
                                        RUN(layer.forward(x[0], x[1], x[2]).output), 4, 2);
  rows.add<pytorch::MultiheadAttention>(
          "MultiheadAttention 4, 2 heads", {s, {2, 3, 5}, {2, 3, 6}}, s, all, 4, 2,
          pytorch::MultiheadAttentionOptions{.add_bias_kv = true, .add_zero_attn = true, .kdim = 5, .vdim = 6})
      .undecayed = {"bias_k", "bias_v"};
}

void add_transformers(LayerRows& rows) {
  const Shape s{2, 3, 4};
  const auto lengths = [](std::int64_t B) { return arange(B) % 3 + 1; };
  rows.add<AddNorm>("AddNorm", {s, s}, s, RUN(layer(x[0], x[1])), Shape{4}, AddNormOptions{.dropout = 0.2});
  rows.add<AddNorm>("AddNorm", {s, s}, s, RUN(layer(x[0], x[1])), Shape{4}, AddNormOptions{.kind = NormKind::batch})
      .least = 1;
  TransformerOptions options{
      .dim = 4, .ffn = 5, .heads = 2, .layers = 1, .dropout = 0.1, .activation = tanh, .max_length = 6};
  rows.add<EncoderBlock>("EncoderBlock", {s}, s, RUN(layer(x[0], padding(lengths(B)))), options);
  rows.add<DecoderBlock>("DecoderBlock", {s, s}, s, RUN(layer(x[0], x[1], padding(lengths(B)))), options);
  rows.add<Decoder>("Decoder", {s}, {2, 2, 5}, RUN(layer(some_ids(B, 2, 5), x[0])), 5, options).undecayed = {
      "embedding.weight"};
  const auto translate = RUN(layer(some_ids(B, 3, 5), lengths(B), some_ids(B, 2, 6)));
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    options.norm = order;
    rows.add<EncoderDecoder>("EncoderDecoder", {}, {2, 2, 6}, translate, 5, 6, options).undecayed = {
        "embedding.weight"};
  }
  rows.all.back().sizes = {SIZE(EncoderDecoder, n, 3, {.dim = 4, .ffn = 4, .heads = 1, .layers = 1}),
                           SIZE(EncoderDecoder, 3, n, {.dim = 4, .ffn = 4, .heads = 1, .layers = 1}),
                           SIZE(Encoder, 3, {.dim = n, .ffn = 4, .heads = 1, .layers = 1}),
                           SIZE(Encoder, 3, {.dim = 4, .ffn = n, .heads = 1, .layers = 1}),
                           SIZE(Decoder, 3, {.dim = 4, .ffn = 4, .heads = 1, .layers = 1, .max_length = n})};
  for (const Context context : {Context::initial_state, Context::every_step, Context::mean, Context::attention}) {
    rows.add<Seq2Seq>("Seq2Seq", {}, {2, 2, 6}, translate, 5, 6,
                      Seq2SeqOptions{.context = context, .embed = 3, .hidden = 2, .layers = 1})
        .undecayed = {"embedding.weight"};
  }
  rows.all.back().sizes = {SIZE(Seq2Seq, n, 3), SIZE(Seq2Seq, 3, n), SIZE(Seq2SeqDecoder, 3, {.embed = n}),
                           SIZE(Seq2SeqDecoder, 3, {.context = Context::initial_state, .hidden = n}),
                           SIZE(Seq2SeqDecoder, 3, {.layers = n})};
}

void add_models(LayerRows& rows) {
  const auto of_ids = RUN(layer(some_ids(B, 3, 5)));
  rows.add<Gpt>("Gpt", {}, {2, 3, 5}, of_ids,
                GptOptions{.vocabulary = 5, .context = 4, .dim = 4, .heads = 2, .layers = 1})
      .undecayed = {"embedding.weight", "positions.weight"};
  rows.add<Llama>(
          "Llama", {}, {2, 3, 5}, of_ids,
          LlamaOptions{.vocabulary = 5, .context = 4, .dim = 8, .heads = 4, .kv_heads = 2, .layers = 1, .ffn = 3})
      .undecayed = {"embedding.weight"};
  for (const auto& [head, result] : {std::pair{BertHead::words, Shape{2, 3, 5}}, {BertHead::classes, Shape{2, 2}}}) {
    BertOptions options{.vocabulary = 5, .context = 4, .dim = 4, .heads = 2, .layers = 1, .ffn = 3, .head = head};
    rows.add<Bert>("Bert", {}, result, RUN(layer(some_ids(B, 3, 5), {.lengths = arange(B) % 3 + 1})), options)
        .undecayed = {"embedding.weight", "segments.weight", "positions.weight"};
  }
  VisionTransformerOptions vit{
      .image = 4, .patch = 2, .channels = 1, .dim = 4, .heads = 2, .layers = 2, .classes = 3, .drop_path = 0.2};
  vit.dropout = vit.attention_dropout = 0.1;
  rows.add<VisionTransformer>("VisionTransformer 4 x 4 by 2 x 2, 2 layers of 4", {{2, 1, 4, 4}}, {2, 3},
                              RUN(layer(x[0])), vit)
      .undecayed = {"pos_embedding", "class_token"};
  SwinTransformerOptions swin{.patch = 1, .channels = 1, .dim = 4, .depths = {2, 1}, .heads = {1, 2}, .classes = 3};
  swin.window = 2;
  swin.attention_dropout = 0.1;
  rows.add<SwinTransformer>("SwinTransformer 4 wide, 2 1 blocks", {{2, 1, 3, 4}}, {2, 3}, RUN(layer(x[0])), swin)
      .undecayed = {"relative_position_bias_table"};
  rows.add<PatchMerging>("PatchMerging", {{2, 3, 4, 2}}, {2, 2, 2, 4}, RUN(layer(x[0])), 2).sizes = {
      SIZE(PatchMerging, n)};
  for (const ResidualBlockKind kind : {ResidualBlockKind::basic, ResidualBlockKind::bottleneck}) {
    const bool basic = kind == ResidualBlockKind::basic;
    LayerRow& row =
        rows.add<ResNet>(basic ? "ResNet 2 wide, 1 1 1 1 basic blocks" : "ResNet 2 wide, 1 1 1 1 bottlenecks",
                         {{2, 1, 33, 33}}, {2, 3}, RUN(layer(x[0])),
                         ResNetOptions{.block = kind, .layers = {1, 1, 1, 1}, .channels = 1, .width = 2, .classes = 3});
    row.least = 1;
    row.kinks = true;
  }
}
#undef RUN
#undef SIZE

}  // namespace

std::vector<LayerRow> layer_rows() {
  LayerRows rows;
  add_activations(rows);
  add_losses(rows);
  add_shapes_and_pictures(rows);
  add_maps_and_norms(rows);
  add_recurrences(rows);
  add_attention(rows);
  add_transformers(rows);
  add_models(rows);
  return rows.all;
}

}  // namespace xgrad::testing
