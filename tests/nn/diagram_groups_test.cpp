// Groups of modules and operations that repeat are drawn once.
#include <xgrad/core/diagram/layout/layout.h>
#include <xgrad/xgrad.h>

#include <algorithm>
#include <functional>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

using Strings = std::vector<std::string>;

std::string counted(const std::string& title, int times, int order) {
  return cat(title, times > 1 ? cat(" x", times) : "", order > 0 ? "'" : "");
}
Strings titles(const GraphView& view) {
  Strings all;
  for (const GraphFrame& frame : view.frames) all.push_back(counted(frame.title, frame.times, frame.order));
  std::ranges::sort(all);
  return all;
}
Strings boxes(const GraphView& view) {
  Strings all;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.role == GraphRole::module) all.push_back(counted(vertex.op, vertex.times, vertex.order));
  }
  return all;
}
// Inputs have smaller numbers than results: so there is no cycle.
void check_acyclic(const GraphView& view) {
  for (const GraphEdge& edge : view.edges) REQUIRE(edge.from < edge.to);
}
GraphView view_of(const Tensors& results, int depth = 9) {
  GraphView view = GraphView::of(results, {.depth = depth});
  check_acyclic(view);
  return view;
}
bool has_step(const GraphView& view) {
  return std::ranges::any_of(view.frames, [](const GraphFrame& frame) { return frame.title.starts_with("step"); });
}

// With the gradients of all that it was computed from.
Tensors step(const Tensor& loss, const Tensors& parameters) {
  Tensors all = grad(loss, parameters, {.create_graph = true});
  all.insert(all.begin(), loss);
  return all;
}

struct Recurrent : nn::Module {
  nn::Linear a{at("a"), 4, 8};
  nn::Linear b{at("b"), 8, 8};

  Tensor operator()(int steps) const {
    Tensor h = zeros({2, 8}).named("h0");
    for (int t = 0; t < steps; ++t) h = tanh(a(zeros({2, 4}).named(cat("x", t))) + b(h));
    return h;
  }
};

struct Layers : nn::Module {
  nn::Stack<nn::Linear> layers;
  explicit Layers(int count) : layers(at("layers"), count, 8, 8) {}

  Tensor operator()(Tensor x) const {
    for (const nn::Linear& layer : layers) x = tanh(layer(x));
    return x;
  }
};

struct Again : nn::Module {
  nn::Linear map{at("map"), 8, 8};

  Tensor operator()(int count, const std::function<Tensor(const Tensor&, int)>& between) const {
    Tensor x = zeros({2, 8}).named("x");
    for (int i = 0; i < count; ++i) x = between(map(x), i);
    return x;
  }
};

Tensor with_tanh(const Tensor& x, int) { return tanh(x); }

struct MaskedBlock : nn::Layer<MaskedBlock> {
  using Layer::Layer;
  nn::Mlp ffn{at("ffn"), {.in = 8, .hidden = 8}};
  nn::Linear fc{at("fc"), 8, 8};

  Tensor forward(const Tensor& x, const Mask& masked) const {
    const Tensor seen = masked_fill(ffn(x), masked, 0);
    return seen + fc(x);
  }
};

}  // namespace

TEST_CASE("a group of modules and operations in a loop is one step in diagrams") {
  const Recurrent net;
  const Tensor h = net(20);
  const GraphView view = view_of({h});
  CHECK(titles(view) == Strings{"a", "b", "step \u21BB x20"});
  CHECK(view.vertices.size() == 10);  // x, h0, four parameters, linear, linear, add, tanh
  const auto x = std::ranges::find(view.vertices, "x0 \u2026 19", &GraphVertex::name);
  REQUIRE(x != view.vertices.end());
  CHECK(x->times == 20);
  CHECK(x->frame == -1);
  const GraphView closed = view_of({h}, 0);
  CHECK(boxes(closed) == Strings{"step \u21BB x20"});
  CHECK(closed.vertices.size() == 3);
  CHECK(std::ranges::max(closed.vertices, {}, &GraphVertex::parameters).parameters == 4 * 8 + 8 + 8 * 8 + 8);
  CHECK(GraphView::of({h}, {.depth = 9, .roll_up = false}).vertices.size() == 20 + 1 + 4 + 4 * 20);
  CHECK(!has_step(view_of({net(2)})));
}

TEST_CASE("its backward pass in diagrams is one step, too, however many there are") {
  const Recurrent net;
  std::vector<std::size_t> sizes;
  for (const int steps : {5, 20}) {
    const GraphView view = view_of(step(sum(net(steps)).named("loss"), net.parameters()));
    sizes.push_back(view.vertices.size());
    CHECK(std::ranges::count(titles(view), cat("step \u21BB x", steps, "'")) == 1);
    CHECK(std::ranges::count(titles(view), cat("step \u21BB x", steps)) == 1);
    CHECK(boxes(view_of(step(sum(net(steps)), net.parameters()), 0)) ==
          Strings{cat("step \u21BB x", steps), cat("step \u21BB x", steps, "'")});
  }
  CHECK(sizes[0] == sizes[1]);
}

