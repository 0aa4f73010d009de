// Tests of core/graph/grad.h: values of gradients, what passes touch and refuse, hooks, depth, memory and threads.
#include <xgrad/core/graph/grad.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>

#include <xgrad/core/base/scope.h>
#include <xgrad/ops/arrange/broadcast.h>
#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/compare.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/layers/attention.h>
#include <xgrad/ops/reduce/reduce.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// x itself; counts how often its rule is called.
Tensor counted(const Tensor& x, int& calls) {
  return record("counted", x.value(), wrt(x, [&calls](const Tensor& gy) {
                  ++calls;
                  return gy;
                }));
}

// x itself, with a rule that fails when it is told to.
Tensor fragile(const Tensor& x, const bool& broken) {
  return record("fragile", x.value(), wrt(x, [&broken](const Tensor& gy) {
                  if (broken) throw std::runtime_error("broken");
                  return gy;
                }));
}

const std::string released_message = "; pass {.retain_graph = true} to the earlier one, or run the forward pass again";

}  // namespace

// ---- Values ---------------------------------------------------------------------------------------------------------

TEST_CASE("gradients of a small expression are those of the calculus") {
  const Tensor a = variable(2, "a");
  const Tensor b = variable(-3, "b");
  const Tensor c = variable(10, "c");
  const Tensor f = variable(-2, "f");
  const Tensors g = grad((a * b + c) * f, {a, b, c, f});
  CHECK(g[0].item() == 6);
  CHECK(g[1].item() == -4);
  CHECK(g[2].item() == -2);
  CHECK(g[3].item() == 4);
}

TEST_CASE("gradients meeting at a tensor are added") {
  const Tensor x = variable(3);
  CHECK(grad(x + x, {x})[0].item() == 2);
  CHECK(grad(x * x, {x})[0].item() == 6);
  CHECK(grad(x - x, {x})[0].item() == 0);
  CHECK(grad(x / x, {x})[0].item() == 0);
  CHECK(grad(x * x * x, {x})[0].item() == 27);
  Tensor y = x;
  for (int i = 1; i < 1000; ++i) y = y + x;
  CHECK(grad(y, {x})[0].item() == 1000);
}

