// Layer, functions in a Sequential, Stack by a function, modules by their paths.
#include <string>
#include <utility>
#include <vector>

#include <xgrad/xgrad.h>

#include "support.h"

namespace xgrad::testing {
namespace {

struct BlockOptions {
  std::int64_t dim = 4, heads = 2;
};
struct Block : nn::Layer<Block, BlockOptions> {
  using Layer::Layer;
  static void check(const Options& options) {
    if (options.dim % options.heads != 0) {
      fail<ValueError>("block", "dim ", options.dim, " does not divide by ", options.heads, " heads");
    }
  }
  nn::LayerNorm norm{at("norm"), options.dim};
  nn::Linear out{at("out"), options.dim, options.dim};

  Tensor forward(const Tensor& x) const { return x + out(norm(x)); }  // (B, C)
};

// The same, written without Layer.
struct ByHand : nn::Module {
  explicit ByHand(At here, std::int64_t dim) : Module(here), norm(at("norm"), dim), out(at("out"), dim, dim) {}
  nn::LayerNorm norm;
  nn::Linear out;

  Tensor operator()(const Tensor& x) const {
    const auto here = enter(x);
    return here(x + out(norm(x)));
  }
};

// Two inputs, two results, no options.
struct Pair : nn::Layer<Pair> {
  using Layer::Layer;
  Block a{at("a")}, b{at("b"), {.dim = 6, .heads = 3}};

  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& y) const { return {a(x), b(y)}; }
};

// For tensors, for integers, and for one more that need not be given.
struct Words : nn::Layer<Words> {
  using Layer::Layer;
  nn::Embedding table{at("table"), 5, 4};

  Tensor forward(const Index& ids, double scale = 1) const { return table(ids) * scale; }
  Tensor forward(const Tensor& x) const { return matmul(x, table.weight); }
};

struct Mistaken : Block {
  using Block::Block;
  Tensor forward(const Tensor& x) const { return x; }
};
struct Doubled : Block {
  using Block::Block;
  Tensor operator()(const Tensor& x) const { return 2 * Block::forward(x); }
};

}  // namespace

TEST_CASE("a Layer has its options, registers its layers and computes what the same module by hand computes") {
  const Block block{nn::root, {.dim = 6, .heads = 3}};
  const ByHand by_hand{nn::root, 6};
  CHECK(block.options.heads == 3);
  CHECK(block.description() == "Block");
  by_hand.load_state_dict(block.state_dict());
  check_module_gradients(block, [&](const Tensors& x) { return block(x[0]); }, {normal({3, 6})});
  const Tensor x = normal({3, 6});
  CHECK(equal(block(x).value(), by_hand(x).value()));
  CHECK(Block(nn::root).options.dim == 4);
}

TEST_CASE("options that make no sense are refused before anything is made, with the layer's place") {
  CHECK_REFUSED(ValueError, Block(nn::root, {.dim = 5}), "block", "dim 5 does not divide by 2 heads");
  struct Model : nn::Module {
    Block body{at("body"), {.dim = 5}};
  };
  CHECK_REFUSED(ValueError, Model(), "block", "dim 5 does not divide by 2 heads", "in body");
}

TEST_CASE("a Layer of several inputs and results is run in its place") {
  const Pair pair{nn::root};
  const auto [x, y] = pair(ones({2, 4}), ones({3, 6}));
  CHECK(x.shape() == Shape{2, 4});
  CHECK(y.shape() == Shape{3, 6});
  CHECK_REFUSED(ShapeError, pair(ones({2, 4}), ones({3, 5})), "layer_norm", "[3, 5]", "[6]", "in b.norm");
}

TEST_CASE("a Layer takes what one of its forwards takes") {
  const Words words{nn::root};
  const Index ids({2}, {1, 4});
  CHECK(equal((words(ids) * 3).value(), words(ids, 3).value()));
  CHECK(words(ones({2, 5})).shape() == Shape{2, 4});
  // Another call does not compile, and gives no Tensor to those who only ask.
  CHECK(!std::is_invocable_r_v<Tensor, const Words&, std::string>);
  CHECK(!std::is_invocable_r_v<Tensor, const Block&, const Tensor&, const Tensor&>);
}

TEST_CASE("hooks of a Layer see its inputs and replace its result, and forward itself leaves them out") {
  const Words words{nn::root};
  std::vector<Index> seen;
  words.on_forward([&](const nn::ForwardCall& call) {
    seen.insert(seen.end(), call.indices.begin(), call.indices.end());
    return call.output * 0;
  });
  const Index ids({2}, {1, 4});
  CHECK(equal(words(ids, 3).value(), Array({2, 4}, Real(0))));
  REQUIRE(seen.size() == 1);
  CHECK(equal(seen[0], ids));
  CHECK(!equal(words.forward(ids).value(), Array({2, 4}, Real(0))));
  CHECK(seen.size() == 1);
}

