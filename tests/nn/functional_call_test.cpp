// A model as a function of its parameters, and a second model of the same kind.
#include "support.h"

#include <xgrad/xgrad.h>

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct NetOptions {
  std::int64_t dim = 4;
  bool checkpointed = false;
};
struct TiedNet : nn::Layer<TiedNet, NetOptions> {
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

Tensors values_like(const TiedNet& net, std::uint64_t seed) {
  Tensors values;
  for (const Tensor& parameter : net.parameters()) values.push_back(variable(normal(parameter.shape(), seed++)));
  return values;
}

}  // namespace

// By the list of all parameters it is the model that has them: catalogue_test.cpp.
TEST_CASE("a functional call takes values by their names, and leaves the model as it was") {
  const TiedNet net{nn::root};
  const Tensors values = values_like(net, 3);
  const Array x = normal({5, 3}), before = net(x).value();
  std::vector<std::pair<std::string, Tensor>> named;
  for (std::size_t i = 0; i < values.size(); ++i) named.emplace_back(net.named_parameters()[i].first, values[i]);
  CHECK(equal(nn::functional_call(net, named, x).value(), nn::functional_call(net, values, x).value()));
  CHECK(equal(net(x).value(), before));

  // In both places where the weight is used.
  const Tensor w = normal(net.out.weight.shape(), 8);
  const Tensor y = nn::functional_call(net, {{"out.weight", w}}, x);
  const Tensor h = tanh(net.in(x));
  check_close(y.value(), (tanh(linear(h, w, net.out.bias)) + sum(w)).value());
}

TEST_CASE("gradients of a functional call go to the values, whenever they are asked for") {
  for (const bool checkpointed : {false, true}) {
    CAPTURE(checkpointed);
    const TiedNet net{nn::root, {.checkpointed = checkpointed}};
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
  const TiedNet net{nn::root, {.checkpointed = true}}, direct{nn::root};
  nn::freeze(net);
  const Array x = normal({5, 3});
  const Tensors values = values_like(net, 3);
  const auto slopes = [&](const TiedNet& model) { return grad(sum(nn::functional_call(model, values, x)), values); };
  const Tensors ours = slopes(net), wanted = slopes(direct);
  for (std::size_t i = 0; i < values.size(); ++i) check_close(ours[i].value(), wanted[i].value());
}

TEST_CASE("a step of gradient descent inside of a loss is differentiated (Finn et al. 2017)") {
  const TiedNet net{nn::root};
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
  const TiedNet net{nn::root};
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
  CHECK_REFUSED(ShapeError, nn::functional_call(net, {{"out.weight", ones({4, 2})}}, x), "functional_call",
                "out.weight", "[2, 4]", "[4, 2]");
  const std::string names = error_of<ValueError>([&] {
    nn::functional_call(net, {{"in.bias", ones({4})}, {"weight", ones({1})}}, x);
  });
  CHECK(names.find("in.bias") == names.rfind("in.bias"));  // each name once
  CHECK_THROWS_AS(nn::functional_call(net, {{"in.weight", ones({4, 3})}}, normal({5, 2})), ShapeError);
  CHECK(equal(net(x).value(), before));
}

TEST_CASE("a functional call inside of another has the values of both, also when a checkpoint runs a second time") {
  struct Outer : nn::Layer<Outer, NetOptions> {
    using Layer::Layer;
    TiedNet net{at("net"), options};
    const Tensor other = param("other", {2, options.dim}, nn::init::constant(1));

    Tensor forward(const Tensor& x) const {
      return nn::functional_call(net, {{"out.weight", other}}, x) + sum(net.again * net.again);
    }
  };
  const TiedNet net{nn::root};
  const Array x = normal({5, 3});
  for (const bool checkpointed : {false, true}) {
    CAPTURE(checkpointed);
    const Outer outer{nn::root, {.checkpointed = checkpointed}};
    std::vector<Array> inputs;  // other, and the four of net
    for (const Tensor& parameter : outer.parameters()) inputs.push_back(normal(parameter.shape(), inputs.size() + 3));
    const Tensors values(inputs.begin(), inputs.end());
    const Tensor inside = nn::functional_call(net, Tensors{values[0], values[2], values[3], values[4]}, x);
    check_close(nn::functional_call(outer, values, x).value(), (inside + sum(values[1] * values[1])).value());
    check_gradients([&](const Tensors& given) { return nn::functional_call(outer, given, x); }, inputs);
  }
}

TEST_CASE("a low-rank change of a frozen weight begins as nothing, is trained, and is merged (Hu et al. 2021)") {
  const nn::Linear layer{nn::root, 5, 3};
  nn::freeze(layer);
  const Tensor a = variable(normal({2, 5})), b = variable(zeros({3, 2}));
  const Array x = normal({4, 5}, 2), gy = normal({4, 3}, 3);
  const auto weight = [&] { return layer.weight + 3 * matmul(b, a); };
  const auto adapted = [&](const Tensor& x) { return nn::functional_call(layer, {{"weight", weight()}}, x); };
  CHECK(equal(adapted(x).value(), layer(x).value()));
  CHECK_THROWS_AS(grad(sum(adapted(x)), {layer.weight}), GraphError);

  b.assign(normal({3, 2}, 4));
  const Tensor change = matmul(matmul(x, transpose(a)), transpose(b)), by_weight = matmul(transpose(Tensor(gy)), x);
  for (const Tensor& y : {adapted(x), checkpoint(adapted, Tensor(x))}) {
    check_close(y.value(), (layer(x) + 3 * change).value());
    const Tensors slopes = grad(y, {a, b}, {.seed = gy});
    check_close(slopes[0].value(), (3 * matmul(transpose(b), by_weight)).value());
    check_close(slopes[1].value(), (3 * matmul(by_weight, transpose(a))).value());
  }
  const Array trained = adapted(x).value();
  layer.weight.assign(weight().value());
  check_close(layer(x).value(), trained);
}

TEST_CASE("hooks see the values of a functional call") {
  const nn::Linear layer{nn::root, 3, 2};
  const Array before = layer.weight.value(), value = normal({2, 3}, 5);
  Array seen;
  layer.on_forward([&](const nn::ForwardCall&) { seen = layer.weight.value(); });
  nn::functional_call(layer, {{"weight", value}}, ones({1, 3}));
  CHECK(equal(seen, value));
  CHECK(equal(layer.weight.value(), before));
}

TEST_CASE("a clone has the numbers, modes and frozen parameters, and is a model of its own") {
  TiedNet net{nn::root, {.dim = 6}};
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
}
