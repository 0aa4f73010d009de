// Modules: registration, names, state, modes, hooks and printing.
#include "support.h"
#include "support/files.h"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include <xgrad/core/graph/observe.h>
#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

struct Scale : Module {
  const Tensor weight = param("weight", {2}, init::ones());
  explicit Scale(At here) : Module(here) {}
  Tensor operator()(const Tensor& x) const {
    const auto here = enter(x);
    return here(x * weight);
  }

 protected:
  std::string extra_repr() const override { return "of 2"; }
};

struct Block : Module {
  Scale first{at("first")}, second{at("second")};
  const Tensor shift;
  Block(At here, Real value) : Module(here), shift(param("shift", {}, init::constant(value))) {}
  Tensor operator()(const Tensor& x) const { return second(first(x)) + shift; }
};

struct Model : Module {
  Stack<Block> blocks{at("blocks"), 2, Real(0.5)};
  Scale last{at("last")};
  const Tensor mean = buffer("mean", Array({3}, Real(7)));
  Tensor operator()(const Tensor& x) const { return last(blocks(x)); }
};

TEST_CASE("Declaring a layer registers it, and parameters are born with their full names") {
  const Model model;
  CHECK(names_of(model.named_parameters()) ==
        std::vector<std::string>{"blocks.0.shift", "blocks.0.first.weight", "blocks.0.second.weight", "blocks.1.shift",
                                 "blocks.1.first.weight", "blocks.1.second.weight", "last.weight"});
  CHECK(model.blocks[1].first.weight.name() == "blocks.1.first.weight");
  CHECK(model.blocks[1].first.path() == "blocks.1.first");
  CHECK(model.parameters().size() == 7);
  CHECK(model.num_parameters() == 12);
  CHECK(names_of(model.named_buffers()) == std::vector<std::string>{"mean"});
  CHECK(model.buffers().size() == 1);
  CHECK(!model.mean.requires_grad());
  CHECK(model.children().size() == 2);
  CHECK(names_of(model.blocks[0].named_parameters()) ==
        std::vector<std::string>{"shift", "first.weight", "second.weight"});
}

TEST_CASE("Errors and nodes carry the module's path") {
  const Model model;
  CHECK_REFUSED(ShapeError, model(Array({3}, Real(1))), "mul", "\n  in blocks.0.first (Scale of 2)");
  CHECK(xgrad::detail::Engine::node(model(Array({2}, Real(1))))->place->path == "last");
  CHECK(current_place() == nullptr);
}

TEST_CASE("zero_grad forgets all gradients, and tensors outlive their module") {
  Tensor y, weight;
  {
    const Model model;
    weight = model.last.weight;
    y = model(Array({2}, Real(1)));
    y.backward({.seed = Array({2}, {1, 1}), .retain_graph = true});
    CHECK(weight.has_grad());
    model.zero_grad();
    for (const Tensor& parameter : model.parameters()) CHECK(!parameter.has_grad());
  }
  CHECK(equal(grad(y, {weight}, {.seed = Array({2}, Real(1))})[0].value(), Array({2}, {2, 2})));
}

struct Tied : Module {
  Scale a{at("a")};
  const Tensor again = param("again", a.weight);
};

TEST_CASE("A parameter with two names is one parameter") {
  const Tied tied;
  CHECK(names_of(tied.named_parameters()) == std::vector<std::string>{"again"});
  CHECK(tied.num_parameters() == 2);
  CHECK(tied.again.name() == "a.weight");
  CHECK(tied.state_dict().size() == 2);
  tied.load_state_dict({{"a.weight", Array({2}, {3, 4})}});
  CHECK(equal(tied.again.value(), Array({2}, {3, 4})));
  CHECK(to_string(tied) ==
        "Tied                    2\n"
        "  again [2] = a.weight\n"
        "  a: Scale of 2         2\n"
        "    weight [2]          2\n");
}