TEST_CASE("layers with an activation behind each are one step in diagrams, also in the backward pass") {
  std::vector<std::size_t> sizes;
  for (const int count : {4, 12}) {
    const Layers net(count);
    const Tensor y = net(variable(zeros({2, 8}).value(), "x"));
    const std::string layers = cat("layers.0 \u2026 ", count - 1), steps = cat("step \u21BB x", count);
    CHECK(titles(view_of({y})) == Strings{layers, steps});
    CHECK(view_of({y}).vertices.size() == 5);  // x, weight, bias, linear, tanh
    CHECK(boxes(view_of({y}, 0)) == Strings{steps});
    const GraphView both = view_of(step(sum(y).named("loss"), net.parameters()));
    sizes.push_back(both.vertices.size());
    CHECK(titles(both) == Strings{layers, cat(layers, "'"), steps, cat(steps, "'")});
  }
  CHECK(sizes[0] == sizes[1]);
}

TEST_CASE("calls of one module with operations between them are one step in diagrams, also in the backward pass") {
  const Again net;
  const Tensor y = net(12, with_tanh);
  CHECK(titles(view_of({y})) == Strings{"map", "step \u21BB x12"});
  CHECK(view_of({y}).vertices.size() == 5);
  std::vector<std::size_t> sizes;
  for (const int count : {6, 12}) {
    const GraphView view = view_of(step(sum(net(count, with_tanh)).named("loss"), net.parameters()));
    sizes.push_back(view.vertices.size());
    CHECK(std::ranges::count(titles(view), cat("step \u21BB x", count, "'")) == 1);
  }
  CHECK(sizes[0] == sizes[1]);
  // Two calls in each repetition keep numbers of their own.
  const Tensor z = net(12, [](const Tensor& x, int i) { return i % 2 ? tanh(x) : sigmoid(x); });
  CHECK(titles(view_of({z})) == Strings{"map (1)", "map (2)", "step \u21BB x6"});
}

TEST_CASE("groups that differ in an operation or in a setting are not one in diagrams") {
  const Again net;
  CHECK(!has_step(view_of({net(4, [](const Tensor& x, int i) { return i < 2 ? tanh(x) : sigmoid(x); })})));
  const Tensor halves = net(8, [](const Tensor& x, int i) { return i < 4 ? tanh(x) : sigmoid(x); });
  CHECK(titles(view_of({halves})) == Strings{"map", "map", "step 2 \u21BB x4", "step \u21BB x4"});
  const auto dropped = [&](double more) {
    return view_of({net(6, [&](const Tensor& x, int i) { return dropout(x, 0.25 + more * i); })});
  };
  CHECK(titles(dropped(0)) == Strings{"map", "step \u21BB x6"});
  CHECK(!has_step(dropped(0.01)));
  const auto scaled = [&](double more) {
    return view_of({net(6, [&](const Tensor& x, int i) { return x * (0.5 + more * i); })});
  };
  CHECK(titles(scaled(0)) == Strings{"map", "step \u21BB x6"});
  CHECK(!has_step(scaled(0.01)));
}

TEST_CASE("steps that are given other things or are wired in another way are not one in diagrams") {
  const Again net;
  const Tensor all = randn({2, 8, 6}).named("all"), first = randn({2, 8}).named("first");
  CHECK(titles(view_of({net(6, [&](const Tensor& x, int) { return tanh(x + first); })})) ==
        Strings{"map", "step \u21BB x6"});
  // Slices of one tensor are what each is given.
  const Tensor sliced = net(6, [&](const Tensor& x, int i) { return tanh(x + all[{_, _, i}]); });
  CHECK(titles(view_of({sliced})) == Strings{"map", "step \u21BB x6"});
  Tensors before{first};
  const Tensor skipping = net(6, [&](const Tensor& x, int i) {
    before.push_back(tanh(x + before[static_cast<std::size_t>(i / 2)]));
    return before.back();
  });
  CHECK(!has_step(view_of({skipping})));
}

TEST_CASE("blocks that are given one mask are one in diagrams") {
  struct Net : nn::Module {
    nn::Linear in{at("in"), 8, 8};
    nn::Stack<MaskedBlock> blocks{at("blocks"), 4};
    Tensor operator()(const Tensor& x) const { return blocks(in(x), nn::causal_mask(8)); }
  };
  const Net net;
  CHECK(boxes(view_of({net(zeros({2, 8, 8}))}, 0)) == Strings{"in", "blocks.0 \u2026 3 x4"});
}

TEST_CASE("two calls of a module with inputs of other sizes can be told apart in diagrams") {
  struct Pair : nn::Module {
    nn::Embedding table{at("table"), 9, 4};
    nn::Mlp net{at("net"), {.in = 4, .hidden = 8}};
    Tensor operator()(const Index& a, const Index& b) const { return sum(net(table(a))) * sum(net(table(b))); }
  };
  const Pair pair;
  const Strings expected{"table (1)", "net (1)", "table (2)", "net (2)"};
  CHECK(boxes(view_of({pair(index({1, 2, 3}), index({4, 5, 6, 7}))}, 0)) == expected);
}

TEST_CASE("pictures of steps have places for everything") {
  const Recurrent net;
  const GraphView view = view_of(step(sum(net(20)).named("loss"), net.parameters()));
  const GraphLayout layout = GraphLayout::of(view);
  CHECK(layout.frames.size() == view.frames.size());
  CHECK(layout.width > 0);
}
