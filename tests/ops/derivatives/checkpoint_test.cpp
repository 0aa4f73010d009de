// checkpoint(): the same numbers and gradients as without, of any order, for less memory.
#include "support/check.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include <xgrad/core/graph/observe.h>
#include <xgrad/core/runtime/memory.h>
#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

struct Block : nn::Module {
  nn::Linear in{at("in"), 4, 6};
  nn::Dropout dropout{at("dropout"), 0.3};
  nn::Linear out{at("out"), 6, 4};
  explicit Block(At here) : Module(here) {}
  Tensor operator()(const Tensor& x) const { return x + out(dropout(tanh(in(x)))); }
};

TEST_CASE("checkpoint gives the same value and the same gradients bit for bit, dropout and random numbers included") {
  const Block block(nn::root);
  const auto run = [&](bool with, int times, const Tensor& start) {
    manual_seed(5);
    block.zero_grad();
    Tensor x = start;
    for (int i = 0; i < times; ++i) x = with ? checkpoint([&](const Tensor& in) { return block(in); }, x) : block(x);
    Tensors found{x.detach(), rand({4})};  // and what comes after
    Tensors inputs = block.parameters();
    if (start.requires_grad()) inputs.push_back(start);
    for (const Tensor& g : grad(sum(square(x)), inputs, {.retain_graph = true})) found.push_back(g);
    sum(square(x)).backward();
    for (const Tensor& parameter : block.parameters()) found.push_back(parameter.grad());
    found.push_back(rand({4}));
    return found;
  };
  for (const int times : {1, 3}) {  // of three blocks the gradients of shared parameters are added up
    for (const Tensor& start : {variable(normal({3, 4})), Tensor(normal({3, 4}))}) {
      const Tensors plain = run(false, times, start), checkpointed = run(true, times, start);
      REQUIRE(plain.size() == checkpointed.size());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        CAPTURE(i);
        CHECK(equal(plain[i].value(), checkpointed[i].value()));
      }
    }
  }
}

TEST_CASE("checkpoints in checkpoints, of captured leaves, have the gradients of differences, first and second") {
  const Tensor w = variable(normal({4, 3}, 7), "w");
  // An input twice, too.
  const auto nested = [&](bool with, const Tensor& x) {
    const auto inner = [w](const Tensor& a) { return sin(matmul(a, w)); };
    const auto outer = [with, inner](const Tensor& a, const Tensor& b) {
      return (with ? checkpoint(inner, a) : inner(a)) * sum(square(b));
    };
    return with ? checkpoint(outer, x, x) : outer(x, x);
  };
  check_gradients([&](const Tensors& x) { return nested(true, x[0]); }, {normal({2, 4}, 3)});
  const auto second = [&](bool with) {
    const Tensor x = variable(normal({2, 4}, 3));
    const Tensors first = grad(sum(nested(with, x)), {x, w}, {.create_graph = true});
    return grad(sum(square(first[0])) + sum(square(first[1])), {x, w});
  };
  const Tensors plain = second(false), checkpointed = second(true);
  for (std::size_t i = 0; i < 2; ++i) check_close(checkpointed[i].value(), plain[i].value(), 1e-11);
}

TEST_CASE("a gradient of a parameter alone still depends on the inputs") {
  const Tensor x = variable(3, "x"), w = variable(2, "w");
  const Tensor y = checkpoint([&](const Tensor& a) { return a * a * w; }, x * 1);
  const Tensor dw = grad(y, {w}, {.create_graph = true})[0];
  CHECK(dw.item() == 9);
  CHECK(grad(dw, {x})[0].item() == 6);
}

TEST_CASE("checkpoint takes lists, leaves that come out as they are, and functions of nothing that wants a gradient") {
  const Tensor x = variable(3, "x"), w = variable(2, "w");
  const Tensor y = checkpoint([](const Tensors& in) { return in[0] * in[1]; }, Tensors{x, w});
  CHECK(grad(y, {x, w})[1].item() == 3);
  CHECK(grad(checkpoint([](const Tensor& a) { return a; }, x), {x})[0].item() == 1);
  CHECK(grad(checkpoint([&](const Tensor&) { return w; }, x), {w})[0].item() == 1);
  CHECK(!checkpoint([](const Tensor& a) { return a * 2; }, Tensor(3)).requires_grad());
  CHECK(!checkpoint([](const Tensor& a) { return a.detach() * 2; }, x).requires_grad());
  const NoGrad off;
  CHECK(!checkpoint([&](const Tensor& a) { return a * w; }, x).requires_grad());
}