TEST_CASE("A state goes into another model") {
  const Model from, to;
  from.last.weight.assign(Array({2}, {8, 9}));
  from.mean.assign(Array({3}, {1, 2, 3}));
  to.load_state_dict(from.state_dict());
  CHECK(equal(to.last.weight.value(), Array({2}, {8, 9})));
  CHECK(equal(to.mean.value(), Array({3}, {1, 2, 3})));
  CHECK(to.last.weight.requires_grad());
  from.last.weight.update([](Array& value) { value.mutable_data()[0] = 0; });
  CHECK(equal(to.last.weight.value(), Array({2}, {8, 9})));
}

TEST_CASE("A state that does not fit is refused with every name, and nothing is loaded") {
  const Model model;
  NamedArrays state = model.state_dict();
  state["blocks.0.shift"] = Array({}, Real(3));
  state.erase("last.weight");
  state.erase("blocks.1.first.weight");
  state["mean"] = Array({2}, Real(0));
  state["blocks.1.second.weight"] = Index({2}, 0);
  state["other"] = Array();
  CHECK(error_of<FormatError>([&] { model.load_state_dict(state); }) ==
        "load_state_dict: the state does not fit\n"
        "  missing:\n    \"blocks.1.first.weight\"\n    \"last.weight\"\n"
        "  unexpected:\n    \"other\"\n"
        "  mismatched:\n    \"mean\" [2] for [3]\n    \"blocks.1.second.weight\" holds no real numbers");
  CHECK(model.blocks[0].shift.item() == 0.5);
  CHECK_THROWS_AS(model.load_state_dict(state, {.strict = false}), FormatError);
  state.erase("mean");
  state.erase("blocks.1.second.weight");
  const StateDifference difference = model.load_state_dict(state, {.strict = false});
  CHECK(difference.missing ==
        std::vector<std::string>{"mean", "blocks.1.first.weight", "blocks.1.second.weight", "last.weight"});
  CHECK(difference.unexpected == std::vector<std::string>{"other"});
  CHECK(model.blocks[0].shift.item() == 3);
}

TEST_CASE("Of many names that do not fit, twenty are listed and the others counted") {
  NamedArrays state = Model().state_dict();
  for (int i = 100; i < 150; ++i) state[str("other", i)] = Array();
  const std::string message = error_of<FormatError>([&] { Model().load_state_dict(state); });
  CHECK(message.find("\n    \"other119\"\n    and 30 more") != std::string::npos);
  CHECK(message.find("other120") == std::string::npos);
}

TEST_CASE("A file that does not fit is named, and one of another program is read") {
  const TemporaryFolder folder;
  const std::string path = folder / "model.safetensors";
  const Model from, to;
  save(from.last, path);
  CHECK(error_of<FormatError>([&] { load(to.blocks[0], path); }) ==
        str("load_state_dict: ", path,
            ": the state does not fit\n"
            "  missing:\n    \"shift\"\n    \"first.weight\"\n    \"second.weight\"\n"
            "  unexpected:\n    \"weight\"\n"
            "  in blocks.0 (Block)"));
  CHECK(load(to.blocks[0], path, {.strict = false}).unexpected == std::vector<std::string>{"weight"});
  save_safetensors(path, {.arrays = from.state_dict(), .metadata = {}});
  CHECK_NOTHROW(load(to, path));
}

TEST_CASE("Eval is a scope: every module returns to the mode it had") {
  const Model model;
  model.blocks[1].eval();
  {
    const Eval eval(model);
    CHECK(!model.training());
    CHECK(!model.last.training());
  }
  CHECK(model.training());
  CHECK(model.last.training());
  CHECK(!model.blocks[1].first.training());
  model.train();
  CHECK(model.blocks[1].first.training());
  try {
    const Eval eval(model);
    model(Array({3}, Real(1)));
  } catch (const ShapeError&) {
  }
  CHECK(model.training());
}

TEST_CASE("Eval scopes may die in any order, and the last one brings the modes back") {
  const Model model;
  model.last.eval();
  auto first = std::make_unique<Eval>(model), second = std::make_unique<Eval>(model.blocks);
  first.reset();
  CHECK(model.training());
  CHECK(!model.last.training());
  CHECK(!model.blocks[1].first.training());  // in the second one's hands
  second.reset();
  CHECK(model.blocks[1].first.training());

  first = std::make_unique<Eval>(model);
  second = std::make_unique<Eval>(model.blocks);
  auto third = std::make_unique<Eval>(model);
  second.reset();
  third.reset();
  CHECK(!model.training());
  CHECK(!model.blocks.training());
  first.reset();
  CHECK(model.training());
  CHECK(model.blocks.training());
  CHECK(!model.last.training());
}