TEST_CASE("a fan-out of 100,000 separate uses gives their exact sum") {
  const Tensor x = variable(1);
  const Tensor y = tanh(x);
  Tensors uses;
  for (int i = 0; i < 100'000; ++i) uses.push_back(y * 2);
  const Tensor total = record("total", Array(Shape{}, Real(0)),
                              wrt_each(uses, [](std::size_t) { return [](const Tensor& gy) { return gy; }; }));
  CHECK(grad(total, {y})[0].item() == 200'000);
}

TEST_CASE("a ladder of 60 diamonds, 2^60 paths, visits each node once") {
  int calls = 0;
  const Tensor x = variable(1);
  Tensor y = x;
  for (int i = 0; i < 60; ++i) {
    const Tensor left = counted(y, calls);
    const Tensor right = counted(y, calls);
    y = (left + right) * 0.5;
  }
  CHECK(grad(y, {x})[0].item() == 1);
  CHECK(calls == 120);
  calls = 0;
  Tensor z = x;
  for (int i = 0; i < 60; ++i) z = counted(z, calls) + z;
  CHECK(grad(z, {x})[0].item() == 0x1p60);
  CHECK(calls == 60);
}

TEST_CASE("a chain of a million operations is recorded, differentiated and dropped on a stack of 256 KiB") {
  const auto start = live_node_count();
  on_small_stack([] {
    const Tensor x = variable(1);
    Tensor y = x;
    for (int i = 0; i < long_chain; ++i) y = y + 1;
    y.backward();
    CHECK(y.item() == long_chain + 1);
    CHECK(x.grad().item() == 1);
  });
  CHECK(live_node_count() == start);
}

TEST_CASE("the graph of a long backward pass is recorded, differentiated and dropped on a small stack, too") {
  const auto start = live_node_count();
  on_small_stack([] {
    const Tensor x = variable(0.01);
    Tensor y = x;
    for (int i = 0; i < 20'000; ++i) y = y * x + x;
    const Tensor g = grad(y, {x}, {.create_graph = true})[0];
    const Tensor h = grad(g, {x})[0];
    // y = x / (1 - x) up to x^20000, y'' = 2 / (1 - x)^3
    CHECK(g.item() == doctest::Approx(1 / (0.99 * 0.99)).epsilon(1e-12));
    CHECK(h.item() == doctest::Approx(2 / (0.99 * 0.99 * 0.99)).epsilon(1e-12));
  });
  CHECK(live_node_count() == start);
}

TEST_CASE("the third derivative of tanh is that of the calculus") {
  for (const Real at : {-2.0, -0.5, 0.0, 0.3, 1.7}) {
    const Tensor x = variable(at);
    const Tensor y = tanh(x);
    const Tensor g = grad(y, {x}, {.create_graph = true})[0];
    const Tensor h = grad(g, {x}, {.create_graph = true})[0];
    const Tensor k = grad(h, {x}, {.create_graph = true})[0];
    const Tensor m = grad(k, {x})[0];
    const double t = std::tanh(at);
    const double u = 1 - t * t;
    CHECK(g.item() == doctest::Approx(u).epsilon(1e-14));
    CHECK(h.item() == doctest::Approx(-2 * t * u).epsilon(1e-14));
    CHECK(k.item() == doctest::Approx(-2 * u * (1 - 3 * t * t)).epsilon(1e-14));
    CHECK(m.item() == doctest::Approx(8 * t * u * (2 - 3 * t * t)).epsilon(1e-13));
  }
}

TEST_CASE("gradients get names, and what the caller has keeps its own") {
  const Tensor x = variable({1, 2}, "x");
  const Tensor seed = tanh(variable({3, 4}));
  // The rule of a sum hands on what it was given.
  const Tensor g = grad((x + 1).named("y"), {x}, {.seed = seed, .create_graph = true})[0];
  CHECK(g.value().data() == seed.value().data());
  CHECK(g.name() == "dy/dx");
  CHECK(seed.name().empty());
  CHECK(grad((2 * x).named("y"), {x}, {.seed = seed, .create_graph = true})[0].name() == "dy/dx");
}

TEST_CASE("a gradient penalty is differentiated through the gradient and the loss at once") {
  // L = x^3 + (3 x^2)^2      dL/dx = 3 x^2 + 36 x^3
  const Tensor x = variable(2, "x");
  const Tensor y = x * x * x;
  const Tensor g = grad(y, {x}, {.create_graph = true})[0];
  (y + g * g).backward();
  CHECK(x.grad().item() == 12 + 288);
}

TEST_CASE("random programs agree with finite differences") {
  // Each program is a list of operations on earlier results; values stay bounded by tanh.
  struct Step {
    unsigned op;
    std::size_t a, b;
  };
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    static const std::vector<Shape> shapes{{}, {1}, {3}, {2, 1}, {2, 3}, {1, 3}};
    std::vector<Array> inputs;
    const std::size_t input_count = 1 + random() % 3;
    for (std::size_t i = 0; i < input_count; ++i) {
      inputs.push_back(uniform(shapes[random() % shapes.size()], -1, 1, 100 * seed + i));
    }
    std::vector<Step> steps;
    const std::size_t length = 1 + random() % 30;
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t known = input_count + i;
      steps.push_back({.op = static_cast<unsigned>(random() % 9), .a = random() % known, .b = random() % known});
    }
    const Function program = [&](const Tensors& xs) {
      Tensors values = xs;
      std::vector<bool> used(input_count + steps.size());
      for (const Step& step : steps) {
        const Tensor a = values[step.a];
        Tensor b = values[step.b];
        if (!broadcasts_to(a.shape(), b.shape()) && !broadcasts_to(b.shape(), a.shape())) b = mean(b);
        used[step.a] = used[step.b] = true;
        const auto apply = [&]() -> Tensor {
          switch (step.op) {
            case 0:
              return tanh(a) - b;
            case 1:
              return a * b;
            case 2:
              return tanh(a + b);
            case 3:
              return a - b * b;
            case 4:
              return a / (2 + b * b);
            case 5:
              return exp(tanh(a)) * a * b;
            case 6:
              return a.rank() > 0 ? sum(a, -1) + mean(b) : a * mean(b);
            case 7:
              return (a.rank() > 1 ? transpose(a) : a) * mean(b);
            default:
              return where(Mask(Shape{}, seed % 2 == 0), a * b, b - a);
          }
        };
        values.push_back(tanh(apply()));
      }
      Tensor result = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!used[i] || i < input_count) result = result + mean(values[i] * (1 + 0.1 * static_cast<double>(i)));
      }
      return result;
    };
    check_gradients(program, inputs, {.order = seed % 10 == 0 ? 2 : 1});
  }
}

// ---- What is asked for ----------------------------------------------------------------------------------------------

TEST_CASE("the result itself may be among what is asked for, and so may the same tensor twice") {
  const Tensor x = variable(2);
  const Tensor y = x * x;
  const Tensors g = grad(y, {y, x, x}, {.seed = Tensor(5)});
  CHECK(g[0].item() == 5);
  CHECK(g[1].item() == 20);
  CHECK(g[2].item() == 20);
  CHECK(grad(x, {x})[0].item() == 1);
  CHECK(grad(x, {x}, {.seed = Tensor(3)})[0].item() == 3);
}

TEST_CASE("asking for nothing gives nothing, but checks all the same") {
  const Tensor x = variable(2);
  CHECK(grad(x * x, {}).empty());
  error_of<GraphError>([] { grad(Tensor(1), {}); });
}

TEST_CASE("only what leads to the requested tensors is visited") {
  int wanted = 0, unwanted = 0;
  const Tensor x = variable(1);
  const Tensor w = variable(1);
  const Tensor y = counted(x, wanted) + counted(w, unwanted);
  CHECK(grad(y, {x})[0].item() == 1);
  CHECK(wanted == 1);
  CHECK(unwanted == 0);
}

TEST_CASE("a tensor that the result does not depend on is refused by name, or gets zeros") {
  const Tensor x = variable(1, "x");
  const Tensor w = variable(Array(Shape{2}, Real(1)), "w");
  check_refused<GraphError>({{[&] { grad(x * x, {x, w}); }, {"grad: the result does not depend on 'w'", ".unused"}}});
  const Tensors g = grad(x * x, {x, w}, {.unused = Unused::zeros});
  CHECK(g[0].item() == 2);
  CHECK(equal(g[1].value(), Array(Shape{2}, Real(0))));
  const Tensor later = x * 3;  // newer than the result
  CHECK(grad(x * x, {later}, {.unused = Unused::zeros})[0].item() == 0);
}

