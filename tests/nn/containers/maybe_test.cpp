// A layer that is there or not.
#include <xgrad/xgrad.h>

#include "../support.h"

namespace xgrad::testing {
namespace {

using nn::At, nn::Linear, nn::LayerNorm, nn::Maybe;

struct HeadOptions {
  bool norm = false, own = false;
};

struct Head : nn::Layer<Head, HeadOptions> {
  using Layer::Layer;
  Linear first{at("first"), 2, 2};
  Maybe<LayerNorm> norm{at("norm"), options.norm, 2};
  Maybe<Linear> own{at("own"), options.own, 2, 3, {.bias = false}};
  Linear last{at("last"), 2, 2};

  Tensor forward(const Tensor& x) const {
    const Tensor y = norm(first(x));
    return own ? (*own)(y) : last(y);
  }
};

std::vector<std::string> names_of(const nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : module.named_parameters()) names.push_back(name);
  return names;
}

TEST_CASE("a Maybe is a layer at its place among the others, or has no names and draws no random numbers") {
  manual_seed(1);
  const Head without{nn::root};
  manual_seed(1);
  const Head with{nn::root, {.norm = true}};
  CHECK(names_of(without) == std::vector<std::string>{"first.weight", "first.bias", "last.weight", "last.bias"});
  CHECK(names_of(with) ==
        std::vector<std::string>{"first.weight", "first.bias", "norm.weight", "norm.bias", "last.weight", "last.bias"});
  CHECK(equal(without.last.weight.value(), with.last.weight.value()));
  CHECK(names_of(Head{nn::root, {.own = true}}) ==
        std::vector<std::string>{"first.weight", "first.bias", "own.weight", "last.weight", "last.bias"});
}

TEST_CASE("a Maybe that is called is its layer, or hands its input on") {
  const Head without{nn::root}, with{nn::root, {.norm = true, .own = true}};
  const Tensor x = normal({4, 2}, 1);
  CHECK(equal(without(x).value(), without.last(without.first(x)).value()));
  CHECK(without.norm(x).node() == x.node());
  CHECK(equal(with(x).value(), (*with.own)((*with.norm)(with.first(x))).value()));
  CHECK(with.norm->sizes == Shape{2});
  CHECK(bool(with.norm));
  CHECK(!without.norm);
}

TEST_CASE("a Maybe that is empty is no layer") {
  const Head without{nn::root};
  CHECK(error_of<ValueError>([&] { static_cast<void>(*without.own); }) ==
        "maybe: there is no layer: ask `if (layer)` first");
  CHECK(error_of<ValueError>([&] { static_cast<void>(without.own->weight); }) ==
        "maybe: there is no layer: ask `if (layer)` first");
}

TEST_CASE("a place that was declined is refused no more") {
  struct Undecided : nn::Module {
    At place = at("later");
    void no() { place.decline(); }
  } model;
  CHECK(error_of<ValueError>([&] { model.parameters(); }) ==
        "module: no module took the place 'later': a constructor with an At hands it on, `: Module(here)`");
  model.no();
  CHECK(model.parameters().empty());
  nn::root.decline();  // no place that anyone waits for
}

}  // namespace
}  // namespace xgrad::testing