TEST_CASE("a class derived from a Layer is refused where its forward would not run") {
  const Mistaken mistaken{nn::root};
  CHECK_REFUSED(ValueError, mistaken(ones({2, 4})), "Mistaken", "operator()");
  const Doubled doubled{nn::root};
  const Tensor x = normal({2, 4});
  CHECK(equal(doubled(x).value(), (2 * doubled.forward(x)).value()));
  CHECK(doubled.description() == "Doubled");
}

TEST_CASE("a Sequential takes functions, which have a number and a name") {
  const nn::Sequential net{nn::root,
                           {nn::make<nn::Linear>(2, 8), tanh, nn::make<nn::Linear>(8, 4), gelu, elu, leaky_relu,
                            [](const Tensor& x) { return x * 2; },
                            nn::make<Block>(BlockOptions{.dim = 4, .heads = 1})}};
  CHECK(net.size() == 8);
  CHECK(net[1].description() == "Function tanh");
  CHECK(net[3].description() == "Function gelu");
  CHECK(net[4].description() == "Function elu");
  CHECK(net[5].description() == "Function leaky_relu");
  CHECK(net[6].description() == "Function");
  CHECK(net.get<nn::Linear>(2).weight.name() == "2.weight");
  const Tensor x = normal({3, 2});
  const auto& first = net.get<nn::Linear>(0);
  const auto& second = net.get<nn::Linear>(2);
  const Tensor expected = net.get<Block>(7)(leaky_relu(elu(gelu(second(tanh(first(x)))))) * 2);
  CHECK(equal(net(x).value(), expected.value()));
  const nn::Sequential flat{nn::root, nn::make<nn::Linear>(2, 8), relu,
                            nn::make<nn::Sequential>(nn::make<nn::Linear>(8, 4), sigmoid)};
  CHECK(flat.get<nn::Sequential>(2)[1].description() == "Function sigmoid");
  CHECK_REFUSED(ValueError, nn::Sequential(nn::root, {pow}), "activation");
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
  CHECK(nn::Function(nn::root, relu).description() == "Function relu");
  CHECK(nn::Function(nn::root, sin).description() == "Function sin");
  CHECK(nn::Activation(log1p).name() == "log1p");
  CHECK(nn::Activation(erf).name() == "erf");
  CHECK(nn::Activation(neg).name() == "neg");
  CHECK(nn::Activation(rsqrt).name() == "rsqrt");
  CHECK(nn::Activation(nan_to_num).name() == "nan_to_num");
  CHECK_REFUSED(ValueError, nn::Activation{pow}, "activation", "no default for the number: write a lambda");
  const auto none = static_cast<Tensor (*)(const Tensor&, double)>(nullptr);
  CHECK_REFUSED(ValueError, nn::Activation{none}, "activation", "the function is empty");
}

TEST_CASE("a Stack takes a function of the place and the number, and is a range") {
  const nn::Stack<nn::Linear> maps{
      nn::root, 3, [](nn::At here, std::int64_t i) { return nn::Linear(std::move(here), 2 + i, 3 + i); }};
  const Tensor x = normal({4, 2});
  Tensor y = x;
  std::vector<std::string> names;
  for (const nn::Linear& map : maps) {
    y = map(y);
    names.push_back(map.weight.name());
  }
  CHECK(names == std::vector<std::string>{"0.weight", "1.weight", "2.weight"});
  CHECK(y.shape() == Shape{4, 5});
  CHECK(equal(maps(x).value(), y.value()));
}

// Which parameters of the library's layers decay: catalogue_test.cpp.
TEST_CASE("a layer of one's own says itself what weight decay is for") {
  struct Net : nn::Module {
    nn::Linear map{at("map"), 2, 3};
    const Tensor unbiased = param("unbiased", {4, 4}, nn::init::ones());
    const Tensor cls_token = param("cls_token", {1, 1, 4}, nn::init::zeros(), nn::Decay::no);
  } net;
  const auto groups = optim::parameter_groups<optim::AdamWOptions>(
      net.parameters(), {{nn::without_weight_decay(net), {.weight_decay = 0}}}, {.weight_decay = 0.1});
  REQUIRE(groups.size() == 2);
  std::vector<std::string> decaying;
  for (const Tensor& parameter : groups[0].parameters) decaying.push_back(parameter.name());
  CHECK(decaying == std::vector<std::string>{"unbiased", "map.weight"});
  CHECK(groups[1].parameters.size() == 2);
}

TEST_CASE("modules are found by their paths") {
  const Pair pair{nn::root};
  CHECK(names_of(pair.named_modules()) == std::vector<std::string>{"", "a", "a.norm", "a.out", "b", "b.norm", "b.out"});
  CHECK(&pair.get("a.out") == &pair.a.out);
  CHECK(&pair.get("") == &pair);
  CHECK(same(pair.get<nn::Linear>("b.out").weight, pair.b.out.weight));
  CHECK_REFUSED(ValueError, pair.get("a.attn"), "module", "no module at 'a.attn': Block has [norm, out]");
  CHECK_REFUSED(ValueError, pair.get<nn::Linear>("a.norm"), "module", "'a.norm' is a LayerNorm 4");
}

}  // namespace xgrad::testing
