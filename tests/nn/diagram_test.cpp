// Diagrams of models, and their options.
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/xgrad.h>
#include <xgrad/core/diagram/view/labels.h>

#include <functional>
#include <random>
#include <set>

#include "core/diagram/diagrams.h"
#include "support.h"

namespace xgrad::testing {
namespace {

using namespace nn;

// The loss of a small model of each kind.
Tensor translation_loss() {
  manual_seed(1);
  const EncoderDecoder model{root, 50, 60, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  const Index source({8, 10}, 3), target({8, 10}, 4), lengths({8}, 7);
  return cross_entropy(model(source, lengths, target), target).named("loss");
}
Tensor vision_loss() {
  manual_seed(1);
  const VisionTransformer model{root, {.image = 8, .patch = 4, .dim = 16, .heads = 2, .layers = 3, .classes = 5}};
  return cross_entropy(model(Array({2, 3, 8, 8}, Real(1))), Index({2}, {1, 4})).named("loss");
}
Tensor gpt_loss() {
  manual_seed(1);
  const Gpt model{root, {.vocabulary = 11, .context = 8, .dim = 16, .heads = 2, .layers = 3}};
  const Index ids({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  return cross_entropy(model(ids), ids).named("loss");
}

struct Named {
  const char* name;
  Tensor loss;
};
std::vector<Named> losses() {
  return {{"translation", translation_loss()}, {"vision", vision_loss()}, {"gpt", gpt_loss()}};
}

std::string attributes(const GraphVertex& vertex) {
  std::string text;
  for (const auto& [name, value] : vertex.text.attributes) {
    append(text, str(text.empty() ? "" : ", ", name, " ", value));
  }
  return text;
}

// Inputs have smaller numbers than results: so there is no cycle.
void check_acyclic(const GraphView& view) {
  for (const GraphEdge& edge : view.edges) REQUIRE(edge.from < edge.to);
}

const Index token_ids({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});

TEST_CASE("a window that is as large along both axes is one number") {
  const Tensor x = variable(Array(Shape{1, 1, 6, 6}, Real(1)));
  CHECK(attributes(the(GraphView::of({max_pool2d(x, 3, {.stride = 2, .padding = 1})}), "max_pool2d")) ==
        "kernel 3, stride 2, padding 1");
  CHECK(attributes(the(GraphView::of({avg_pool2d(x, {2, 3})}), "avg_pool2d")) == "kernel 2 x 3");
}

TEST_CASE("constants stand at their operations, many of them in several lines") {
  const Tensor x = variable(Array(Shape{4, 8}, Real(1)));
  const auto shown = [](const Tensor& y, std::string_view op) {
    std::vector<std::string> lines;
    for (const xgrad::detail::LabelLine& line : xgrad::detail::label_of(the(GraphView::of({y}), op), {})) {
      if (line[0].text != str(y.shape())) lines.push_back(line[0].text);
    }
    return lines;
  };
  CHECK(shown(leaky_relu(x, {.negative_slope = 0.2}), "leaky_relu") ==
        std::vector<std::string>{"leaky_relu", "negative_slope 0.2"});
  CHECK(shown(leaky_relu(x), "leaky_relu").size() == 1);
  CHECK(shown(pad(x, {{0, 0}, {1, 2}}, 3), "pad") ==
        std::vector<std::string>{"pad", "before [0, 1], after [0, 2], value 3"});
  CHECK(shown(x[{_, slice(none, none, 2)}], "slice") == std::vector<std::string>{"slice", "axis 1, start 0, step 2"});
  CHECK(shown(rotary(x, {.heads = 2, .first = 5, .theta = 500000, .scaling = RotaryScaling{}}), "rotary") ==
        std::vector<std::string>{"rotary", "heads 2, first 5, theta 500000, factor 8,", "low 1, high 4, context 8192"});
}

TEST_CASE("ids, targets, lengths and masks are inputs, each array once, and settings stand at their operations") {
  manual_seed(1);
  const Embedding embedding{root, 11, 8};
  const MultiHeadAttention attn{root, 8, 2, {.bias = true, .packed = true}};
  const Tensor x = embedding(token_ids);
  const Index lengths({2}, {3, 5});
  const Mask masked({5, 5}, false);
  const Tensor y = attn(x, {.causal = true, .lengths = lengths, .masked = masked});
  const Tensor loss = cross_entropy(dropout(y, 0.25), Index(token_ids.shape(), 1)) + sum(embedding(token_ids), 2)[{0, 0}];
  const GraphView view = GraphView::of({loss}, {.depth = 9});
  const auto given = [&](std::string_view name) {
    return std::ranges::count_if(view.vertices, [&](const GraphVertex& vertex) {
      return vertex.name == name && vertex.role == GraphRole::input;
    });
  };
  CHECK(given("ids") == 1);
  CHECK(given("targets") == 1);
  CHECK(given("lengths") == 1);
  CHECK(given("masked") == 1);
  std::set<GraphFlow> flows;
  for (const GraphEdge& edge : view.edges) flows.insert(edge.flow);
  CHECK(flows.size() == 3);
  CHECK(attributes(the(view, "attention")) == "heads 2, causal , scale 0.5");
  CHECK(attributes(the(view, "dropout")) == "p 0.25, key [1, 5]");
  CHECK(attributes(the(view, "sum")) == "axis 2");

  const auto picture = [&](const AttentionMask& mask) { return to_dot(GraphView::of({attn(x, mask)})); };
  CHECK(picture({.causal = true}) != picture({}));
  CHECK(picture({.masked = masked}) != picture({}));
}

TEST_CASE("the library's own constants have names") {
  manual_seed(1);
  const Tensor x(Array({2, 3, 4}, Real(1)));
  const auto names = [](const Tensor& y) {
    std::set<std::string> all;
    for (const GraphVertex& vertex : GraphView::of({y}, {.depth = 9}).vertices) all.insert(vertex.name);
    return all;
  };
  const LSTM lstm{root, 4, 5};
  CHECK(names(lstm(x).output).contains("h0"));
  CHECK(names(lstm(x).output).contains("c0"));
  struct Model : Module {
    Linear in{at("in"), 4, 4};
    PositionalEncoding positions{at("positions"), 8, 4};
  } const model;
  CHECK(names(model.positions(model.in(x))).contains("positions"));
}

TEST_CASE("a gradient rule is one box, named after its operation, that says what it gives") {
  manual_seed(1);
  const LayerNorm norm{root, 6};
  const Tensor x = variable(normal({4, 6}), "x");
  const Tensor loss = cross_entropy(norm(x), Index({4}, {5, 0, 2, 3}));
  const Tensors results = training_step(loss.named("loss"), {x, norm.weight, norm.bias});
  const GraphView view = GraphView::of(results);
  check_acyclic(view);
  std::vector<std::string> rules;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.role == GraphRole::gradient_operation) rules.push_back(str(vertex.op, ": ", vertex.name));
  }
  CHECK(str(rules) == "[cross_entropy': , layer_norm': dloss/dx, dloss/dweight, dloss/dbias]");
  CHECK(std::ranges::count(view.vertices, GraphRole::seed, &GraphVertex::role) == 1);
  CHECK(std::ranges::count(view.vertices, GraphRole::constant, &GraphVertex::role) == 0);
  CHECK(std::ranges::count(view.vertices, "targets", &GraphVertex::name) == 1);
  const GraphView formulas = GraphView::of(results, {.expand_rules = true});
  check_acyclic(formulas);
  CHECK(formulas.vertices.size() > view.vertices.size() + 10);
}

TEST_CASE("expanded rules: an operation of the forward pass belongs to no rule, also where a rule passes its input on") {
  const Gpt model{root, {.vocabulary = 5, .context = 3, .dim = 4, .heads = 2, .layers = 1}};
  const Index ids({1, 3}, {1, 2, 3});
  const Tensors gradients = grad(cross_entropy(model(ids), ids), model.parameters(), {.create_graph = true});
  const GraphView view = GraphView::of(gradients, {.depth = 99, .expand_rules = true});
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.order == 0) CHECK(vertex.rule_of == -1);
  }
  check_acyclic(view);
}

// A dropped graph returns as much memory to the pool as its picture says it keeps.
TEST_CASE("kept memory is what the graph holds") {
  manual_seed(1);
  const EncoderDecoder model{root, 50, 60, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  const Index source({8, 10}, 3), target({8, 10}, 4), lengths({8}, 7);
  const auto loss_of = [&] { return cross_entropy(model(source, lengths, target), target); };
  loss_of();  // the pool and the model's own tables are there
  const std::int64_t before = pool_stats().bytes_in_use;
  const Tensor loss = loss_of();
  const auto held = static_cast<double>(pool_stats().bytes_in_use - before);
  double said = 0;
  for (const GraphVertex& vertex : GraphView::of({loss}, {.depth = 9, .roll_up = false}).vertices) {
    said += static_cast<double>(vertex.totals.saved_bytes);
  }
  CHECK(said > 1e5);
  CHECK(said / held > 0.85);  // nodes, rules and rounding up are held, too
  CHECK(said / held < 1.0);
}

// Modules in modules, called in any order and several times, entered or not.
struct Random : Module {
  std::vector<std::unique_ptr<Random>> parts;
  std::vector<std::unique_ptr<Linear>> maps;
  bool entering = false;
  std::vector<int> plan;

  Random(At here, std::mt19937& chance, int depth) : Module(here), entering(chance() % 2 == 0) {
    const int count = depth == 0 ? 0 : static_cast<int>(chance() % 3);
    for (int i = 0; i < count; ++i) {
      parts.push_back(std::make_unique<Random>(at(str(chance() % 2 ? "part" : "piece", i)), chance, depth - 1));
    }
    for (int i = 0; i < 2; ++i) maps.push_back(std::make_unique<Linear>(at(str("map", i)), 3, 3));
    for (int i = 0; i < 6; ++i) plan.push_back(static_cast<int>(chance() % 16));
  }
  Tensor operator()(const Tensor& x) const {
    std::optional<ModuleScope> here;
    if (entering) here.emplace(*this, x);
    Tensors values{x};
    for (const int step : plan) {
      const Tensor &last = values.back(), &other = values[static_cast<std::size_t>(step) % values.size()];
      values.push_back(step < 5 && !parts.empty() ? (*parts[static_cast<std::size_t>(step) % parts.size()])(last)
                       : step < 9                 ? (*maps[static_cast<std::size_t>(step) % 2])(other)
                       : step < 13                ? last + other
                                                  : tanh(last));
    }
    return values.back();
  }
};

TEST_CASE("no picture of a recorded graph has a cycle") {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    manual_seed(seed);
    std::mt19937 chance(seed);
    const Random model(At(), chance, 3);
    const Tensor x = variable(normal({2, 3}), "x");
    const Tensor y = sum(model(x));
    const Tensor dx = grad(y, {x}, {.create_graph = true})[0];
    for (const int depth : {automatic_depth, 0, 1, 2, 3, 9}) {
      for (const bool roll_up : {true, false}) {
        const GraphOptions options{.depth = depth, .roll_up = roll_up, .max_nodes = 100'000};
        check_acyclic(GraphView::of({y}, options));
        check_acyclic(GraphView::of({y, dx}, options));
        GraphOptions by_predicate = options;
        by_predicate.fold = [&](const GraphFrame& frame) {
          return static_cast<Fold>(std::hash<std::string>()(str(frame.path, seed)) % 3);
        };
        check_acyclic(GraphView::of({y, dx}, by_predicate));
      }
    }
  }
}

// The titles of folded modules.
std::vector<std::string> boxes(const GraphView& view) {
  std::vector<std::string> all;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.role == GraphRole::module) {
      all.push_back(str(vertex.op, vertex.times > 1 ? str(" x", vertex.times) : ""));
    }
  }
  return all;
}