TEST_CASE("A child that dies leaves its parent's list, and an Eval may outlive its modules, all or some") {
  auto model = std::make_unique<Model>();
  const auto outer = std::make_unique<Eval>(*model);
  struct Head : Module {
    std::optional<Scale> maybe;
    void fill() { maybe.emplace(at("maybe")); }
  } head;
  head.fill();
  auto eval = std::make_unique<Eval>(head);
  head.maybe.reset();
  CHECK(head.children().empty());
  head.fill();
  CHECK(head.num_parameters() == 2);
  model.reset();
  CHECK(!head.training());
  eval.reset();
  CHECK(head.training());
}

TEST_CASE("A module that is born under an Eval is trained again when its parent is") {
  struct Growing : Module {
    std::optional<Block> block;
    void grow() { block.emplace(at("block"), Real(1)); }
  } model;
  auto outer = std::make_unique<Eval>(model), inner = std::make_unique<Eval>(model);
  model.grow();
  CHECK(!model.block->first.training());
  outer.reset();
  CHECK(!model.block->first.training());
  inner.reset();
  CHECK(model.training());
  CHECK(model.block->training());
  CHECK(model.block->first.training());

  const Eval eval(model);
  model.grow();
  model.block.reset();
}

TEST_CASE("Parents and children may die in any order") {
  struct Parent : Module {
    At place(const char* name) { return at(name); }
  };
  auto parent = std::make_unique<Parent>();
  auto first = std::make_unique<Scale>(parent->place("first")),
       second = std::make_unique<Scale>(parent->place("second"));
  first.reset();
  CHECK(parent->num_parameters() == 2);
  parent.reset();
  CHECK(second->path() == "second");
  CHECK(equal((*second)(Array({2}, {1, 2})).value(), Array({2}, {1, 2})));
}

TEST_CASE("apply visits the modules of one type, also those that are added while it runs") {
  struct Growing : Module {
    std::vector<std::unique_ptr<Scale>> parts;
    void grow() { parts.push_back(std::make_unique<Scale>(at(str("part", parts.size())))); }
  } growing;
  growing.grow();
  int calls = 0;
  growing.apply<Scale>([&](Scale&) {
    if (++calls < 20) growing.grow();
  });
  CHECK(calls == 20);
  Model model;
  int all = 0;
  model.apply([&](Module&) { ++all; });
  CHECK(all == 9);
  model.apply<Scale>([](const Scale& scale) { init::reset(scale.weight, init::constant(2)); });
  CHECK(equal(model.last.weight.value(), Array({2}, {2, 2})));
  CHECK(model.blocks[0].shift.item() == 0.5);
}

TEST_CASE("A forward hook sees inputs and output, and may replace the output") {
  const Model model;
  std::string seen;
  const auto looking = model.last.on_forward([&](const ForwardCall& call) {
    append(seen,
           str(call.module.path(), " ", call.inputs.size(), " ", call.inputs[0].value(), " ", call.output.value()));
  });
  const auto changing = model.blocks[0].first.on_forward([](const ForwardCall& call) { return call.output * 10; });
  const Tensor y = model(Array({2}, {1, 2}));
  CHECK(equal(y.value(), Array({2}, {11, 21})));
  CHECK(seen == "last 1 [11, 21] [11, 21]");
  CHECK(grad(y, {model.blocks[0].first.weight}, {.seed = Array({2}, {1, 1})})[0].value().at({0}) == 10);
  model.last.remove_hook(looking);
  model.blocks[0].first.remove_hook(changing);
  CHECK(equal(model(Array({2}, {1, 2})).value(), Array({2}, {2, 3})));
}

