// Parameters that a layer computes each time it runs.
#include "support.h"

#include <memory>
#include <vector>

#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/functional_call.h>
#include <xgrad/nn/layers/conv.h>
#include <xgrad/nn/layers/linear.h>
#include <xgrad/nn/parametrization.h>
#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/derivatives/checkpoint.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/products/matmul.h>
#include <xgrad/ops/reduce/reduce.h>
#include <xgrad/optim/optimizers/adam.h>

using namespace xgrad;
using namespace xgrad::testing;

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
  CHECK(error_of<GraphError>([&] { orphan->value(); }).find("is gone") != std::string::npos);
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
  CHECK(error_of<ValueError>([&] {
          nn::Lora(layer, {.parameter = "weights"});
        }) == "parametrization: Linear 3 -> 2 has no parameter 'weights', only [weight, bias]");
  CHECK_THROWS_AS(nn::Lora(layer, {.parameter = "bias"}), ShapeError);
  CHECK_THROWS_AS(nn::Lora(layer, {.rank = 0}), ValueError);
  CHECK(layer.children().empty());
  CHECK(equal(layer(ones({1, 3})).value(), linear(ones({1, 3}), layer.weight, layer.bias).value()));
  const nn::Lora lora{layer};
  CHECK(error_of<ValueError>([&] { nn::Lora{layer}; }).find("weight_lora") != std::string::npos);
  const Flat flat{layer};
  CHECK(error_of<ShapeError>([&] { layer(ones({1, 3})); }).find("compute gives [6]") != std::string::npos);
}
