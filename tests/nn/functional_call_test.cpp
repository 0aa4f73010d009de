// A model as a function of its parameters, a second model of the same kind, and parameters that a layer computes each
// time it runs.
#include "support.h"

#include <memory>

#include <xgrad/xgrad.h>

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct NetOptions {
  std::int64_t dim = 4;
  bool checkpointed = false;
};
struct Net : nn::Layer<Net, NetOptions> {
  using Layer::Layer;
  nn::Linear in{at("in"), 3, options.dim};
  nn::Dropout dropout{at("dropout"), 0};
  nn::Linear out{at("out"), options.dim, 2};
  const Tensor again = param("again", out.weight);  // tied

  Tensor forward(const Tensor& x) const {
    const auto inner = [this](const Tensor& x) { return tanh(out(tanh(in(x)))); };
    const Tensor y = options.checkpointed ? checkpoint(inner, x) : inner(x);
    return y + sum(again);
  }
};

Tensors values_like(const Net& net, std::uint64_t seed) {
  Tensors values;
  for (const Tensor& parameter : net.parameters()) values.push_back(variable(normal(parameter.shape(), seed++)));
  return values;
}

}  // namespace

TEST_CASE("a functional call is the model with other parameters, and leaves the model as it was") {
  const Net net{nn::root}, other{nn::root};
  const Tensors values = values_like(net, 3);
  for (std::size_t i = 0; i < values.size(); ++i) other.parameters()[i].assign(values[i].value());
  const Array x = normal({5, 3}), before = net(x).value();
  check_close(nn::functional_call(net, values, x).value(), other(x).value());
  CHECK(equal(net(x).value(), before));
  std::vector<std::pair<std::string, Tensor>> named;
  for (std::size_t i = 0; i < values.size(); ++i) named.emplace_back(net.named_parameters()[i].first, values[i]);
  check_close(nn::functional_call(net, named, x).value(), other(x).value());

  // In both places where the weight is used.
  const Tensor w = normal(net.out.weight.shape(), 8);
  const Tensor y = nn::functional_call(net, {{"out.weight", w}}, x);
  const Tensor h = tanh(net.in(x));
  check_close(y.value(), (tanh(linear(h, w, net.out.bias)) + sum(w)).value());
}

TEST_CASE("gradients of a functional call go to the values, whenever they are asked for") {
  for (const bool checkpointed : {false, true}) {
    CAPTURE(checkpointed);
    const Net net{nn::root, {.checkpointed = checkpointed}};
    const Array x = normal({5, 3});
    std::vector<Array> inputs;
    for (const Tensor& value : values_like(net, 3)) inputs.push_back(value.value());
    check_gradients([&](const Tensors& values) { return nn::functional_call(net, values, x); }, inputs);
    const Tensors values = values_like(net, 9);
    const Tensor y = sum(nn::functional_call(net, values, x));
    CHECK_THROWS_AS(grad(y, {net.in.weight}), GraphError);
  }
}

TEST_CASE("a checkpoint with frozen parameters runs a second time with the values") {
  const Net net{nn::root, {.checkpointed = true}}, direct{nn::root};
  nn::freeze(net);
  const Array x = normal({5, 3});
  const Tensors values = values_like(net, 3);
  const auto slopes = [&](const Net& model) { return grad(sum(nn::functional_call(model, values, x)), values); };
  const Tensors ours = slopes(net), wanted = slopes(direct);
  for (std::size_t i = 0; i < values.size(); ++i) check_close(ours[i].value(), wanted[i].value());
}

TEST_CASE("a step of gradient descent inside of a loss is differentiated (Finn et al. 2017)") {
  const Net net{nn::root};
  const Tensor x = normal({5, 3}), y = normal({5, 2}, 4), x2 = normal({5, 3}, 5), y2 = normal({5, 2}, 6);
  const auto outer = [&](const Tensors& w) {
    const Tensors slopes = grad(mse_loss(nn::functional_call(net, w, x), y), w, {.create_graph = true});
    Tensors fast;
    for (std::size_t i = 0; i < w.size(); ++i) fast.push_back(w[i] - 0.3 * slopes[i]);
    return mse_loss(nn::functional_call(net, fast, x2), y2);
  };
  std::vector<Array> inputs;
  for (const Tensor& parameter : net.parameters()) inputs.push_back(parameter.value());
  check_gradients(outer, inputs);
}

TEST_CASE("parameters may take one another's place") {
  struct Two : nn::Module {
    Tensor a = param("a", {2}, nn::init::constant(2)), b = param("b", {2}, nn::init::constant(5));
    Tensor operator()(const Tensor& x) const { return a * x + b * b; }
  } two;
  const Tensor y = nn::functional_call(two, {{"a", two.b}, {"b", two.a}}, Tensor(1));
  CHECK(equal(y.value(), Array({2}, Real(9))));
  const Tensors slopes = grad(sum(y), {two.a, two.b});
  CHECK(equal(slopes[0].value(), Array({2}, Real(4))));
  CHECK(equal(slopes[1].value(), Array({2}, Real(1))));
  CHECK(equal(two.a.value(), Array({2}, Real(2))));
}

