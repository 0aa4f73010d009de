// Activations, losses and shapes as layers: each is its function with its options.
#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>

#include "../support.h"

namespace xgrad::testing {
namespace {

template <class Layer, class F, class... Arguments>
void check_layer(const char* described, const F& f, const Arguments&... arguments) {
  const Layer layer(nn::root, arguments...);
  CAPTURE(std::string(described));
  CHECK(layer.description() == described);
  const Tensor x = normal({3, 4, 6});
  CHECK(equal(layer(x).value(), f(x).value()));
  // Hooks and errors know the layer.
  int runs = 0;
  layer.on_forward([&](const nn::ForwardCall& call) { runs += static_cast<int>(call.inputs.size()); });
  layer(x);
  CHECK(runs == 1);
}

}  // namespace

TEST_CASE("activation layers are their functions") {
  check_layer<nn::ReLU>("ReLU", relu);
  check_layer<nn::ReLU6>("ReLU6", relu6);
  check_layer<nn::SELU>("SELU", selu);
  check_layer<nn::SiLU>("SiLU", silu);
  check_layer<nn::Mish>("Mish", mish);
  check_layer<nn::Sigmoid>("Sigmoid", sigmoid);
  check_layer<nn::LogSigmoid>("LogSigmoid", logsigmoid);
  check_layer<nn::Hardsigmoid>("Hardsigmoid", hardsigmoid);
  check_layer<nn::Hardswish>("Hardswish", hardswish);
  check_layer<nn::Tanh>("Tanh", [](const Tensor& x) { return tanh(x); });
  check_layer<nn::Tanhshrink>("Tanhshrink", tanhshrink);
  check_layer<nn::Softsign>("Softsign", softsign);
  check_layer<nn::Softplus>("Softplus", softplus);
  check_layer<nn::Identity>("Identity", [](const Tensor& x) { return x; });
  check_layer<nn::LeakyReLU>(
      "LeakyReLU 0.2", [](const Tensor& x) { return leaky_relu(x, {.negative_slope = 0.2}); },
      LeakyReluOptions{.negative_slope = 0.2});
  check_layer<nn::Hardtanh>(
      "Hardtanh -2 to 0.5", [](const Tensor& x) { return clamp(x, {.min = -2, .max = 0.5}); },
      HardtanhOptions{.min_val = -2, .max_val = 0.5});
  check_layer<nn::ELU>(
      "ELU 0.5", [](const Tensor& x) { return elu(x, 0.5); }, Real(0.5));
  check_layer<nn::CELU>(
      "CELU 0.5", [](const Tensor& x) { return celu(x, 0.5); }, Real(0.5));
  check_layer<nn::GELU>("GELU", [](const Tensor& x) { return gelu(x); });
  check_layer<nn::GELU>(
      "GELU tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); }, Gelu::tanh);
  check_layer<nn::GLU>(
      "GLU axis 1", [](const Tensor& x) { return glu(x, 1); }, 1);
  check_layer<nn::Softmax>(
      "Softmax axis 0", [](const Tensor& x) { return softmax(x, 0); }, 0);
  check_layer<nn::LogSoftmax>("LogSoftmax axis -1", [](const Tensor& x) { return log_softmax(x); });
  check_layer<nn::PReLU>(
      "PReLU 4", [](const Tensor& x) { return prelu(x, full({4}, 0.1)); },
      nn::PReLUOptions{.num_parameters = 4, .init = 0.1});
  check_layer<nn::Hardshrink>(
      "Hardshrink 0.2", [](const Tensor& x) { return hardshrink(x, 0.2); }, Real(0.2));
  check_layer<nn::Softshrink>("Softshrink 0.5", [](const Tensor& x) { return softshrink(x); });
  check_layer<nn::PixelShuffle>(
      "PixelShuffle 1", [](const Tensor& x) { return pixel_shuffle(x, 1); }, 1);
  check_layer<nn::PixelUnshuffle>(
      "PixelUnshuffle 2", [](const Tensor& x) { return pixel_unshuffle(x, 2); }, 2);
  check_layer<nn::ChannelShuffle>(
      "ChannelShuffle 2 groups", [](const Tensor& x) { return channel_shuffle(x, 2); }, 2);
  check_layer<nn::ReflectionPad1d>(
      "ReflectionPad1d 1, 2",
      [](const Tensor& x) {
        return pad(x, {{0, 0}, {0, 0}, {1, 2}}, PadMode::reflect);
      },
      nn::Sides1d(1, 2));
  check_layer<nn::ReplicationPad2d>(
      "ReplicationPad2d 3, 0, 1, 2",
      [](const Tensor& x) {
        return pad(x, {{0, 0}, {1, 2}, {3, 0}}, PadMode::replicate);
      },
      nn::Sides2d(3, 0, 1, 2));
  check_layer<nn::CircularPad2d>(
      "CircularPad2d 1, 1, 1, 1",
      [](const Tensor& x) {
        return pad(x, {{0, 0}, {1, 1}, {1, 1}}, PadMode::circular);
      },
      nn::Sides2d(1));
  check_layer<nn::ConstantPad1d>(
      "ConstantPad1d 1, 0, value 7",
      [](const Tensor& x) {
        return pad(x, {{0, 0}, {0, 0}, {1, 0}}, 7);
      },
      nn::Sides1d(1, 0), Real(7));
  check_layer<nn::ZeroPad2d>(
      "ZeroPad2d 0, 1, 2, 0, value 0",
      [](const Tensor& x) {
        return pad(x, {{0, 0}, {2, 0}, {0, 1}});
      },
      nn::Sides2d(0, 1, 2, 0));
  check_layer<nn::Flatten>("Flatten 1 to -1", [](const Tensor& x) { return reshape(x, {3, 24}); });
  check_layer<nn::Unflatten>(
      "Unflatten axis 2 to [2, -1]",
      [](const Tensor& x) {
        return reshape(x, {3, 4, 2, 3});
      },
      2, Shape{2, -1});
  CHECK(error_of<ValueError>([] { nn::PReLU(nn::root, {.num_parameters = 0}); }) ==
        "PReLU: num_parameters 0 is not positive");
}

TEST_CASE("layers of pooling and of another size are their functions") {
  check_layer<nn::MaxPool1d>(
      "MaxPool1d 2", [](const Tensor& x) { return max_pool1d(x, 2); }, 2);
  check_layer<nn::MaxPool2d>(
      "MaxPool2d 2 x 3",
      [](const Tensor& x) {
        return max_pool2d(x, {2, 3}, {.stride = 1, .padding = 1});
      },
      Size2d(2, 3), MaxPool2dOptions{.stride = 1, .padding = 1});
  check_layer<nn::AvgPool1d>(
      "AvgPool1d 3", [](const Tensor& x) { return avg_pool1d(x, 3, {.padding = 1}); }, 3,
      AvgPool1dOptions{.padding = 1});
  check_layer<nn::AvgPool2d>(
      "AvgPool2d 2 x 2", [](const Tensor& x) { return avg_pool2d(x, 2); }, 2);
  check_layer<nn::AdaptiveMaxPool1d>(
      "AdaptiveMaxPool1d to 4", [](const Tensor& x) { return adaptive_max_pool1d(x, 4); }, 4);
  check_layer<nn::AdaptiveMaxPool2d>(
      "AdaptiveMaxPool2d to 3 x 2",
      [](const Tensor& x) {
        return adaptive_max_pool2d(x, {3, 2});
      },
      Size2d(3, 2));
  check_layer<nn::AdaptiveAvgPool1d>(
      "AdaptiveAvgPool1d to 4", [](const Tensor& x) { return adaptive_avg_pool1d(x, 4); }, 4);
  check_layer<nn::AdaptiveAvgPool2d>(
      "AdaptiveAvgPool2d to 1 x 1", [](const Tensor& x) { return adaptive_avg_pool2d(x, 1); }, 1);
  const nn::Sequential net{nn::root, nn::make<nn::Conv2d>(1, 2, 3), nn::make<nn::MaxPool2d>(2, {.stride = 1}),
                           nn::make<nn::Upsample>({.scale_factor = 2})};
  CHECK(net[2].description() == "Upsample by 2 x 2");
  const Tensor x = normal({1, 1, 5, 4});
  const Tensor pooled = max_pool2d(net.get<nn::Conv2d>(0)(x), 2, {.stride = 1});
  CHECK(equal(net(x).value(), interpolate(pooled, {.scale_factor = 2}).value()));
  CHECK(nn::Upsample(nn::root, {.size = Size2d(7, 9)}).description() == "Upsample to 7 x 9");
}

TEST_CASE("a function with options is an activation with their defaults") {
  const Tensor x = normal({3});
  CHECK(equal(nn::Activation(leaky_relu)(x).value(), leaky_relu(x).value()));
  CHECK(equal(nn::Activation(hardtanh)(x).value(), hardtanh(x).value()));
  CHECK(equal(nn::Activation(mish)(x).value(), mish(x).value()));
}

TEST_CASE("an elementwise function of the library has its name as an activation") {
  CHECK(nn::Function(nn::root, relu).description() == "Function relu");
  CHECK(nn::Function(nn::root, sinh).description() == "Function sinh");
  CHECK(nn::Activation(log1p).name() == "log1p");
  CHECK(nn::Activation(erf).name() == "erf");
  CHECK(nn::Activation(neg).name() == "neg");
  CHECK(nn::Activation(rsqrt).name() == "rsqrt");
  CHECK(nn::Activation(nan_to_num).name() == "nan_to_num");
}

TEST_CASE("a function of a tensor and a number is an activation with its own default, or none") {
  const Tensor x = tensor({-2, -0.75, 0.25, 0.75, 3});
  CHECK(equal(nn::Activation(elu)(x).value(), elu(x).value()));
  CHECK(equal(nn::Activation(celu)(x).value(), celu(x).value()));
  CHECK(equal(nn::Activation(hardshrink)(x).value(), hardshrink(x).value()));
  CHECK(equal(nn::Activation(softshrink)(x).value(), softshrink(x).value()));
  CHECK(error_of<ValueError>([] { nn::Activation{pow}; }) ==
        "activation: this function of a tensor and a number has no default for the number: write a lambda");
  CHECK(error_of<ValueError>([] { nn::Activation{static_cast<Tensor (*)(const Tensor&, double)>(nullptr)}; }) ==
        "activation: the function is empty");
}

TEST_CASE("loss layers are their functions with their options, and save their weights") {
  const Tensor x = normal({2, 3}), p = sigmoid(x), t = uniform({2, 3}, 0, 1), w = tensor({1, 2, 3});
  const Index ids({2}, {2, 0});
  const Reduction sum = Reduction::sum;
  const auto same_number = [](const Tensor& a, const Tensor& b) { CHECK(equal(a.value(), b.value())); };
  const nn::CrossEntropyLoss cross{nn::root, {.weight = w, .label_smoothing = 0.1, .reduction = sum}};
  same_number(cross(x, ids), cross_entropy(x, ids, {.weight = w, .label_smoothing = 0.1, .reduction = sum}));
  same_number(cross(x, p), cross_entropy(x, p, {.weight = w, .label_smoothing = 0.1, .reduction = sum}));
  CHECK(cross.state_dict().contains("weight"));
  CHECK(cross.parameters().empty());
  cross.load_state_dict({{"weight", tensor({3, 1, 1}).value()}});
  same_number(cross(x, ids),
              cross_entropy(x, ids, {.weight = tensor({3, 1, 1}), .label_smoothing = 0.1, .reduction = sum}));
  CHECK(nn::CrossEntropyLoss(nn::root).state_dict().empty());
  const nn::CrossEntropyLoss ignoring{nn::root, {.ignore_index = 2}};
  same_number(ignoring(x, ids), cross_entropy(x, ids, {.ignore_index = 2}));
  CHECK(error_of<ValueError>([&] { ignoring(x, p); }) ==
        "cross_entropy: ignore_index 2 is a class number, but the targets are probabilities");
  same_number(nn::NLLLoss(nn::root, {.weight = w})(x, ids), nll_loss(x, ids, {.weight = w}));
  same_number(nn::BCELoss(nn::root, {.weight = w})(p, t), binary_cross_entropy(p, t, {.weight = w}));
  const nn::BCEWithLogitsLoss logits{nn::root, {.weight = w, .pos_weight = w}};
  same_number(logits(x, t), binary_cross_entropy_with_logits(x, t, {.weight = w, .pos_weight = w}));
  CHECK(logits.state_dict().contains("pos_weight"));
  same_number(nn::KLDivLoss(nn::root, {.reduction = sum})(x, t), kl_div(x, t, {.reduction = sum}));
  same_number(nn::GaussianNLLLoss(nn::root, {.full = true})(x, t, p), gaussian_nll_loss(x, t, p, {.full = true}));
  same_number(nn::PoissonNLLLoss(nn::root, {.full = true})(x, t), poisson_nll_loss(x, t, {.full = true}));
  same_number(nn::MSELoss(nn::root, {.reduction = sum})(x, t), mse_loss(x, t, {.reduction = sum}));
  same_number(nn::L1Loss(nn::root)(x, t), l1_loss(x, t));
  same_number(nn::SmoothL1Loss(nn::root, {.beta = 0.5})(x, t), smooth_l1_loss(x, t, {.beta = 0.5}));
  same_number(nn::HuberLoss(nn::root, {.delta = 0.5})(x, t), huber_loss(x, t, {.delta = 0.5}));
  const Tensor y = tensor({1, -1});
  same_number(nn::MarginRankingLoss(nn::root, {.margin = 2})(x, t, Tensor(1)),
              margin_ranking_loss(x, t, Tensor(1), {.margin = 2}));
  same_number(nn::HingeEmbeddingLoss(nn::root, {.margin = 2})(x, Tensor(-1)),
              hinge_embedding_loss(x, Tensor(-1), {.margin = 2}));
  same_number(nn::CosineEmbeddingLoss(nn::root, {.margin = 0.1})(x, t, y),
              cosine_embedding_loss(x, t, y, {.margin = 0.1}));
  same_number(nn::TripletMarginLoss(nn::root, {.swap = true})(x, t, p), triplet_margin_loss(x, t, p, {.swap = true}));
  same_number(nn::KLDivLoss(nn::root, {.reduction = batchmean})(x, t), kl_div(x, t, {.reduction = batchmean}));
  const nn::MultiMarginLoss margins{nn::root, {.p = 2, .weight = w}};
  same_number(margins(x, ids), multi_margin_loss(x, ids, {.p = 2, .weight = w}));
  CHECK(margins.state_dict().contains("weight"));
  const Index labels = index({{2, 0, -1}, {1, -1, -1}});
  same_number(nn::MultiLabelMarginLoss(nn::root, {.reduction = sum})(x, labels),
              multilabel_margin_loss(x, labels, {.reduction = sum}));
  const Tensor steps = log_softmax(normal({4, 2, 3}));
  const Index targets({2, 1}, {1, 0}), fours = index({4, 4}), ones_each = index({1, 1});
  same_number(nn::CTCLoss(nn::root, {.blank = 2})(steps, targets, fours, ones_each),
              ctc_loss(steps, targets, fours, ones_each, {.blank = 2}));
}

TEST_CASE("unflatten refuses sizes of another product") {
  CHECK(error_of<ShapeError>([] { unflatten(ones({2, 3}), 1, {2, 2}); }).starts_with("unflatten: "));
}

TEST_CASE("padding layers refuse what has no such axes") {
  CHECK(error_of<ShapeError>([] { nn::ZeroPad1d(nn::root, 1)(Tensor(1)); }).starts_with("pad: needs (..., L), got []"));
  CHECK(error_of<ShapeError>([] {
          nn::ReflectionPad2d(nn::root, 1)(zeros({3}));
        }).starts_with("pad: needs (..., H, W), got [3]"));
}

TEST_CASE(
    "layers of chance draw in training only, and a transposed convolution of sequences has PyTorch's parameters") {
  const Tensor x = normal({2, 3, 4});
  const auto check_training = [&](const auto& layer, const Tensor& otherwise) {
    manual_seed(3);
    const Array drawn = layer(x).value();
    CHECK_FALSE(equal(drawn, otherwise.value()));
    manual_seed(3);
    CHECK(equal(layer(x).value(), drawn));
  };
  nn::Dropout1d one(nn::root, 0.5);
  nn::AlphaDropout alpha(nn::root, 0.5);
  nn::FeatureAlphaDropout features(nn::root, 0.5);
  nn::RReLU slopes(nn::root);
  nn::Dropout2d two(nn::root, 0.5);
  check_training(one, x);
  check_training(two, x);
  check_training(alpha, x);
  check_training(features, x);
  check_training(slopes, leaky_relu(x, {.negative_slope = Real(11) / 48}));
  for (nn::Module* layer : std::initializer_list<nn::Module*>{&one, &two, &alpha, &features, &slopes}) layer->eval();
  CHECK(equal(one(x).value(), x.value()));
  CHECK(equal(two(x).value(), x.value()));
  CHECK(equal(alpha(x).value(), x.value()));
  CHECK(equal(features(x).value(), x.value()));
  check_close(slopes(x).value(), leaky_relu(x, {.negative_slope = Real(11) / 48}).value());
  CHECK(error_of<ValueError>([] { nn::AlphaDropout(nn::root, 2); }).starts_with("AlphaDropout: p 2 is not in [0, 1]"));

  const nn::ConvTranspose1d conv(nn::root, 3, 4, 5, {.stride = 2, .padding = 1, .output_padding = 1});
  CHECK(conv.weight.shape() == Shape{3, 4, 5});
  CHECK(conv.bias.shape() == Shape{4});
  CHECK(conv(x).shape() == Shape{2, 4, 10});
  CHECK(equal(conv(x).value(),
              conv_transpose1d(x, conv.weight, conv.bias, {.stride = 2, .padding = 1, .output_padding = 1}).value()));
  CHECK(error_of<ValueError>([] {
          nn::ConvTranspose1d(nn::root, 3, 4, 5, {.groups = 2});
        }).starts_with("conv: in 3 cannot be divided into 2 groups"));
}

}  // namespace xgrad::testing