TEST_CASE("a tensor that wants no gradient is refused, and so is a result without one") {
  const Tensor x = variable(1, "x");
  const Tensor g = grad(x * x, {x})[0];
  const Tensor y = [&] {
    const NoGrad off;
    return exp(x) * x;
  }();
  const Tensor constant(Array(Shape{2, 3}, Real(1)));
  check_refused<GraphError>({
      {[&] { grad(x * x, {constant}); }, {"grad: a tensor of shape [2, 3] does not require a gradient"}},
      {[&] { grad(Tensor(1) * 2, {x}); }, {"grad: the result depends on nothing that requires a gradient"}},
      {[] { Tensor(1).backward(); }, {"backward: the result depends on nothing that requires a gradient"}},
      {[&] { g.backward(); }, {"backward: the result comes from a gradient that was computed without a graph"}},
      {[&] { y.backward(); }, {"backward: the result was computed under NoGrad"}},
      {[&] { grad(y, {x}); }, {"grad: the result was computed under NoGrad"}},
  });
}

TEST_CASE("a result that is no scalar needs a seed of its shape") {
  const Tensor x = variable(Array(Shape{3, 4}, Real(2)), "x");
  const Tensor turned(Array(Shape{4, 3}, Real(1))), single(Array(Shape{1}, Real(1)));
  check_refused<GraphError>({{[&] { (x * x).backward(); }, {"backward: the result has shape [3, 4]", "seed"}}});
  check_refused<ShapeError>({
      {[&] { grad(x * x, {x}, {.seed = turned}); }, {"grad: the seed has shape [4, 3], the result has shape [3, 4]"}},
      {[&] { sum(x).backward({.seed = single}); }, {"backward: the seed has shape [1], the result has shape []"}},
  });
  const Array seed = normal({3, 4});
  const Array g = grad(x * x, {x}, {.seed = Tensor(seed)})[0].value();
  for (std::int64_t i = 0; i < 12; ++i) CHECK(g.data()[i] == 4 * seed.data()[i]);
  const Tensor one(Array(Shape{1, 1}, Real(3)));
  one.set_requires_grad();
  CHECK(equal(grad(one * one, {one})[0].value(), Array(Shape{1, 1}, Real(6))));
}

TEST_CASE("NaN in a seed goes where it belongs") {
  const Tensor x = variable(Array(Shape{2}, Real(1)));
  const Array g =
      grad(x * 2, {x}, {.seed = Tensor(Array(Shape{2}, {std::numeric_limits<Real>::quiet_NaN(), 1}))})[0].value();
  CHECK(std::isnan(g.at({0})));
  CHECK(g.at({1}) == 2);
}

TEST_CASE("a seed with history is differentiated, too") {
  const Tensor x = variable(3, "x");
  const Tensor v = variable(5, "v");
  const Tensor g = grad(x * x, {x}, {.seed = v, .create_graph = true})[0];  // 2 x v
  CHECK(grad(g, {v})[0].item() == 6);
}

// ---- Graphs that were used ------------------------------------------------------------------------------------------

TEST_CASE("a second pass over a released graph is refused by every operation, also by those that keep nothing") {
  const Tensor x = variable(Array(Shape{2, 2}, Real(0.5)), "x");
  const std::vector<Tensor> results{x + x,
                                    x - 1,
                                    x * 3,
                                    x / 2,
                                    -x,
                                    exp(x),
                                    tanh(x),
                                    sum(x),
                                    mean(x),
                                    max(x),
                                    transpose(x),
                                    reshape(x, {4}),
                                    sum_to(x, {}),
                                    alias(x),
                                    where(x > 0, x, x),
                                    broadcast_to(x, {3, 2, 2})};
  for (const Tensor& y : results) {
    const BackwardOptions options{.seed = Tensor(Array(y.shape(), Real(1)))};
    y.backward(options);
    const Array before = x.grad().value();
    const std::string op = y.node()->op;
    const std::string message =
        "the graph was already released by an earlier backward pass (at " + op + ")" + released_message;
    CHECK(error_of<GraphError>([&] { y.backward(options); }) == "backward: " + message);
    CHECK(error_of<GraphError>([&] { grad(y, {x}, {.seed = options.seed}); }) == "grad: " + message);
    CHECK(equal(x.grad().value(), before));
  }
}

TEST_CASE("a part that two graphs share is released with the first") {
  const Tensor x = variable(2, "x");
  const Tensor shared = x * x;
  const Tensor a = shared * 3;
  const Tensor b = shared * 5;
  a.backward();
  CHECK(error_of<GraphError>([&] { b.backward(); }).find("(at mul)") != std::string::npos);
  CHECK(x.grad().item() == 12);
}

