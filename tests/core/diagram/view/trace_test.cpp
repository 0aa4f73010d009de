// Which operations leave a trace: gradient rules that compute nothing or with numbers alone, and what no gradient flows
// through.
#include <atomic>
#include <chrono>
#include <thread>

#include <xgrad/ops/derivatives/checkpoint.h>

#include "core/diagram/diagrams.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("every operation on the way of a gradient has the box of its rule, also where that computes nothing") {
  const Tensor x = variable({{1, 2}, {3, 4}}, "x"), b = variable({5, 6}, "b"), c = variable(2, "c");
  const GraphView view = GraphView::of(training_step(mean(tanh(x + b) - c).named("loss"), {x, b, c}));
  CHECK(ops_of(view) == Strings{"add", "mean", "sub", "tanh"});
  CHECK(ops_of(view, GraphRole::gradient_operation) == Strings{"add'", "mean'", "sub'", "tanh'"});
  CHECK(the(view, "seed").constant == Real(1));
  CHECK(*the(view, "mean'").shape == Shape{2, 2});
  CHECK(the(view, "add'").totals.results == 2);  // dloss/dx and dloss/db
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.role != GraphRole::gradient_operation) continue;
    REQUIRE(vertex.rule_of >= 0);
    CHECK(str(view.vertices[vertex.rule_of].op, '\'') == vertex.op);
  }
}

TEST_CASE("rules are named after operations that are not drawn themselves") {
  const Tensor x = variable(1, "x");
  const Tensor first = grad(sum(sin(x) * x), {x}, {.create_graph = true})[0];
  const GraphView view = GraphView::of({grad(first, {x}, {.create_graph = true})[0]});
  CHECK(std::ranges::count(ops(view), "gradient") == 0);
  CHECK(the(view, "sum'").order == 1);
  CHECK(count_of(view, GraphRole::seed) == 2);
}

TEST_CASE("a backward pass begins with the seed that it was given, which stays what it was") {
  const Tensor x = variable({1, 2}, "x"), w = variable({5, 6}, "w"), v = tensor({3, 4});
  const auto view_of = [&](const Tensor& seed) {
    return GraphView::of({grad(tanh(x), {x}, {.seed = seed, .create_graph = true})[0]});
  };
  const GraphView named = view_of(tensor({3, 4}).named("v"));
  CHECK(count_of(named, GraphRole::seed) == 0);
  CHECK(the(named, "leaf").name == "x");
  CHECK(std::ranges::count(named.vertices, "v", &GraphVertex::name) == 1);
  CHECK(count_of(view_of(v), GraphRole::seed) == 1);  // one without a name
  CHECK(!detail::Engine::node(v));
  CHECK(count_of(GraphView::of({v * w}), GraphRole::seed) == 0);
}

TEST_CASE("the operations of a gradient hook are drawn for themselves, with their numbers") {
  const Tensor x = variable({1, 2}, "x"), noise = tensor({3, 4}).named("noise");
  const auto view_of = [&](const auto& f, const GradientHook& hook) {
    const Tensor h = sin(x);
    h.on_grad(hook);
    return GraphView::of({grad(sum(f(h)), {x}, {.create_graph = true})[0]});
  };
  const auto once = [](const Tensor& h) { return exp(h); };
  const auto twice = [](const Tensor& h) { return exp(h) + sqrt(h); };
  const GradientHook squashed = [](const Tensor& g) { return tanh(g * 2); };
  const GradientHook noisy = [&](const Tensor& g) { return g + noise; };
  const auto drawn = [](const GraphView& view) { return str(ops_of(view, GraphRole::gradient_operation)); };
  CHECK(drawn(view_of(once, squashed)) == "[exp', mul, sin', sum', tanh]");
  CHECK(std::ranges::count(view_of(once, squashed).vertices, Real(2), &GraphVertex::constant) == 1);
  CHECK(drawn(view_of(twice, squashed)) == "[add, add', exp', mul, sin', sqrt', sum', tanh]");
  CHECK(drawn(view_of(twice, noisy)) == "[add, add, add', exp', sin', sqrt', sum']");
}