TEST_CASE("what a model assigns to a buffer goes to the value that took its place") {
  const nn::BatchNorm1d norm{nn::root, 3};
  const Tensor mean = Tensor(Array({3}, Real(1)));
  nn::functional_call(norm, {{"running_mean", mean}}, normal({8, 3}));
  CHECK(equal(norm.running_mean.value(), Array({3}, Real(0))));
  CHECK_FALSE(equal(mean.value(), Array({3}, Real(1))));
}

TEST_CASE("a functional call refuses what does not fit, and then nothing has changed") {
  const Net net{nn::root};
  const Array x = normal({5, 3}), before = net(x).value();
  Tensors values = values_like(net, 3);
  values.pop_back();
  CHECK_REFUSED(ValueError, nn::functional_call(net, values, x), "functional_call", "3 values for 4 parameters");
  values.emplace_back();
  CHECK_THROWS_AS(nn::functional_call(net, values, x), GraphError);
  values.back() = ones({7});
  CHECK_REFUSED(ShapeError, nn::functional_call(net, values, x), "functional_call", "shape [2]", "its value [7]");
  CHECK_REFUSED(ValueError, nn::functional_call(net, {{"weight", ones({1})}}, x), "functional_call",
                "there is no 'weight', only [again, in.weight");
  CHECK_REFUSED(ValueError, nn::functional_call(net, {{"out.weight", ones({2, 4})}, {"again", ones({2, 4})}}, x),
                "functional_call", "two values for 'again'");
  CHECK_THROWS_AS(nn::functional_call(net, {{"in.weight", ones({4, 3})}}, normal({5, 2})), ShapeError);
  CHECK(equal(net(x).value(), before));
}

TEST_CASE("a clone has the numbers, modes and frozen parameters, and is a model of its own") {
  Net net{nn::root, {.dim = 6}};
  net.dropout.eval();
  nn::freeze(net.in);
  const auto twin = nn::clone(net);
  const Array x = normal({5, 3});
  CHECK(twin->options.dim == 6);
  CHECK(equal((*twin)(x).value(), net(x).value()));
  CHECK(twin->training());
  CHECK_FALSE(twin->dropout.training());
  CHECK_FALSE(twin->in.weight.requires_grad());
  CHECK(twin->out.weight.requires_grad());
  twin->out.bias.assign(ones({2}).value());
  CHECK_FALSE(equal((*twin)(x).value(), net(x).value()));
  const nn::Gpt gpt{nn::root, {.vocabulary = 5, .context = 4, .dim = 8, .heads = 2, .layers = 1}};
  const auto second = nn::clone(gpt);
  const Index ids({1, 4}, {0, 1, 2, 3});
  CHECK(equal((*second)(ids).value(), gpt(ids).value()));
}

namespace {

struct Symmetric : nn::Parametrization {
  explicit Symmetric(nn::Module& layer) : Parametrization(layer, "weight", "symmetric") {}
  Tensor compute(const Tensor& plain) const override { return (plain + transpose(plain)) / 2; }
};
struct Doubled : nn::Parametrization {
  explicit Doubled(nn::Module& layer) : Parametrization(layer, "weight", "doubled") {}
  Tensor compute(const Tensor& plain) const override { return plain * 2; }
};
struct Flat : nn::Parametrization {
  explicit Flat(nn::Module& layer) : Parametrization(layer, "weight", "flat") {}
  Tensor compute(const Tensor& plain) const override { return reshape(plain, {-1}); }
};

}  // namespace

TEST_CASE("Lora is W + alpha / rank B A, begins as nothing, is trained alone, and is merged") {
  nn::Linear layer{nn::root, 5, 3};
  const Array x = normal({4, 5}), before = layer(x).value();
  nn::freeze(layer);
  const nn::Lora lora{layer, {.rank = 2, .alpha = 6}};
  CHECK(equal(layer(x).value(), before));
  CHECK(layer.num_parameters() == 3 * 5 + 3 + 2 * 5 + 3 * 2);
  lora.b.assign(normal({3, 2}, 5));
  const Tensor effective = layer.weight.detach() + 3 * matmul(lora.b.detach(), lora.a.detach());
  const Tensor y = layer(x);
  check_close(y.value(), linear(x, effective, layer.bias).value());
  CHECK_THROWS_AS(grad(y, {layer.weight}, {.seed = ones(y.shape())}), GraphError);
  const auto of = [&](const Tensors& ab) {
    return nn::functional_call(layer, {{"weight_lora.a", ab[0]}, {"weight_lora.b", ab[1]}}, x);
  };
  check_gradients(of, {lora.a.value(), lora.b.value()});
  const Tensor a = normal({2, 5}, 6), b = normal({3, 2}, 7);
  check_close(of({a, b}).value(), linear(x, layer.weight + 3 * matmul(b, a), layer.bias).value());
  const Array frozen = layer.weight.value();
  optim::Adam adam{layer.parameters(), {.lr = 0.1}};
  sum(layer(x) * layer(x)).backward();
  adam.step();
  CHECK(equal(layer.weight.value(), frozen));
  CHECK_FALSE(equal(lora.b.value(), normal({3, 2}, 5)));
  const Array trained = layer(x).value();
  lora.merge();
  check_close(layer(x).value(), trained);
  check_close(linear(x, layer.weight, layer.bias).value(), trained);

  nn::Conv2d conv{nn::root, 2, 3, 3};
  const nn::Lora of_conv{conv};
  CHECK(of_conv.a.shape() == Shape{8, 18});
  CHECK(of_conv.b.shape() == Shape{3, 8});
}