TEST_CASE("a retained graph can be used any number of times") {
  const Tensor x = variable(2, "x");
  const Tensor y = x * x;
  for (int i = 1; i <= 3; ++i) {
    y.backward({.retain_graph = true});
    CHECK(x.grad().item() == 4 * i);
  }
  CHECK(grad(y, {x}, {.retain_graph = true})[0].item() == 4);
  CHECK(grad(y, {x}, {.create_graph = true})[0].item() == 4);
  y.backward();
  CHECK(x.grad().item() == 16);
  error_of<GraphError>([&] { y.backward(); });
}

TEST_CASE("what a pass did not visit is not released") {
  const Tensor x = variable(2, "x");
  const Tensor w = variable(3, "w");
  const Tensor side = w * w;
  const Tensor y = x * x + side;
  CHECK(grad(y, {x})[0].item() == 4);
  CHECK(grad(side, {w})[0].item() == 6);
}

TEST_CASE("a value that was assigned after a rule captured it is noticed, with operation and name") {
  const Tensor w = variable(3, "in.weight");
  const Tensor x = variable(2, "x");
  Tensor y = w * x;
  w.assign(Array(Shape{}, Real(4)));
  CHECK(error_of<GraphError>([&] { y.backward(); }) ==
        "mul: 'in.weight' was assigned after it was used here; run the forward pass again");
  CHECK_FALSE(x.has_grad());
  y = exp(tanh(w)) / x;
  x.update([](Array& value) { value.mutable_data()[0] = 7; });
  CHECK(error_of<GraphError>([&] { grad(y, {w}); }).starts_with("div: 'x' was assigned"));
  const Tensor unnamed = variable(1);
  y = unnamed * unnamed;
  unnamed.assign(Array(Shape{}, Real(2)));
  CHECK(error_of<GraphError>([&] { y.backward(); }).starts_with("mul: an input was assigned"));
}

TEST_CASE("an assignment does no harm where no rule needs the value") {
  const Tensor w = variable(3, "w");
  const Tensor y = w + 1;
  const Tensor z = tanh(w);  // keeps its result
  w.assign(Array(Shape{}, Real(4)));
  CHECK(grad(y, {w})[0].item() == 1);
  CHECK(grad(z, {w})[0].item() == doctest::Approx(1 - std::tanh(3.0) * std::tanh(3.0)).epsilon(1e-14));
}

TEST_CASE("a constant that was assigned is noticed as well as a variable") {
  const Tensor c = Tensor(3).named("c");
  const Tensor x = variable(2, "x");
  const Tensor y = c * x;
  c.assign(Array(Shape{}, Real(4)));
  CHECK(error_of<GraphError>([&] { y.backward(); }).starts_with("mul: 'c' was assigned"));
}

// ---- Rules and hooks that go wrong ----------------------------------------------------------------------------------

TEST_CASE("a rule that returns a wrong shape, or nothing, is named") {
  const Tensor x = variable(Array(Shape{2, 3}, Real(1)), "x");
  const auto with = [&](auto rule) { return sum(record("my_op", Array(Shape{2, 3}, Real(1)), wrt(x, rule))); };
  check_refused<GraphError>({
      {[&] { with([](const Tensor&) { return Tensor(1); }).backward(); }, {"my_op:", "shape [] for", "shape [2, 3]"}},
      {[&] { with([](const Tensor& gy) { return transpose(gy); }).backward(); }, {"my_op:", "[3, 2]", "[2, 3]"}},
      {[&] { with([](const Tensor&) { return Tensor(); }).backward(); }, {"my_op:", "returned nothing", "[2, 3]"}},
  });
  CHECK_FALSE(x.has_grad());
}

TEST_CASE("an error inside a rule names the module that recorded the operation") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  Tensor y;
  {
    const Scope scope(intern("decoder.head"));
    y = record("my_op", Array(Shape{2}, Real(1)), wrt(x, [](const Tensor&) { return Tensor(1); }));
  }
  const std::string message = error_of<GraphError>([&] { sum(y).backward(); });
  CHECK(message.ends_with("\n  in decoder.head"));
}

TEST_CASE("an exception of rule 500 of 1,000 leaves all gradients as they were, and the next pass is right") {
  const Tensor x = variable(1, "x");
  const Tensor w = variable(2, "w");
  bool broken = false;
  const auto forward = [&] {
    Tensor y = x * w;
    for (int i = 0; i < 500; ++i) y = y + 1;
    y = fragile(y, broken);
    for (int i = 0; i < 500; ++i) y = y + w;
    return y;
  };
  forward().backward();
  CHECK(x.grad().item() == 2);
  CHECK(w.grad().item() == 501);
  broken = true;
  const auto start = live_node_count();
  CHECK_THROWS_WITH_AS(forward().backward(), "broken", std::runtime_error);
  CHECK(live_node_count() == start);
  const Tensor retained = forward();
  CHECK_THROWS_AS(retained.backward({.retain_graph = true}), std::runtime_error);
  CHECK(x.grad().item() == 2);
  CHECK(w.grad().item() == 501);
  broken = false;
  retained.backward();
  CHECK(x.grad().item() == 4);
  CHECK(w.grad().item() == 1002);
  forward().backward();
  CHECK(x.grad().item() == 6);
}

