// Sequential and Maybe: names, calls, errors.
#include <functional>
#include <memory>

#include <xgrad/xgrad.h>

#include "../support.h"

namespace xgrad::testing {
namespace {

struct Net : nn::Module {
  nn::Sequential body{at("body"), nn::make<nn::Linear>(2, 8, nn::LinearOptions{.bias = false}), nn::make<nn::ReLU>(),
                      nn::make<nn::Sequential>(nn::make<nn::Dropout>(0.5), nn::make<nn::Linear>(8, 3))};
  Tensor operator()(const Tensor& x) const { return body(x); }
};

// A layer that enters no scope of its own.
struct Doubling : nn::Module {
  explicit Doubling(At here) : Module(here) {}
  Tensor operator()(const Tensor& x) const { return matmul(x, ones({3, 3})); }
};

Results run_sequential(const Case& c, const nn::Sequential& net) {
  return run_module(c, net, [&] { return c.x(0).defined() && c.stored("x", 0) ? net(c.x(0)) : net(c.index(0)); });
}

}  // namespace

TEST_CASE("Sequential and weights in two parts have PyTorch's names, values and gradients") {
  check_fixtures(
      "small_layers",
      {
          {"unflatten", [](const Case& c) { return unflatten(c.x(), c.integer("axis"), c.shape("sizes")); }},
          {"sequential",
           [](const Case& c) {
             return run_sequential(
                 c, {nn::root, nn::make<nn::Linear>(2, 8), nn::make<nn::ReLU>(),
                     nn::make<nn::Linear>(8, 4, nn::LinearOptions{.bias = false}),
                     nn::make<nn::PReLU>(nn::PReLUOptions{.num_parameters = 4}),
                     nn::make<nn::Sequential>(nn::make<nn::LayerNorm>(4), nn::make<nn::Linear>(4, 3)),
                     nn::make<nn::LogSoftmax>()});
           }},
          {"picture",
           [](const Case& c) {
             return run_sequential(c, {nn::root, nn::make<nn::Conv2d>(1, 2, 3, nn::Conv2dOptions{.padding = 1}),
                                       nn::make<nn::Tanh>(), nn::make<nn::Flatten>(), nn::make<nn::Linear>(32, 3)});
           }},
          {"words",
           [](const Case& c) {
             return run_sequential(
                 c, {nn::root, nn::make<nn::Embedding>(5, 3), nn::make<nn::GELU>(), nn::make<nn::Linear>(3, 2)});
           }},
      });
}

TEST_CASE("a Sequential in a model has the names of its places, and modes reach its layers") {
  manual_seed(1);
  const Net net;
  CHECK(names_of(net.named_parameters()) ==
        std::vector<std::string>{"body.0.weight", "body.2.1.weight", "body.2.1.bias"});
  CHECK(net.body.size() == 3);
  CHECK(net.body.get<nn::Linear>(0).weight.name() == "body.0.weight");
  CHECK(net.body[1].description() == "ReLU");
  net.eval();
  CHECK(!net.body.get<nn::Sequential>(2).get<nn::Dropout>(0).training());
}

TEST_CASE("a Sequential may grow, and one of no layers gives back what it is given") {
  nn::Sequential net{nn::root};
  const Tensor x = ones({1, 2});
  CHECK(same(net(x), x));
  CHECK(net.append(nn::make<nn::Linear>(2, 3)).weight.name() == "0.weight");
  CHECK(net(x).shape() == Shape{1, 3});
}

TEST_CASE("errors of a layer that enters no scope carry its place") {
  const nn::Sequential net{nn::root, nn::make<nn::Linear>(2, 4), nn::make<Doubling>()};
  CHECK(error_of<ShapeError>([&] { net(ones({1, 2})); }).find("\n  in 1 (Doubling)") != std::string::npos);
}

TEST_CASE("Sequential refuses what it has not") {
  const nn::Sequential net{nn::root, nn::make<nn::Linear>(2, 3), nn::make<nn::Embedding>(4, 2)};
  CHECK_REFUSED(ValueError, net[2], "sequential", "layer 2 of 2");
  CHECK_REFUSED(ValueError, net[-1], "sequential", "layer -1 of 2");
  CHECK_REFUSED(ValueError, net.get<nn::ReLU>(0), "sequential", "layer 0 is a Linear 2 -> 3");
  CHECK_REFUSED(ValueError, net(ones({1, 2})), "sequential", "layer 1 takes integers");
  CHECK_REFUSED(ValueError, net(index({1})), "sequential", "the first layer takes no integers");
}

TEST_CASE("A maker that makes nothing, or a layer at another place, is refused, and nothing stays behind") {
  using Maker = nn::LayerMaker<nn::Linear>;
  const Maker elsewhere([](const nn::At&) { return std::make_unique<nn::Linear>(nn::root, 3, 2); });
  const Maker nothing([](nn::At) { return std::unique_ptr<nn::Linear>(); });
  const Maker throwing([](nn::At) -> std::unique_ptr<nn::Linear> { throw LimitError("no more"); });
  nn::Sequential net(nn::root);
  CHECK(error_of<ValueError>([&] { net.append(elsewhere); }) ==
        "make: a maker made no layer at '0'");
  CHECK(error_of<ValueError>([&] { net.append(nothing); }) == "make: a maker made no layer at '0'");
  CHECK_THROWS_AS(net.append(throwing), LimitError);
  CHECK(net.children().empty());
  CHECK(net.parameters().empty());
  net.append(nn::make<nn::Linear>(3, 2));
  CHECK(names_of(net.named_parameters()) == std::vector<std::string>{"0.weight", "0.bias"});
  CHECK_THROWS_AS(nn::Sequential(nn::root, nothing), ValueError);
  CHECK_REFUSED(ValueError, net.append(Maker()), "make", "the function is empty");
}

namespace {

using nn::At, nn::Linear, nn::LayerNorm, nn::Maybe;

struct OptionalOptions {
  bool norm = false, own = false;
};

struct Optional : nn::Layer<Optional, OptionalOptions> {
  using Layer::Layer;
  Linear first{at("first"), 2, 2};
  Maybe<LayerNorm> norm{at("norm"), options.norm, 2};
  Maybe<Linear> own{at("own"), options.own, 2, 3, nn::LinearOptions{.bias = false}};
  Linear last{at("last"), 2, 2};

