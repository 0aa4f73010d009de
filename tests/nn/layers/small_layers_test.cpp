// Activations, losses and shapes as layers: each is its function with its options.
#include <xgrad/xgrad.h>

#include "../support.h"

namespace xgrad::testing {
namespace {

using nn::root;

const Tensor input = normal({3, 4, 6});

template <class Layer>
void check_layer(const Layer& layer, const char* described, const Tensor& expected) {
  CAPTURE(std::string(described));
  CHECK(layer.description() == described);
  CHECK(equal(layer(input).value(), expected.value()));
  // Hooks and errors know the layer.
  int runs = 0;
  layer.on_forward([&](const nn::ForwardCall& call) { runs += static_cast<int>(call.inputs.size()); });
  layer(input);
  CHECK(runs == 1);
}

}  // namespace

TEST_CASE("activation layers are their functions") {
  const Tensor& x = input;
  check_layer(nn::ReLU(root), "ReLU", relu(x));
  check_layer(nn::ReLU6(root), "ReLU6", relu6(x));
  check_layer(nn::SELU(root), "SELU", selu(x));
  check_layer(nn::SiLU(root), "SiLU", silu(x));
  check_layer(nn::Mish(root), "Mish", mish(x));
  check_layer(nn::Sigmoid(root), "Sigmoid", sigmoid(x));
  check_layer(nn::LogSigmoid(root), "LogSigmoid", logsigmoid(x));
  check_layer(nn::Hardsigmoid(root), "Hardsigmoid", hardsigmoid(x));
  check_layer(nn::Hardswish(root), "Hardswish", hardswish(x));
  check_layer(nn::Tanh(root), "Tanh", tanh(x));
  check_layer(nn::Tanhshrink(root), "Tanhshrink", tanhshrink(x));
  check_layer(nn::Softsign(root), "Softsign", softsign(x));
  check_layer(nn::Softplus(root), "Softplus", softplus(x));
  check_layer(nn::Identity(root), "Identity", x);
  check_layer(nn::LeakyReLU(root, {.negative_slope = 0.2}), "LeakyReLU 0.2", leaky_relu(x, {.negative_slope = 0.2}));
  check_layer(nn::Hardtanh(root, {.min_val = -2, .max_val = 0.5}), "Hardtanh -2 to 0.5",
              clamp(x, {.min = -2, .max = 0.5}));
  check_layer(nn::ELU(root, 0.5), "ELU 0.5", elu(x, 0.5));
  check_layer(nn::CELU(root, 0.5), "CELU 0.5", celu(x, 0.5));
  check_layer(nn::GELU(root), "GELU", gelu(x));
  check_layer(nn::GELU(root, Gelu::tanh), "GELU tanh", gelu(x, Gelu::tanh));
  check_layer(nn::GLU(root, 1), "GLU axis 1", glu(x, 1));
  check_layer(nn::Softmax(root, 0), "Softmax axis 0", softmax(x, 0));
  check_layer(nn::LogSoftmax(root), "LogSoftmax axis -1", log_softmax(x));
  check_layer(nn::PReLU(root, {.num_parameters = 4, .init = 0.1}), "PReLU 4", prelu(x, full({4}, 0.1)));
  check_layer(nn::Hardshrink(root, 0.2), "Hardshrink 0.2", hardshrink(x, 0.2));
  check_layer(nn::Softshrink(root), "Softshrink 0.5", softshrink(x));
  CHECK_REFUSED(ValueError, nn::PReLU(root, {.num_parameters = 0}), "PReLU", "num_parameters 0 is not positive");
}

TEST_CASE("layers of shapes and pooling are their functions") {
  const Tensor& x = input;
  check_layer(nn::Flatten(root), "Flatten 1 to -1", reshape(x, {3, 24}));
  check_layer(nn::Unflatten(root, 2, {2, -1}), "Unflatten axis 2 to [2, -1]", reshape(x, {3, 4, 2, 3}));
  check_layer(nn::MaxPool1d(root, 2), "MaxPool1d 2", max_pool1d(x, 2));
  check_layer(nn::MaxPool2d(root, {2, 3}, {.stride = 1, .padding = 1}), "MaxPool2d 2 x 3",
              max_pool2d(x, {2, 3}, {.stride = 1, .padding = 1}));
  check_layer(nn::AvgPool1d(root, 3, {.padding = 1}), "AvgPool1d 3", avg_pool1d(x, 3, {.padding = 1}));
  check_layer(nn::AvgPool2d(root, 2), "AvgPool2d 2 x 2", avg_pool2d(x, 2));
  check_layer(nn::AdaptiveAvgPool1d(root, 4), "AdaptiveAvgPool1d 4", adaptive_avg_pool1d(x, 4));
  check_layer(nn::AdaptiveAvgPool2d(root, 1), "AdaptiveAvgPool2d 1 x 1", adaptive_avg_pool2d(x, 1));
  const nn::Sequential net{root, nn::make<nn::Conv2d>(1, 2, 3),
                           nn::make<nn::MaxPool2d>(2, MaxPool2dOptions{.stride = 1})};
  const Tensor picture = normal({1, 1, 5, 4});
  CHECK(equal(net(picture).value(), max_pool2d(net.get<nn::Conv2d>(0)(picture), 2, {.stride = 1}).value()));
}

TEST_CASE("a function of the library is an activation with its name and the defaults of its options, or none") {
  const Tensor x = tensor({-2, -0.75, 0.25, 0.75, 3});
  const auto check = [&](const nn::Activation& f, const Tensor& expected) {
    CHECK(equal(f(x).value(), expected.value()));
  };
  check(leaky_relu, leaky_relu(x));
  check(hardtanh, hardtanh(x));
  check(mish, mish(x));
  check(gelu, gelu(x));
  check([](const Tensor& v) { return gelu(v, Gelu::tanh); }, gelu(x, Gelu::tanh));
  check(elu, elu(x));
  check(celu, celu(x));
  check(hardshrink, hardshrink(x));
  check(softshrink, softshrink(x));
  CHECK(nn::Function(root, relu).description() == "Function relu");
  CHECK(nn::Function(root, sin).description() == "Function sin");
  CHECK(nn::Activation(log1p).name() == "log1p");
  CHECK(nn::Activation(erf).name() == "erf");
  CHECK(nn::Activation(neg).name() == "neg");
  CHECK(nn::Activation(rsqrt).name() == "rsqrt");
  CHECK(nn::Activation(nan_to_num).name() == "nan_to_num");
  CHECK_REFUSED(ValueError, nn::Activation{pow}, "activation", "no default for the number: write a lambda");
  const auto none = static_cast<Tensor (*)(const Tensor&, double)>(nullptr);
  CHECK_REFUSED(ValueError, nn::Activation{none}, "activation", "the function is empty");
}

TEST_CASE("loss layers are their functions with their options") {
  const Tensor x = normal({2, 3}), p = sigmoid(x), t = uniform({2, 3}, 0, 1), w = tensor({1, 2, 3});
  const Index ids({2}, {2, 0});
  const Reduction sum = Reduction::sum;
  const auto same_number = [](const Tensor& a, const Tensor& b) { CHECK(equal(a.value(), b.value())); };
  const nn::CrossEntropyLoss cross{nn::root, {.weight = w, .label_smoothing = 0.1, .reduction = sum}};
  same_number(cross(x, ids), cross_entropy(x, ids, {.weight = w, .label_smoothing = 0.1, .reduction = sum}));
  const nn::CrossEntropyLoss ignoring{nn::root, {.ignore_index = 2}};
  same_number(ignoring(x, ids), cross_entropy(x, ids, {.ignore_index = 2}));
  same_number(nn::NLLLoss(nn::root, {.weight = w})(x, ids), nll_loss(x, ids, {.weight = w}));
  same_number(nn::BCELoss(nn::root, {.weight = w})(p, t), binary_cross_entropy(p, t, {.weight = w}));
  const nn::BCEWithLogitsLoss logits{nn::root, {.weight = w, .pos_weight = w}};
  same_number(logits(x, t), binary_cross_entropy_with_logits(x, t, {.weight = w, .pos_weight = w}));
  same_number(nn::KLDivLoss(nn::root, {.reduction = sum})(x, t), kl_div(x, t, {.reduction = sum}));
  same_number(nn::GaussianNLLLoss(nn::root, {.full = true})(x, t, p), gaussian_nll_loss(x, t, p, {.full = true}));
  same_number(nn::MSELoss(nn::root, {.reduction = sum})(x, t), mse_loss(x, t, {.reduction = sum}));
  same_number(nn::L1Loss(nn::root)(x, t), l1_loss(x, t));
  same_number(nn::SmoothL1Loss(nn::root, {.beta = 0.5})(x, t), smooth_l1_loss(x, t, {.beta = 0.5}));
  same_number(nn::HuberLoss(nn::root, {.delta = 0.5})(x, t), huber_loss(x, t, {.delta = 0.5}));
  same_number(nn::TripletMarginLoss(nn::root, {.swap = true})(x, t, p), triplet_margin_loss(x, t, p, {.swap = true}));
  same_number(nn::KLDivLoss(nn::root, {.reduction = batchmean})(x, t), kl_div(x, t, {.reduction = batchmean}));
}

TEST_CASE("unflatten refuses sizes of another product") {
  CHECK_REFUSED(ShapeError, unflatten(ones({2, 3}), 1, {2, 2}), "unflatten");
}

TEST_CASE("dropout of channels draws in training only") {
  const Tensor x = normal({2, 3, 4, 2});
  const nn::Dropout2d layer(root, 0.5);
  manual_seed(3);
  const Array drawn = layer(x).value();
  CHECK_FALSE(equal(drawn, x.value()));
  manual_seed(3);
  CHECK(equal(layer(x).value(), drawn));
  const nn::Eval eval(layer);
  CHECK(equal(layer(x).value(), x.value()));
  CHECK_REFUSED(ValueError, nn::Dropout2d(nn::root, 2), "Dropout2d", "p 2 is not in [0, 1]");
}

}  // namespace xgrad::testing