TEST_CASE("an exception of a hook leaves all gradients as they were, and the next pass is right") {
  const Tensor x = variable(1, "x");
  const Tensor w = variable(2, "w");
  bool broken = true;
  const auto fail_if_broken = [&broken](const Tensor&) {
    if (broken) throw std::runtime_error("broken");
    return Tensor();
  };
  const std::uint64_t hook = x.on_grad(fail_if_broken);
  CHECK_THROWS_AS((x * w).backward(), std::runtime_error);
  CHECK_FALSE(x.has_grad());
  CHECK_FALSE(w.has_grad());
  x.remove_hook(hook);
  const Tensor middle = x * w;
  middle.on_grad(fail_if_broken);
  const Tensor y = middle * w;
  CHECK_THROWS_AS(y.backward({.retain_graph = true}), std::runtime_error);
  CHECK_FALSE(w.has_grad());
  broken = false;
  y.backward();
  CHECK(w.grad().item() == 4);
  CHECK(x.grad().item() == 4);
}

// ---- Hooks and kept gradients ---------------------------------------------------------------------------------------

TEST_CASE("a hook on a leaf sees its complete gradient once, and what it returns takes the gradient's place") {
  const Tensor x = variable(3, "x");
  std::vector<Real> seen;
  const std::uint64_t first = x.on_grad([&](const Tensor& g) {
    seen.push_back(g.item());
    return g * 2;
  });
  x.on_grad([&](const Tensor& g) {
    seen.push_back(g.item());
    return Tensor();
  });
  (x * x + x).backward();
  CHECK(seen == std::vector<Real>{7, 14});
  CHECK(x.grad().item() == 14);
  CHECK(grad(x * x, {x})[0].item() == 12);
  x.remove_hook(first);
  seen.clear();
  CHECK(grad(x * x, {x})[0].item() == 6);
  CHECK(seen == std::vector<Real>{6});
  x.remove_hook(12345);  // unknown numbers are ignored
}

TEST_CASE("a hook on a result changes what flows on from there") {
  const Tensor x = variable(3, "x");
  const Tensor y = x * x;
  int calls = 0;
  y.on_grad([&](const Tensor& g) {
    ++calls;
    return g * 10;
  });
  const Tensors g = grad(y * 2 + y, {y, x});
  CHECK(calls == 1);
  CHECK(g[0].item() == 30);
  CHECK(g[1].item() == 180);
}

TEST_CASE("a hook may remove itself, and is called in the passes of every order") {
  const Tensor x = variable(3, "x");
  std::uint64_t number = 0;
  int calls = 0;
  number = x.on_grad([&](const Tensor&) {
    ++calls;
    x.remove_hook(number);
    return Tensor();
  });
  (x * x).backward();
  (x * x).backward();
  CHECK(calls == 1);
  x.on_grad([](const Tensor& g) { return g * 2; });
  const Tensor g = grad(x * x * x, {x}, {.create_graph = true})[0];  // 2 * 3 x^2
  CHECK(g.item() == 54);
  CHECK(grad(g, {x})[0].item() == 2 * 36);
}

TEST_CASE("a hook that returns a wrong shape is refused, and so is one where no gradient flows") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  x.on_grad([](const Tensor&) { return Tensor(1); });
  CHECK(error_of<ShapeError>([&] { sum(x).backward(); }) ==
        "on_grad: a hook returned shape [] for a gradient of shape [2]");
  CHECK(error_of<GraphError>([] { Tensor(1).on_grad([](const Tensor& g) { return g; }); }) ==
        "on_grad: no gradient flows to this tensor");
  CHECK(error_of<ValueError>([&] { x.on_grad({}); }) == "on_grad: the function is empty");
}

TEST_CASE("results keep their gradient when they are told to") {
  const Tensor x = variable(3, "x");
  const Tensor y = (x * x).named("y");
  const Tensor z = (y * 2).retain_grad();
  y.retain_grad();
  (z + y).backward();
  CHECK(y.grad().item() == 3);
  CHECK(z.grad().item() == 1);
  CHECK(x.grad().item() == 18);
  const Tensor other = x * x;
  other.backward();
  CHECK_FALSE(other.has_grad());
  CHECK(error_of<GraphError>([] { Tensor(1).retain_grad(); }) == "retain_grad: no gradient flows to this tensor");
}

TEST_CASE("the gradients of different leaves share no memory, nor do they share the seed's") {
  const Tensor a = variable(Array(Shape{3}, Real(1)), "a");
  const Tensor b = variable(Array(Shape{3}, Real(1)), "b");
  const Tensor seed(Array(Shape{3}, Real(1)));
  (a + b).backward({.seed = seed});
  CHECK(a.grad().value().data() != b.grad().value().data());
  CHECK(a.grad().value().data() != seed.value().data());
  (a + b).backward({.seed = seed});
  CHECK(equal(a.grad().value(), Array(Shape{3}, Real(2))));
  CHECK(equal(b.grad().value(), Array(Shape{3}, Real(2))));
  CHECK(equal(seed.value(), Array(Shape{3}, Real(1))));
}

TEST_CASE("a hook that keeps a gradient has it unchanged whatever is added to it later") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  const Tensor y = x * 1;
  Tensor kept;
  y.on_grad([&](const Tensor& g) {
    kept = g;
    return Tensor();
  });
  sum(y + x + x).backward();
  CHECK(equal(kept.value(), Array(Shape{2}, Real(1))));
  CHECK(equal(x.grad().value(), Array(Shape{2}, Real(3))));
}