struct MaskedBlock : Layer<MaskedBlock> {
  using Layer::Layer;
  Mlp ffn{at("ffn"), {.in = 8, .hidden = 8}};
  Linear fc{at("fc"), 8, 8};

  Tensor forward(const Tensor& x, const Mask& masked) const {
    const Tensor seen = masked_fill(ffn(x), masked, 0);
    return seen + fc(x);
  }
};

TEST_CASE("blocks that are given one mask are one in diagrams") {
  struct Net : Module {
    Linear in{at("in"), 8, 8};
    Stack<MaskedBlock> blocks{at("blocks"), 4};
    Tensor operator()(const Tensor& x) const { return blocks(in(x), causal_mask(8)); }
  };
  const Net net;
  const GraphView view = GraphView::of({net(zeros({2, 8, 8}))}, {.depth = 0});
  check_acyclic(view);
  CHECK(boxes(view) == std::vector<std::string>{"in", "blocks.0 \u2026 3 x4"});
}

TEST_CASE("two calls of a module with inputs of other sizes can be told apart in diagrams") {
  struct Pair : Module {
    Embedding table{at("table"), 9, 4};
    Mlp net{at("net"), {.in = 4, .hidden = 8}};
    Tensor operator()(const Index& a, const Index& b) const { return sum(net(table(a))) * sum(net(table(b))); }
  };
  const Pair pair;
  const GraphView view = GraphView::of({pair(index({1, 2, 3}), index({4, 5, 6, 7}))}, {.depth = 0});
  check_acyclic(view);
  CHECK(boxes(view) == std::vector<std::string>{"table (1)", "net (1)", "table (2)", "net (2)"});
}