TEST_CASE("A hook may ask for the gradient of what its module returned, and replace it") {
  const Model model;
  std::string seen;
  const auto looking = model.last.on_forward([&](const ForwardCall& call) {
    if (!call.output.requires_grad()) return;
    call.output.on_grad([&, module = &call.module](const Tensor& gradient) {
      append(seen, str(module->path(), " ", gradient.value(), "; "));
      return Tensor();
    });
  });
  const auto changing = model.blocks[0].first.on_forward([](const ForwardCall& call) {
    if (call.output.requires_grad()) call.output.on_grad([](const Tensor& gradient) { return gradient * 10; });
  });
  const auto slope = [&] {
    const Tensor y = model(Array({2}, {1, 2}));
    return grad(y, {model.blocks[0].first.weight}, {.seed = Array({2}, {3, 4})})[0].value();
  };
  CHECK(equal(slope(), Array({2}, {30, 80})));
  CHECK(seen == "last [3, 4]; ");
  {
    const NoGrad off;
    model(Array({2}, {1, 2}));  // no gradient will come
  }
  model.last.remove_hook(looking);
  model.blocks[0].first.remove_hook(changing);
  CHECK(equal(slope(), Array({2}, {3, 8})));
  CHECK(seen == "last [3, 4]; ");
}

TEST_CASE("A frozen module takes no gradients, and neither does it lose its state") {
  const Model model;
  CHECK(freeze(model.blocks[0]) == 3);
  CHECK(!model.blocks[0].first.weight.requires_grad());
  CHECK(model.blocks[1].first.weight.requires_grad());
  const Tensor y = model(Array({2}, {1, 2}));
  CHECK_REFUSED(GraphError, grad(y, {model.blocks[0].first.weight}, {.seed = Array({2}, {1, 1})}), "grad",
                "blocks.0.first.weight");
  CHECK(model.state_dict().size() == 8);
  CHECK(unfreeze(model.blocks[0]) == 3);
  CHECK(model.blocks[0].first.weight.requires_grad());

  struct Odd : Module {
    Tensor weight = param("weight", {2}, init::ones()), twice = param("twice", weight * 2);
  } odd;
  CHECK_THROWS_AS(freeze(odd), GraphError);
  CHECK(odd.weight.requires_grad());
}

TEST_CASE("Hooks may add and remove hooks") {
  const Model model;
  std::vector<std::uint64_t> numbers;
  int calls = 0;
  numbers.push_back(model.last.on_forward([&](const ForwardCall& call) {
    for (const std::uint64_t number : numbers) call.module.remove_hook(number);
    for (int i = 0; i < 10; ++i) numbers.push_back(call.module.on_forward([&](const ForwardCall&) { ++calls; }));
  }));
  model(Array({2}, Real(1)));
  CHECK(calls == 0);
  model(Array({2}, Real(1)));
  CHECK(calls == 10);
}

TEST_CASE("Empty functions are refused where they are given, and an init that gives another shape than asked") {
  const Model model;
  CHECK_REFUSED(ValueError, model.on_forward(ForwardHook()), "on_forward", "the function is empty");
  CHECK_THROWS_AS(model.on_forward(std::function<void(const ForwardCall&)>()), ValueError);
  CHECK_THROWS_AS(model.on_forward(static_cast<void (*)(const ForwardCall&)>(nullptr)), ValueError);
  model(Array({2}, Real(1)));  // none was kept
  struct Bad : Module {
    explicit Bad(At here) : Module(here) { param("weight", {2}, Init()); }
  };
  CHECK_REFUSED(ValueError, Bad{root}, "Bad", "the init of weight is empty");
  CHECK_REFUSED(ValueError, init::reset(model.last.weight, Init()), "reset", "the function is empty");
  CHECK_REFUSED(ValueError, Activation(std::function<Tensor(const Tensor&)>()), "activation", "the function is empty");
  CHECK_THROWS_AS(Activation(static_cast<Tensor (*)(const Tensor&)>(nullptr)), ValueError);
  CHECK_THROWS_AS(Activation(static_cast<Tensor (*)(const Tensor&, Gelu)>(nullptr)), ValueError);
  const Init other = [](const Shape&) { return Array({10, 3}, Real(0)); };
  CHECK_REFUSED(ShapeError, Linear(root, 3, 2, {.init = other}), "Linear", "weight gives [10, 3]", "not [2, 3]");
}