// ---- Passes within passes, threads, processes -----------------------------------------------------------------------

TEST_CASE("a pass inside a hook over the same graph is refused, over another graph it works") {
  const Tensor x = variable(3, "x");
  const Tensor y = x * x;
  const Tensor z = y * x;
  std::string message;
  Real other = 0;
  y.on_grad([&](const Tensor&) {
    message = error_of<GraphError>([&] { grad(z, {x}); });
    const EnableGrad on;
    const Tensor w = variable(5, "w");
    other = grad(w * w, {w})[0].item();
    return Tensor();
  });
  CHECK(grad(z, {x})[0].item() == 27);
  CHECK(message == "grad: the graph is in use by another backward pass (at mul)");
  CHECK(other == 10);
}

TEST_CASE("two passes over one graph at the same time: one is refused, the other is right") {
  const Tensor x = variable(3, "x");
  const Tensor y = x * x;
  const Tensor z = y * x;
  std::atomic<bool> inside{false}, refused{false};
  y.on_grad([&](const Tensor&) {
    inside = true;
    while (!refused) std::this_thread::yield();
    return Tensor();
  });
  std::string message;
  std::thread other([&] {
    while (!inside) std::this_thread::yield();
    message = error_of<GraphError>([&] { grad(z, {x}, {.retain_graph = true}); });
    refused = true;
  });
  const Real result = grad(z, {x})[0].item();
  other.join();
  CHECK(result == 27);
  CHECK(message == "grad: the graph is in use by another backward pass (at mul)");
}