// Functions of w = 2 with their first and second derivative; `run` is checkpoint or runs the function as it is.
struct Hooked {
  const char* what;
  std::function<Tensor(const Tensor& w, const std::function<Tensor(std::function<Tensor(const Tensor&)>, Tensor)>& run)>
      f;
  Real first, second;
};
const Hooked hooked[] = {
    {"two checkpoints",
     [](const Tensor& w, const auto& run) {
       const auto times_w = [w](const Tensor& a) { return a * w * w; };
       return run(times_w, 2) + run(times_w, 3);
     },
     20, 10},
    {"nested",
     [](const Tensor& w, const auto& run) {
       return run([w, run](const Tensor& a) { return run([w](const Tensor& b) { return b * w; }, a) * w; }, 3);
     },
     12, 6},
    {"an input that is captured, too",
     [](const Tensor& w, const auto& run) { return run([w](const Tensor& a) { return a * a * w; }, w); }, 12, 12},
    {"an input of two, and of none",
     [](const Tensor& w, const auto& run) {
       const auto f = [](const Tensor& a) { return a * a; };
       return run(f, w) + run(f, w) + w;
     },
     9, 4},
    {"a captured leaf as the result",
     [](const Tensor& w, const auto& run) { return run([w](const Tensor&) { return w; }, 1) * w; }, 4, 2},
};

TEST_CASE("a hook on a leaf that checkpoints use is called once, with the complete gradient") {
  for (const Hooked& each : hooked) {
    for (const bool with : {false, true}) {
      CAPTURE(each.what);
      CAPTURE(with);
      const auto run = [with](const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
        return with ? checkpoint(f, x) : f(x);
      };
      const Tensor w = variable(2, "w");
      std::vector<Real> seen;
      w.on_grad([&](const Tensor& g) {
        seen.push_back(g.item());
        return g * g + 1;
      });
      const Real changed = each.first * each.first + 1;
      each.f(w, run).backward();
      CHECK(seen == std::vector{each.first});
      CHECK(w.grad().item() == changed);
      seen.clear();
      CHECK(grad(each.f(w, run), {w})[0].item() == changed);
      CHECK(seen == std::vector{each.first});
      seen.clear();
      const Tensor g = grad(each.f(w, run), {w}, {.create_graph = true})[0];
      CHECK(g.item() == changed);
      const Real slope = 2 * each.first * each.second;  // of f'^2 + 1
      CHECK(grad(g, {w})[0].item() == slope * slope + 1);
      CHECK(seen == std::vector{each.first, slope});
    }
  }
}

TEST_CASE("a hook on a result that checkpoints use is called once, with the complete gradient") {
  const Tensor w = variable(2, "w");
  const Tensor h = w * 3;
  std::vector<Real> seen;
  h.on_grad([&](const Tensor& g) {
    seen.push_back(g.item());
    return g * g + 1;
  });
  const auto f = [](const Tensor& a) { return a * a; };
  (checkpoint(f, h) + checkpoint(f, h) + h).backward();
  CHECK(seen == std::vector<Real>{25});
  CHECK(w.grad().item() == 3 * (25 * 25 + 1));
}

TEST_CASE("hooks see complete gradients also if the leaf is younger than what the thread of the pass has made") {
  const Tensor x = Tensor(3).named("x");
  std::vector<Real> seen;
  std::atomic<int> step{0};
  Tensor y;
  std::thread pass([&] {
    const Tensor first = variable(1);
    step = 1;
    while (step < 2) std::this_thread::yield();
    y.backward();
  });
  while (step < 1) std::this_thread::yield();
  Tensors many;
  for (int i = 0; i < 1000; ++i) many.push_back(variable(1));
  const Tensor w = variable(2, "w");
  w.on_grad([&](const Tensor& g) {
    seen.push_back(g.item());
    return g * 2;
  });
  const auto f = [w](const Tensor& a) { return a * w; };
  y = checkpoint(f, x) + checkpoint(f, x);
  step = 2;
  pass.join();
  CHECK(seen == std::vector<Real>{6});
  CHECK(w.grad().item() == 12);
}

TEST_CASE("observers are shown the gradient of a leaf that checkpoints use once, when it is complete") {
  struct Watch : Observer {
    explicit Watch(const Tensor& leaf) : node(detail::Engine::node(leaf).get()) {}
    void complete_gradient(const Node& of, const Tensor& gradient) override {
      if (&of == node) seen.push_back(gradient.item());
    }
    const Node* node;
    std::vector<Real> seen;
  };
  const Tensor w = variable(2, "w");
  const auto f = [w](const Tensor& a) { return a * w; };
  Watch watch(w);
  (checkpoint(f, Tensor(2)) + checkpoint(f, Tensor(3))).backward();
  CHECK(watch.seen == std::vector<Real>{5});
}