// Like the value of an uninitialised member; reading a real one would be undefined behaviour.
constexpr std::int64_t garbage = 140'729'203'840'632;

// Of the layers of the library: catalogue_test.cpp.
TEST_CASE("Sizes that have no value yet are refused in stacks and layers of one's own") {
  struct Stacked : Module {
    explicit Stacked(std::int64_t count) : layers(at("layers"), count) {}
    Stack<Scale> layers;
  };
  CHECK_REFUSED(LimitError, Stacked(1431654909), "stack", "1431654909 layers", "65536", "in layers");
  // Every layer with parameters, by way of the one that they all share.
  struct Own : Module {
    explicit Own(At here, Shape shape) : Module(here) { param("w", shape, init::zeros()); }
  };
  CHECK_REFUSED(LimitError, Own(root, {garbage, garbage, garbage}), "Own", "no memory for w of shape [");
  CHECK(Own(root, {garbage, 0}).num_parameters() == 0);
  CHECK_THROWS_AS(Own(root, {garbage, -1}), ValueError);
}

TEST_CASE("No memory for a parameter is said with its name and shape") {
  struct Net : Module {
    Linear own{at("own"), 3, 2, {.init = [](const Shape&) -> Array { throw std::bad_alloc(); }}};
  };
  CHECK_REFUSED(LimitError, Net(), "Linear", "no memory for weight of shape [2, 3]", "in own");
}

// Descriptions in a base's constructor must not be cached; bases of layers name the class under construction.
struct Wide : Linear {
  Wide(At here, std::int64_t width) : Linear(std::move(here), width, width) {}
  std::string extra_repr() const override { return "wide"; }
  Tensor operator()(const Tensor& x) const {
    const auto here = enter(x);
    return here(forward(x));
  }
};
struct Base : Module {
  Base(At here, std::int64_t width) : Module(std::move(here)), width(positive("width", width)) {
    const auto constructing = enter();
    if (width == 7) fail<ValueError>("base", "not 7");
    param("w", {width}, width == 8 ? Init() : init::zeros());
  }
  std::string class_name() const override { return typeid(*this) == typeid(Base) ? "Derived" : Module::class_name(); }
  const std::int64_t width;
};
struct Derived : Base {
  using Base::Base;
  void check() const { positive("other", 0); }
};
struct MoreDerived : Derived {
  using Derived::Derived;
};

TEST_CASE("Errors name the class of a layer, not its base") {
  struct Net : Module {
    Wide wide{at("wide"), 2};
    Derived derived{at("derived"), 2};
    MoreDerived more{at("more"), 2};
    void add(std::int64_t width) { Derived fresh{at("fresh"), width}; }
  } net;
  CHECK(error_of<ShapeError>([&] { net.wide(Array({3}, Real(1))); }).ends_with("\n  in wide (Wide wide)"));
  CHECK_REFUSED(ValueError, net.derived.check(), "Derived", "other ");
  CHECK_REFUSED(ValueError, net.more.check(), "MoreDerived", "other ");
  CHECK_REFUSED(ValueError, net.add(0), "Derived", "width 0 is not positive");
  CHECK_REFUSED(ValueError, net.add(7), "base", "not 7", "in fresh (Derived)");
  CHECK_REFUSED(ValueError, net.add(8), "Derived", "the init of w is empty");
  CHECK(net.derived.description() == "Derived");
  CHECK(net.more.description() == "MoreDerived");
}

TEST_CASE("A model prints as a tree with shapes and numbers of parameters") {
  const Model model;
  CHECK(to_string(model) ==
        "Model                        12\n"
        "  mean [3] (buffer)\n"
        "  blocks: Stack of 2         10\n"
        "    0...1: Block          2 x 5\n"
        "      shift []                1\n"
        "      first: Scale of 2       2\n"
        "        weight [2]            2\n"
        "      second: Scale of 2      2\n"
        "        weight [2]            2\n"
        "  last: Scale of 2            2\n"
        "    weight [2]                2\n");
  std::ostringstream out;
  out << model.last;
  CHECK(out.str() == "Scale of 2    2\n  weight [2]  2\n");
  struct Large : Module {
    const Tensor w = param("w", {1234, 1000}, init::zeros());
  } large;
  CHECK(to_string(large) == "Large             1,234,000\n  w [1234, 1000]  1,234,000\n");
  struct One : Module {
    const Tensor w = param("w", {}, init::zeros());
  } one;
  CHECK(to_string(one) == "One     1\n  w []  1\n");
  struct None : Module {
  } none;
  CHECK(to_string(none) == "None\n");
}