TEST_CASE("results are the same bit for bit with any number of threads") {
  const auto run = [] {
    const Tensor w = variable(normal({40, 3000}, 1), "w");
    Tensor y = w;
    for (int i = 0; i < 3; ++i) y = tanh(y * w + mean(y, 0));
    return grad(sum(exp(y)), {w})[0].value();
  };
  check_same_bits(run);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

TEST_CASE("10,000 training steps leave nodes and memory where they were, and ask the system for nothing") {
  const Tensor w = variable(normal({8, 4}, 1), "w");
  const Tensor b = variable(Array(Shape{4}, Real(0)), "b");
  const Tensor x(normal({8}, 2));
  const auto step = [&] {
    const Tensor y = tanh(sum(w * unsqueeze(x, 1), 0) + b);
    const Tensor loss = mean((y - 0.5) * (y - 0.5));
    loss.backward();
    for (const Tensor& parameter : {w, b}) {
      const Array g = parameter.grad().value();
      parameter.update([&](Array& value) {
        Real* to = value.mutable_data();
        for (std::int64_t i = 0; i < value.size(); ++i) to[i] -= Real(0.1) * g.data()[i];
      });
      parameter.zero_grad();
    }
    return loss.item();
  };
  const Real first = step();
  for (int i = 0; i < 10; ++i) step();
  const auto nodes = live_node_count();
  const PoolStats before = pool_stats();
  pool_release(pool_allocate(64), 64);
  const bool pooling = pool_stats().system_requests == before.system_requests;
  Real last = 0;
  for (int i = 0; i < 10'000; ++i) {
    last = step();
    if (i % 1000 == 0) CHECK(live_node_count() == nodes);
  }
  const PoolStats after = pool_stats();
  CHECK(last < 1e-6 * first);
  CHECK(live_node_count() == nodes);
  CHECK(after.bytes_in_use == before.bytes_in_use);
  if (pooling) CHECK(after.system_requests == before.system_requests);
}

TEST_CASE("memory falls while a pass releases the graph") {
  const Tensor x = variable(Array(Shape{10'000}, Real(0.5)));
  Tensor y = x;
  for (int i = 0; i < 50; ++i) y = tanh(y);
  const auto full = pool_stats().bytes_in_use;
  std::int64_t near_the_end = 0;
  x.on_grad([&](const Tensor&) {
    near_the_end = pool_stats().bytes_in_use;
    return Tensor();
  });
  sum(y).backward();
  CHECK(full - near_the_end > 40 * 10'000 * static_cast<std::int64_t>(sizeof(Real)));
}

TEST_CASE("an ordinary pass records nothing") {
  const Tensor x = variable(1);
  Tensor y = x;
  for (int i = 0; i < 10; ++i) y = tanh(y * x);
  const auto before = live_node_count();
  const Tensor g = grad(y, {x}, {.retain_graph = true})[0];
  CHECK(live_node_count() == before);
  CHECK_FALSE(g.requires_grad());
  CHECK_FALSE(g.node());
  CHECK(grad(y, {x}, {.create_graph = true})[0].requires_grad());
}

// ---- composed_gradients ---------------------------------------------------------------------------------------------

TEST_CASE("composed gradients treat each input for itself, also if two are the same tensor") {
  const auto composed = [](const Tensor& a, const Tensor& b) { return a * a * b; };
  const auto fused = [&](const Tensor& a, const Tensor& b) {
    return record("fused", composed(a.detach(), b.detach()).value(),
                  jointly(
                      [=](const Tensor& gy, Wanted wanted) {
                        return composed_gradients(std::array{a, b}, gy, wanted, composed);
                      },
                      a, b));
  };
  const Tensor x = variable(2, "x");
  const Tensor w = variable(3, "w");
  const Tensors g = grad(fused(x, w), {x, w}, {.create_graph = true});
  CHECK(g[0].item() == 12);
  CHECK(g[1].item() == 4);
  CHECK(grad(g[0], {x})[0].item() == 6);
  const Tensor first = grad(fused(x, x), {x}, {.create_graph = true})[0];  // 3 x^2
  CHECK(first.item() == 12);
  CHECK(grad(first, {x})[0].item() == 12);
  CHECK(grad(fused(Tensor(5), w), {w})[0].item() == 25);
  CHECK(grad(fused(x, w), {x})[0].item() == 12);
}

TEST_CASE("an alias is a vertex of its own") {
  const Tensor x = variable(2, "x");
  const Tensor a = alias(x);
  const Tensors g = grad(a * x * x, {a, x});
  CHECK(g[0].item() == 4);
  CHECK(g[1].item() == 12);
}

TEST_CASE("a leaf that is unfrozen after the forward pass gets no gradient from it") {
  const Tensor frozen = Tensor(Array(Shape{2}, {1, 2}));
  const Tensor x = variable({3, 4}, "x");
  const Tensor y = sum(frozen * x);
  frozen.named("w").set_requires_grad();
  CHECK(equal(grad(y, {x}, {.retain_graph = true})[0].value(), Array(Shape{2}, {1, 2})));
  CHECK(error_of<GraphError>([&] { grad(y, {frozen}); }) ==
        "grad: 'w' did not require a gradient yet when the result was computed from it; run the forward pass again");
  y.backward();
  CHECK_FALSE(frozen.has_grad());
  CHECK(x.has_grad());
}

TEST_CASE("an input of a joint rule that is unfrozen after the forward pass is not asked for") {
  const Tensor q = variable(normal({1, 2, 3, 4}));
  const Tensor k = Tensor(normal({1, 2, 3, 4}, 2)), v = Tensor(normal({1, 2, 3, 4}, 3));
  const Tensor y = sum(scaled_dot_product_attention(q, k, v));
  k.set_requires_grad();
  y.backward();
  CHECK(q.has_grad());
  CHECK_FALSE(k.has_grad());
}

TEST_CASE("a leaf that is frozen after the forward pass gets no gradient, either") {
  const Tensor w = variable({1, 2}), x = variable({3, 4});
  const Tensor y = sum(w * x);
  w.set_requires_grad(false);
  y.backward();
  CHECK_FALSE(w.has_grad());
  CHECK(equal(x.grad().value(), Array(Shape{2}, {1, 2})));
}

TEST_CASE("hooks and rules may drop the tensors that the pass was called with") {
  const Tensor x = variable({1, 2}, "x");
  Tensor y;
  Tensors wanted;
  const auto forward = [&] {
    const Tensor middle = x * 3;
    y = sum(middle * middle);
    wanted = {x};
    middle.on_grad([&](const Tensor&) {
      y = Tensor();
      wanted.clear();
      return Tensor();
    });
  };
  forward();
  CHECK(equal(grad(y, wanted)[0].value(), Array(Shape{2}, {18, 36})));
  CHECK_FALSE(y.defined());
  forward();
  y.backward();
  CHECK(equal(x.grad().value(), Array(Shape{2}, {18, 36})));

  Tensor loss;
  loss = record("drops", Array(Shape{}, Real(1)), wrt(x, [&loss](const Tensor& gy) {
                  loss = Tensor();
                  return gy * Tensor(Array(Shape{2}, {5, 6}));
                }));
  loss.backward();
  CHECK(equal(x.grad().value(), Array(Shape{2}, {23, 42})));
}

TEST_CASE("a joint rule serves any number of inputs") {
  Tensors xs;
  for (int i = 0; i < 20; ++i) xs.push_back(variable(Real(i)));
  const auto rule = [](const Tensor& gy, Wanted wanted) {
    std::array<Tensor, 20> gradients;
    for (int i = 0; i < 20; ++i) {
      CHECK(wanted[i]);
      gradients[static_cast<std::size_t>(i)] = gy * i;
    }
    return gradients;
  };
  const Tensor y = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return record("many", Array(Shape{}, Real(1)), jointly(rule, xs[I]...));
  }
  (std::make_index_sequence<20>());
  const Tensors g = grad(y * 2, xs);
  for (int i = 0; i < 20; ++i) CHECK(g[static_cast<std::size_t>(i)].item() == 2 * i);
}

TEST_CASE("a rule may be given before its temporary input ends") {
  const Tensor x = variable({1, 2});
  auto rule = wrt(x * 2, [](const Tensor& gy) { return gy; });
  auto rules = jointly([](const Tensor& gy, Wanted) { return std::array{gy, gy}; }, x * 2, x * 3);
  auto each = wrt_each(Tensors{x * 2, x * 5}, [](std::size_t) { return [](const Tensor& gy) { return gy; }; });
  const Array ones(Shape{2}, Real(1));
  CHECK(equal(grad(sum(record("one", ones, std::move(rule))), {x})[0].value(), Array(Shape{2}, Real(2))));
  CHECK(equal(grad(sum(record("two", ones, std::move(rules))), {x})[0].value(), Array(Shape{2}, Real(5))));
  CHECK(equal(grad(sum(record("each", ones, std::move(each))), {x})[0].value(), Array(Shape{2}, Real(7))));
}

TEST_CASE("each gradient is a tensor of its own") {
  const Tensor x = variable({1, 2}), z = variable({3, 4});
  const Tensor seed = Tensor(Array(Shape{2}, {5, 6}));
  const Tensors g = grad(x + z, {x, z, x}, {.seed = seed});
  g[0].assign(Array(Shape{2}, Real(0)));
  CHECK(equal(g[1].value(), Array(Shape{2}, {5, 6})));
  CHECK(equal(g[2].value(), Array(Shape{2}, {5, 6})));
  CHECK(equal(seed.value(), Array(Shape{2}, {5, 6})));
  const Tensors h = grad(x + z, {x, z}, {.seed = seed, .create_graph = true});
  h[0].assign(Array(Shape{2}, Real(0)));
  CHECK(equal(h[1].value(), Array(Shape{2}, {5, 6})));
  CHECK(equal(seed.value(), Array(Shape{2}, {5, 6})));
}

TEST_CASE("a hook that changes the gradient it is shown changes this gradient alone") {
  const Tensor x = variable({1, 2}), z = variable({3, 4});
  const Tensor seed = Tensor(Array(Shape{2}, {5, 6}));
  x.on_grad([](const Tensor& g) {
    g.update([](Array& value) { value = Array(Shape{2}, Real(0)); });
    return Tensor();
  });
  const Tensors g = grad(x + z, {x, z}, {.seed = seed});
  CHECK(equal(g[0].value(), Array(Shape{2}, Real(0))));
  CHECK(equal(g[1].value(), Array(Shape{2}, {5, 6})));
  CHECK(equal(seed.value(), Array(Shape{2}, {5, 6})));
}

TEST_CASE("a leaf that is assigned during a pass, before its old value was needed, ends the pass") {
  const Tensor x = variable({1, 2}, "x"), w = variable({3, 4}, "w");
  const Tensor middle = x * w;
  const Tensor y = sum(middle * middle);
  const auto hook = middle.on_grad([&](const Tensor&) {
    w.assign(Array(Shape{2}, Real(100)));
    return Tensor();
  });
  CHECK(error_of<GraphError>([&] { y.backward(); }) ==
        "mul: 'w' was assigned after it was used here; run the forward pass again");
  CHECK_FALSE(x.has_grad());
  CHECK_FALSE(w.has_grad());
  middle.remove_hook(hook);
}

TEST_CASE("ready is told of each gradient once, as soon as it is complete, the last layer's first") {
  const Tensor first = variable({1, 2}, "first"), last = variable({3, 4}, "last"), unused = variable(5, "unused");
  std::vector<std::string> order;
  const auto rule = [&](const char* name) {
    return [&order, name](const Tensor& gy) {
      order.push_back(name);
      return 2 * gy;
    };
  };
  const auto twice = [&](const Tensor& x, const char* name) {
    return record("twice", (2 * x).value(), wrt(x, rule(name)));
  };
  const auto run = [&](bool create_graph) {
    order.clear();
    std::vector<Array> told(4);
    const Tensor hidden = twice(first, "rule of first");
    const Tensor y = sum(last * twice(hidden * last, "rule of hidden"));
    const Tensors xs{last, hidden, unused, first};
    const Tensors found = grad(y, xs,
                               {.create_graph = create_graph,
                                .unused = Unused::zeros,
                                .ready = [&](const Tensor& x, const Tensor& gradient) {
                                  for (std::size_t i = 0; i < xs.size(); ++i) {
                                    if (same(x, xs[i])) told[i] = gradient.value();
                                  }
                                  order.push_back(x.name().empty() ? "hidden" : x.name());
                                }});
    CHECK(order == std::vector<std::string>{"rule of hidden", "last", "hidden", "rule of first", "first", "unused"});
    for (std::size_t i = 0; i < xs.size(); ++i) CHECK(equal(told[i], found[i].value()));
    check_close(found[0].value(), Array(std::vector<Real>{4 * 2 * 3, 4 * 4 * 4}));  // d (2 h l^2)/dl = 4 h l
    check_close(found[3].value(), Array(std::vector<Real>{4 * 9, 4 * 16}));         // 2 l^2 dh/dfirst
    return found;
  };
  CHECK_FALSE(run(false)[0].requires_grad());
  CHECK(run(true)[0].requires_grad());
}

TEST_CASE("hooks of leaves come before ready, and what ready throws ends the pass") {
  const Tensor x = variable({1, 2}, "x");
  x.on_grad([](const Tensor& gradient) { return 10 * gradient; });
  std::vector<Array> told;
  const GradOptions options{.ready = [&](const Tensor&, const Tensor& gradient) { told.push_back(gradient.value()); }};
  grad(sum(x * x), {x, x}, options);
  REQUIRE(told.size() == 2);
  for (const Array& gradient : told) check_close(gradient, Array(std::vector<Real>{20, 40}));
  const Tensor y = sum(x * x);
  CHECK_THROWS_AS(grad(y, {x}, {.ready = [](const Tensor&, const Tensor&) { throw ValueError("enough"); }}),
                  ValueError);
}