TEST_CASE("operations stand in the order of their inputs, whatever the compiler evaluates first") {
  const Tensor a = variable(1, "a"), b = variable(2, "b"), c = variable(3, "c"), d = variable(4, "d");
  const Tensor right = c * d, left = a * b;  // recorded from right to left
  CHECK(to_text(GraphView::of({left + right})) == to_text(GraphView::of({a * b + c * d})));
}

double sum_of(const GraphView& view) {
  double sum = 0;
  for (const GraphVertex& vertex : view.vertices) {
    int times = vertex.times;
    for (int c = vertex.frame; c >= 0; c = view.frames[static_cast<std::size_t>(c)].parent) {
      times *= view.frames[static_cast<std::size_t>(c)].times;
    }
    sum += vertex.totals.overlay.value_or(0) * times;
  }
  return sum;
}

TEST_CASE("of each model everything can be closed but its attention, and the rest opened") {
  for (const Named& model : losses()) {
    CAPTURE(model.name);
    const Tensor& loss = model.loss;
    const auto is_attention = [](const GraphFrame& frame) { return frame.what.find("Attention") != std::string::npos; };
    const auto fold = [&](const GraphFrame& frame) { return is_attention(frame) ? Fold::open : Fold::by_depth; };
    const GraphView view = GraphView::of({loss}, {.depth = 0, .fold = fold});
    check_acyclic(view);
    int open = 0;
    for (const GraphFrame& frame : view.frames) open += is_attention(frame);
    CHECK(open > 0);
    CHECK(std::ranges::count(view.vertices, GraphRole::module, &GraphVertex::role) > 2);
    const auto shut = [&](const GraphFrame& frame) { return is_attention(frame) ? Fold::closed : Fold::open; };
    const GraphView inverse = GraphView::of({loss}, {.depth = 0, .fold = shut});
    check_acyclic(inverse);
    for (const GraphVertex& vertex : inverse.vertices) {
      if (vertex.role == GraphRole::module) CHECK(vertex.text.what.find("Attention") != std::string::npos);
      CHECK(vertex.op != "attention");
    }
  }
}