TEST_CASE("A stack refuses a negative count and a layer that it does not have") {
  struct Root : Module {
    Stack<Scale> none{at("none"), 0};
    void add(int count) { Stack<Scale> more{at("more"), count}; }
  } root;
  CHECK(equal(root.none(Array({2}, {1, 2})).value(), Array({2}, {1, 2})));
  CHECK_REFUSED(ValueError, root.none[0], "stack", "layer 0 of 0");
  CHECK_REFUSED(ValueError, root.add(-1), "stack", "-1 layers; is a size declared after this layer?", "in more");
}

// A module through which every function that registers a name can be called.
struct Registering : Module {
  explicit Registering(At here) : Module(here) {}
  int drawn = 0;
  const Init counted = [this](const Shape& shape) { return ++drawn, Array(shape, Real(1)); };
  const Tensor weight = param("weight", {1}, counted);
  Scale child{at("child")};

  std::vector<std::pair<const char*, std::function<void(const std::string&)>>> ways() {
    return {{"param", [this](const std::string& name) { param(name, {1}, counted); }},
            {"param, shared", [this](const std::string& name) { param(name, weight); }},
            {"buffer", [this](const std::string& name) { buffer(name, Array({1}, Real(0))); }},
            {"buffer of integers", [this](const std::string& name) { buffer(name, Index({1}, 0)); }},
            {"child", [this](const std::string& name) { const Scale born(at(name)); }}};
  }
};

TEST_CASE("Whatever registers a name refuses one that is there, is empty or has a dot, before anything is drawn") {
  for (std::size_t way = 0; way < 5; ++way) {
    struct Root : Module {
      Registering inner{at("inner")};
    } root;
    Registering& module = root.inner;
    const auto found = module.ways()[way];
    const auto& add = found.second;
    CAPTURE(found.first);
    const std::size_t saved = module.state_dict().size();
    for (const char* name : {"weight", "child"}) {
      CHECK_REFUSED(ValueError, add(name), "module", str("duplicate name 'inner.", name, "'"));
    }
    for (const char* name : {"", ".", "a.b"}) {
      CHECK_REFUSED(ValueError, add(name), "module", str("'inner.", name, "' is empty or holds a dot"));
    }
    CHECK(module.state_dict().size() == saved);
    CHECK(module.children().size() == 1);
    CHECK(module.drawn == 1);
  }
}

struct Homeless : Module {
  Scale inner{at("inner")};
  explicit Homeless(At) {}
};

struct Forgetful : Module {
  Homeless block{at("block")};
  Scale last{at("last")};
  Tensor operator()(const Tensor& x) const {
    const auto here = enter(x);
    return here(last(x));
  }
};

TEST_CASE("A constructor that keeps its place to itself is found where its parent is first used") {
  const Forgetful model;
  CHECK_REFUSED(ValueError, model.parameters(), "module", "no module took the place 'block'", "`: Module(here)`");
  CHECK_REFUSED(ValueError, model.state_dict(), "module", "no module took the place 'block'");
  CHECK_REFUSED(ValueError, model.load_state_dict({}), "module", "no module took the place 'block'");
  CHECK_REFUSED(ValueError, model(Array({2}, Real(1))), "module", "no module took the place 'block'");
  const Stack<Homeless> stack(root, 2);
  CHECK_REFUSED(ValueError, stack.num_parameters(), "module", "no module took the place '0'");
}

TEST_CASE("Two names of one parameter must not disagree in a file") {
  const Tied net;
  NamedArrays state = net.state_dict();
  state["again"] = Array({2}, {1, std::numeric_limits<Real>::quiet_NaN()});
  CHECK_REFUSED(FormatError, net.load_state_dict(state), "load_state_dict", "\"again\" differs from a.weight");
  CHECK(equal(net.again.value(), Array({2}, Real(1))));
  CHECK_THROWS_AS(net.load_state_dict(state, {.strict = false}), FormatError);
  state["a.weight"] = Array({2}, {1, std::numeric_limits<Real>::quiet_NaN()});
  net.load_state_dict(state);
  CHECK(std::isnan(net.a.weight.value().data()[1]));
}