TEST_CASE("the rule of a checkpoint is named after it, whatever modules run in it") {
  const Tensor w = variable({{1, 2}, {3, 4}}, "w"), x = variable(normal({2, 2}), "x");
  const auto product = [w](const Tensor& a) {
    const Scope scope(intern("layer"));
    return matmul(w * 2, a);
  };
  const auto weight = [w](const Tensor&) {
    const Scope nowhere(nullptr);
    const Scope scope(intern("layer"));
    return tanh(w * 2);
  };
  const Tensor y = sum(checkpoint(product, x)), z = sum(checkpoint(weight, Tensor(1)));
  const Tensor dx = grad(y, {x}, {.create_graph = true})[0], dw = grad(z, {w}, {.create_graph = true})[0];
  for (const Tensors& results : {Tensors{dx}, Tensors{y, dx}, Tensors{dw}, Tensors{z, dw}}) {
    CHECK(ops_of(GraphView::of(results), GraphRole::gradient_operation) == Strings{"checkpoint'", "sum'"});
  }
}

TEST_CASE("what the threads of a loop within a rule compute belongs to the rule") {
  const ThreadCount restore(4);
  const Tensor x = variable({1, 2}, "x");
  const auto rule = [x](const Tensor& gy) {
    Tensors parts(4);
    std::atomic<int> inside{0};
    parallel_for(4, 1, [&](std::int64_t begin, std::int64_t) {
      ++inside;
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      while (inside < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
      parts[static_cast<std::size_t>(begin)] = gy * x;
    });
    return concat(parts, 0)[{slice(0, 2)}];
  };
  const Tensor y = sum(record("spread", x.value(), wrt(x, rule)));
  const GraphView view = GraphView::of({grad(y, {x}, {.create_graph = true})[0]});
  CHECK(ops_of(view) == Strings{});
  CHECK(ops_of(view, GraphRole::gradient_operation) == Strings{"spread'", "sum'"});
}

TEST_CASE("a rule that runs again on what came of its first run is a box for each run, so that no arrow goes back") {
  const Tensor x = variable({1, 2, 3}, "x"), y = sin(tanh(x));
  const auto from = [&](const Tensor& seed) { return grad(y, {x}, {.seed = seed, .create_graph = true})[0]; };
  const GraphView again = GraphView::of({from(exp(from(ones({3}))))});
  CHECK(ops_of(again, GraphRole::gradient_operation) == Strings{"sin'", "sin'", "tanh'", "tanh'"});
  for (const GraphEdge& edge : again.edges) CHECK(edge.from < edge.to);
  for (const GraphVertex& vertex : again.vertices) {
    if (vertex.rule_of >= 0) CHECK(str(again.vertices[vertex.rule_of].op, '\'') == vertex.op);
  }
  const GraphView beside = GraphView::of({from(ones({3})) + from(ones({3}))});
  CHECK(ops_of(beside, GraphRole::gradient_operation) == Strings{"sin'", "tanh'"});
}

TEST_CASE("what no gradient flows through is drawn if that was asked for before") {
  const Tensor w = variable(normal({4, 2}), "w");
  const auto run = [&] { return matmul(zeros({3, 4}).named("img") / 255 - 0.5, w).named("y"); };
  CHECK(ops_of(GraphView::of({run()})) == Strings{"matmul"});
  const Strings all{"div", "matmul", "sub"};
  {
    const TraceAll trace;
    const GraphView view = GraphView::of({run()});
    CHECK(ops_of(view) == all);
    CHECK(std::ranges::count(view.vertices, "img", &GraphVertex::name) == 1);
    CHECK(std::ranges::count(view.vertices, GraphRole::constant, &GraphVertex::role) == 2);  // 255 and 0.5
  }
  {
    const ValueRecorder values;
    const GraphView view = GraphView::of({run()}, {.values = &values});
    CHECK(ops_of(view) == all);
    CHECK(the(view, "sub").record.value->mean == -0.5);
  }
  CHECK(ops_of(GraphView::of({run()})) == Strings{"matmul"});
}

TEST_CASE("under NoGrad, and of a model without trainable parameters, operations are traced as well") {
  const TraceAll trace;
  const NoGrad off;
  const GraphView view = GraphView::of({tanh(embedding(variable(normal({5, 2}), "table"), index({4, 0})))});
  CHECK(ops_of(view) == Strings{"embedding", "tanh"});
  CHECK(std::ranges::count(view.vertices, "ids", &GraphVertex::name) == 1);
}

TEST_CASE("a trace changes nothing else") {
  const auto run = [] {
    const Tensor a = tensor({1, 2}) * 2, b = a.detach();
    CHECK(a.is_leaf());
    CHECK(!a.requires_grad());
    const auto reason = [](const Tensor& x) { return error_of<GraphError>([&] { x.grad(); }); };
    CHECK(reason(a) == reason(tensor({1, 2})));
    b.assign(tensor({7, 8}).value());
    const Tensor w = variable({1, 1}, "w");
    const Tensor loss = sum(a * w + b);
    loss.backward();
    return str(loss.value(), w.grad().value());
  };
  const std::string plain = run();
  const std::int64_t nodes = live_node_count();
  {
    const TraceAll trace;
    CHECK(run() == plain);
    CHECK(live_node_count() == nodes);
    const Tensor chosen = tensor({1, 2}) * 2;
    chosen.set_requires_grad();
    CHECK(GraphView::of({sum(chosen)}).vertices.size() == 2);  // its history is not drawn
  }
}

TEST_CASE("a leaf that was assigned is no result any more, and a chain of traces may be long") {
  const TraceAll trace;
  const Tensor a = tensor({1, 2}) * 2;
  CHECK(ops_of(GraphView::of({a + 1})) == Strings{"add", "mul"});
  a.assign(tensor({7, 8}).value());
  CHECK(ops_of(GraphView::of({a + 1})) == Strings{"add"});
  Tensor y = tensor({1});
  for (int i = 0; i < 100'000; ++i) y = tanh(y);
  CHECK(GraphView::of({y}, {.max_nodes = 200'000}).vertices.size() == 100'001);
}

TEST_CASE("detached values say what they are detached from, others that look like them do not") {
  const Tensor u = variable({1, 1}, "u"), w = variable({0, 1}, "w");
  ValueRecorder values;
  const Tensor hidden = tanh(u);
  const auto loss = [&] { return sum(hidden.detach() * w + Tensor(hidden.value())); };
  loss().backward();
  const Tensor y = loss();
  y.backward();
  const GraphView view = GraphView::of({y}, {.values = &values});
  CHECK(the(view, "detach").record.gradient_state == "none, detached from tanh");
  const auto detached = [](const GraphVertex& vertex) { return count(vertex.record.gradient_state, "detached") > 0; };
  CHECK(std::ranges::count_if(view.vertices, detached) == 1);
}

TEST_CASE("the first value, or else the first gradient, that is no number is marked") {
  ValueRecorder values;
  const auto first = [&](const Tensor& y) {
    y.backward();
    Strings marked;
    for (const GraphVertex& vertex : GraphView::of({y}, {.values = &values}).vertices) {
      if (vertex.record.first_nan) marked.push_back(is_operation(vertex) ? vertex.op : vertex.name);
    }
    return marked;
  };
  const Tensor x = variable({-1, 2}, "x"), w = variable({0, 1}, "w");
  CHECK(first(sum(tanh(log(x)) * 2)) == Strings{"log"});
  CHECK(first(sum(sqrt(w * w))) == Strings{"w"});
  CHECK(first(sum(x * x)) == Strings{});
}

TEST_CASE("an input that was assigned after its use is marked, as no backward pass takes it") {
  const Tensor x = variable({1, 2}, "x"), b = variable({1, 2}, "b");
  const Tensor y = sum(x * x + b);
  const auto note = [&](std::string_view name) {
    const GraphView view = GraphView::of({y});
    return the(view, name).text.note;
  };
  CHECK(note("x").empty());
  x.assign(tensor({3, 4}).value());
  b.assign(tensor({3, 4}).value());  // which no rule holds
  CHECK(note("x") == "assigned after it was used");
  CHECK(note("b").empty());
  error_of<GraphError>([&] { y.backward(); });
}

TEST_CASE("integers that a module computed itself are no inputs of the model") {
  const Tensor x = variable({{3, 1, 2}}, "x");
  const auto chosen = [&] {
    const Scope scope(intern("router"));
    return gather(x, 1, topk(x, 2).indices);
  };
  CHECK(count_of(GraphView::of({chosen()}), GraphRole::input) == 0);
  CHECK(count_of(GraphView::of({gather(x, 1, index({{2}}))}), GraphRole::input) == 1);
}