TEST_CASE("multiply-adds in the picture of a model are those that are counted, at every depth") {
  for (const Named& model : losses()) {
    CAPTURE(model.name);
    const Tensor& loss = model.loss;
    const auto counted = static_cast<double>(count_operations({loss}));
    CHECK(counted > 1000);
    for (const int depth : {automatic_depth, 0, 1, 2, 99}) {
      CAPTURE(depth);
      for (const bool roll_up : {true, false}) {
        const GraphView view =
            GraphView::of({loss}, {.depth = depth, .roll_up = roll_up, .overlay = multiply_adds_overlay()});
        CHECK(sum_of(view) == doctest::Approx(counted).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a gradient rule's number is the sum of its operations'") {
  const Tensor a = variable(normal({4, 5}), "a"), b = variable(normal({5, 6}), "b");
  const Tensor y = sum(matmul(a, b));
  const Tensors gradients = grad(y, {a, b}, {.create_graph = true});
  const GraphView view = GraphView::of({y, gradients[0], gradients[1]}, {.overlay = multiply_adds_overlay()});
  const auto rule = std::ranges::find(view.vertices, "matmul'", &GraphVertex::op);
  REQUIRE(rule != view.vertices.end());
  CHECK(rule->totals.overlay == 2 * 4 * 5 * 6.0);  // one product for each input
}

}  // namespace
}  // namespace xgrad::testing