  Tensor forward(const Tensor& x) const {
    const Tensor y = norm(first(x));
    return own ? (*own)(y) : last(y);
  }
};

TEST_CASE("a Maybe is a layer at its place among the others, or has no names and draws no random numbers") {
  manual_seed(1);
  const Optional without{nn::root};
  manual_seed(1);
  const Optional with{nn::root, {.norm = true}};
  CHECK(names_of(without.named_parameters()) ==
        std::vector<std::string>{"first.weight", "first.bias", "last.weight", "last.bias"});
  CHECK(names_of(with.named_parameters()) ==
        std::vector<std::string>{"first.weight", "first.bias", "norm.weight", "norm.bias", "last.weight", "last.bias"});
  CHECK(equal(without.last.weight.value(), with.last.weight.value()));
  CHECK(names_of(Optional{nn::root, {.own = true}}.named_parameters()) ==
        std::vector<std::string>{"first.weight", "first.bias", "own.weight", "last.weight", "last.bias"});
}

TEST_CASE("a Maybe that is called is its layer, or hands its input on") {
  const Optional without{nn::root}, with{nn::root, {.norm = true, .own = true}};
  const Tensor x = normal({4, 2}, 1);
  CHECK(equal(without(x).value(), without.last(without.first(x)).value()));
  CHECK(xgrad::detail::Engine::node(without.norm(x)) == xgrad::detail::Engine::node(x));
  CHECK(equal(with(x).value(), (*with.own)((*with.norm)(with.first(x))).value()));
  CHECK(with.norm->sizes == Shape{2});
  CHECK(bool(with.norm));
  CHECK(!without.norm);
}

TEST_CASE("a Maybe that is empty is no layer") {
  const Optional without{nn::root};
  CHECK_REFUSED(ValueError, static_cast<void>(*without.own), "maybe", "there is no layer: ask `if (layer)` first");
  CHECK_REFUSED(ValueError, static_cast<void>(without.own->weight), "maybe", "ask `if (layer)` first");
}

TEST_CASE("a place that was declined is refused no more") {
  struct Undecided : nn::Module {
    At place = at("later");
    void no() { place.decline(); }
  } model;
  CHECK_REFUSED(ValueError, model.parameters(), "module", "place 'later'", "on, `", "Module(here)`");
  model.no();
  CHECK(model.parameters().empty());
  nn::root.decline();  // no place that anyone waits for
}

}  // namespace

}  // namespace xgrad::testing