TEST_CASE("a module is within itself and what is above it, and not within a model whose parts have its names") {
  const Model model, other;
  const Block& block = model.blocks[0];
  CHECK(model.is_within(model));
  CHECK(block.first.is_within(block.first));
  CHECK(block.first.is_within(block));
  CHECK(block.first.is_within(model));
  CHECK_FALSE(block.first.is_within(block.second));
  CHECK_FALSE(block.first.is_within(other));
  CHECK_FALSE(block.is_within(block.first));
}

TEST_CASE("an intermediate value is computed once, without a graph, and only for observers that want it") {
  struct Wanting : Observer {
    const void* deaf = nullptr;
    std::vector<std::string> paths;
    bool wants(std::string_view what, const void* module) const override { return what == "gates" && module != deaf; }
    void intermediate(std::string_view what, const std::string& path, const Array& value) override {
      paths.push_back(str(what, ' ', path, ' ', value));
    }
  };
  const Model model;
  const Scale& cell = model.last;
  const Tensor x = variable({1, 2});
  int computed = 0;
  const auto value = [&] {
    ++computed;
    CHECK(!recording());
    return (x * 2).value();
  };
  nn::show_intermediate(cell, "gates", value);
  CHECK(computed == 0);
  Wanting one, two;
  nn::show_intermediate(cell, "weights", value);
  CHECK(computed == 0);
  nn::show_intermediate(cell, "gates", value);
  CHECK(computed == 1);
  CHECK(one.paths.size() == 1);
  CHECK(one.paths == two.paths);
  CHECK(one.paths[0].starts_with("gates last "));
  two.deaf = static_cast<const Module*>(&cell);
  nn::show_intermediate(cell, "gates", value);
  CHECK(one.paths.size() == 2);
  CHECK(two.paths.size() == 1);
}

// Its part runs before it is complete.
struct Probing : nn::Layer<Probing> {
  using Layer::Layer;
  nn::Linear first{at("first"), 2, 3};
  const std::int64_t found = first(full({1, 2}, 1)).dim(1);
  const std::int64_t width = 4;
  Tensor forward(const Tensor& x) const { return first(x); }

 protected:
  std::string extra_repr() const override { return str(found, " of ", width); }
};

TEST_CASE("modules are described when they are complete, also if their parts ran before") {
  const nn::Mlp mlp{nn::root, {.in = 2, .hidden = 3}};
  CHECK(xgrad::detail::Engine::node(mlp(full({1, 2}, 1)))->place->around->what == "Mlp 2 -> 3 -> 2");
  const Probing probing{nn::root};
  CHECK(xgrad::detail::Engine::node(probing(full({1, 2}, 1)))->place->around->what == "Probing 3 of 4");
  CHECK(xgrad::detail::Engine::node(probing(full({1, 2}, 1)))->place->what == "Linear 2 -> 3");
}

TEST_CASE("the class of a module is known where only its parts run, its settings once it has run") {
  struct Holding : nn::Module {
    nn::Mlp mlp{at("mlp"), {.in = 2, .hidden = 3}};
  };
  const Holding holding;
  CHECK(xgrad::detail::Engine::node(holding.mlp.fc1(full({1, 2}, 1)))->place->around->what == "Mlp");
  CHECK(
      xgrad::detail::Engine::node(holding.mlp.fc1(full({1, 2}, 1)))->place->around->around->what.ends_with("Holding"));
  const nn::Mlp mlp{nn::root, {.in = 2, .hidden = 3}};
  const auto around_linear = [&] { return xgrad::detail::Engine::node(mlp.fc1(full({1, 2}, 1)))->place->around; };
  CHECK(around_linear()->what == "Mlp");
  mlp(full({1, 2}, 1));
  CHECK(around_linear()->what == "Mlp 2 -> 3 -> 2");
}

}  // namespace
}  // namespace xgrad::testing