TEST_CASE("the graph of a checkpoint can be used twice, and in another thread") {
  const Tensor x = variable(3, "x"), w = variable(2, "w");
  int runs = 0;
  const auto f = [&](const Tensor& a) {
    ++runs;
    return sin(a * w) * rand({});
  };
  const Tensor y = checkpoint(f, x * 1);
  const Tensor first = grad(y, {w}, {.retain_graph = true})[0];
  Tensor second, third;
  std::thread([&] {
    second = grad(y, {w}, {.create_graph = true})[0];
    third = grad(second, {x})[0];
  }).join();
  CHECK(runs == 3);
  CHECK(first.item() == second.item());
  CHECK(third.defined());
}

TEST_CASE("an observer may compute a checkpoint itself") {
  const Tensor w = variable({2, 3});
  struct Computes : Observer {
    const Tensor& w;
    std::vector<Array> seen;
    explicit Computes(const Tensor& given) : w(given) {}
    void operation(const OperationRun&) override {
      const Tensor x = variable({4, 5});
      const Tensor y = sum(checkpoint([this](const Tensor& in) { return in * w; }, x));
      for (const Tensor& gradient : grad(y, {x, w})) seen.push_back(gradient.value());
    }
  } observer(w);
  exp(Tensor(1));
  REQUIRE(observer.seen.size() == 2);
  check_close(observer.seen[0], w.value());
  check_close(observer.seen[1], Array(std::vector<Real>{4, 5}));
}

TEST_CASE("checkpoint refuses what it cannot do, and says so") {
  const Tensor x = variable(3, "x"), w = variable(2, "w");
  using Function = std::function<Tensor(const Tensors&)>;
  CHECK_REFUSED(ValueError, checkpoint(Function(), {x}), "checkpoint", "the function is empty");
  CHECK_REFUSED(GraphError, checkpoint([](const Tensor& a) { return a; }, Tensor()), "checkpoint", "input 0");
  CHECK_REFUSED(GraphError, checkpoint([](const Tensor&) { return Tensor(); }, x), "checkpoint", "returned nothing");
  const Tensor outside = exp(w);
  CHECK_REFUSED(GraphError, checkpoint([&](const Tensor& a) { return a * outside; }, x), "checkpoint", "result of exp",
                "outside");

  int runs = 0;
  const auto other_shape = [&](const Tensor& a) { return runs++ == 0 ? a * 2 : stack({a, a}); };
  CHECK_REFUSED(GraphError, grad(checkpoint(other_shape, x), {x}), "checkpoint", "gave shape []", "again, [2]");
  runs = 0;
  const auto other_leaf = [&](const Tensor& a) { return runs++ == 0 ? a * 2 : a * w; };
  CHECK_REFUSED(GraphError, grad(checkpoint(other_leaf, x), {x}), "checkpoint", "the function, run again", "leaf 'w'");
  const Tensor y = checkpoint([&](const Tensor& a) { return a * w; }, x);
  w.assign(Array({}, Real(5)));
  CHECK_REFUSED(GraphError, grad(y, {x}), "checkpoint", "'w' was assigned");
}

// Bytes that a graph of `depth` layers over (rows, 64) keeps.
std::int64_t kept(std::int64_t depth, std::int64_t rows, bool with) {
  constexpr std::int64_t width = 64;
  std::vector<std::unique_ptr<nn::Mlp>> layers;
  for (std::int64_t i = 0; i < depth; ++i) {
    layers.push_back(std::make_unique<nn::Mlp>(nn::root, nn::MlpOptions{.in = width, .hidden = 4 * width}));
  }
  Tensor x = variable(normal({rows, width}));
  const std::int64_t before = pool_stats().bytes_in_use;
  for (const auto& layer : layers) {
    const auto f = [&](const Tensor& in) { return in + (*layer)(in); };
    x = with ? checkpoint(f, x) : f(x);
  }
  return pool_stats().bytes_in_use - before;
}

TEST_CASE("with checkpoints a graph keeps the inputs of its blocks alone, whatever is in them") {
  constexpr std::int64_t width = 64, number = sizeof(Real);
  for (const std::int64_t depth : {2, 8}) {
    for (const std::int64_t rows : {64, 256}) {
      const std::int64_t plain = kept(depth, rows, false), checkpointed = kept(depth, rows, true);
      CAPTURE(depth);
      CAPTURE(rows);
      const std::int64_t one = rows * width * number;  // what goes into a block
      CHECK(checkpointed >= depth * one);
      CHECK(checkpointed <= depth * (one + 4096));
      CHECK(plain >= 4 * checkpointed);
    }
  }
}

}  // namespace
}  // namespace xgrad::testing