TEST_CASE("parametrizations follow one another, end with themselves, and leave tied uses outside the plain weight") {
  nn::Linear layer{nn::root, 3, 3, {.bias = false}};
  const Array x = normal({2, 3}), plain = layer(x).value(), w = layer.weight.value();
  {
    const Symmetric symmetric{layer};
    CHECK(equal(layer.weight.value(), w));
    check_close(layer(x).value(), matmul(x, symmetric.value()).value());
    {
      const Doubled doubled{layer};
      check_close(layer(x).value(), matmul(x, symmetric.value() * 2).value());
      CHECK(to_string(layer).find("weight_doubled: Doubled") != std::string::npos);
    }
    check_close(layer(x).value(), matmul(x, symmetric.value()).value());
    CHECK(equal(linear(x, layer.weight).value(), plain));
  }
  CHECK(equal(layer(x).value(), plain));
  auto orphan = [] {
    nn::Linear gone{nn::root, 2, 2};
    return std::make_unique<Symmetric>(gone);
  }();
  CHECK_REFUSED(GraphError, orphan->value(), "parametrization", "is gone");
}

TEST_CASE("gradients of any order flow through a parametrization, also from a checkpoint, and after the run") {
  nn::Linear layer{nn::root, 3, 3};
  const Symmetric symmetric{layer};
  const Array x = normal({2, 3});
  const auto direct = [&] { return sum(tanh(layer(x))); };
  const auto again = [&] { return sum(checkpoint([&](const Tensor& x) { return tanh(layer(x)); }, Tensor(x))); };
  const Tensor ours = grad(direct(), {layer.weight})[0], through = grad(again(), {layer.weight})[0];
  check_close(through.value(), ours.value());
  check_close(ours.value(), transpose(ours).value());
  const auto twice = [&](const Tensor& y) {
    const Tensor first = grad(y, {layer.weight}, {.create_graph = true})[0];
    return grad(sum(first * first), {layer.weight})[0].value();
  };
  check_close(twice(again()), twice(direct()));
  const auto of = [&](const Tensors& w) { return nn::functional_call(layer, {{"weight", w[0]}}, x); };
  check_gradients(of, {layer.weight.value()});
}

TEST_CASE("a layer that throws has its plain parameters again, and hooks see the new ones") {
  nn::Linear layer{nn::root, 3, 2};
  const Doubled doubled{layer};
  const Array w = layer.weight.value();
  CHECK_THROWS_AS(layer(ones({2, 4})), ShapeError);
  CHECK(equal(layer.weight.value(), w));
  CHECK(layer.weight.is_leaf());
  Array seen;
  int begun = 0;
  layer.before_forward([&](const nn::ForwardCall& call) {
    ++begun;
    CHECK(call.inputs.size() == 1);
    CHECK_FALSE(call.output.defined());
  });
  layer.on_forward([&](const nn::ForwardCall&) { seen = layer.weight.value(); });
  layer(ones({1, 3}));
  CHECK(begun == 1);
  check_close(seen, doubled.value().value());
  CHECK(equal(layer.weight.value(), w));
}

TEST_CASE("what cannot be parametrized is refused with what there is") {
  nn::Linear layer{nn::root, 3, 2};
  CHECK_REFUSED(ValueError, nn::Lora(layer, {.parameter = "weights"}), "parametrization",
                "Linear 3 -> 2 has no parameter 'weights', only [weight, bias]");
  CHECK_THROWS_AS(nn::Lora(layer, {.parameter = "bias"}), ShapeError);
  CHECK_THROWS_AS(nn::Lora(layer, {.rank = 0}), ValueError);
  CHECK(layer.children().empty());
  CHECK(equal(layer(ones({1, 3})).value(), linear(ones({1, 3}), layer.weight, layer.bias).value()));
  const nn::Lora lora{layer};
  CHECK_REFUSED(ValueError, nn::Lora{layer}, "module", "weight_lora");
  const Flat flat{layer};
  CHECK_REFUSED(ShapeError, layer(ones({1, 3})), "parametrization", "compute gives [6]");
}
