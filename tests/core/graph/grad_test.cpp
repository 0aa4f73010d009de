// Tests of core/graph/grad.h: values of gradients, what passes touch and refuse, hooks, depth and memory.
#include <xgrad/core/graph/grad.h>

#include <cmath>
#include <stdexcept>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/pool.h"
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

// Checks the gradients of y with respect to xs, scalars all.
void check_grad(const Tensor& y, const Tensors& xs, const std::vector<Real>& expected,
                const GradOptions& options = {}) {
  std::vector<Real> found;
  for (const Tensor& g : grad(y, xs, options)) found.push_back(g.item());
  CHECK(found == expected);
}

}  // namespace

// ---- Values ---------------------------------------------------------------------------------------------------------

TEST_CASE("gradients are those of the calculus, and gradients meeting at a tensor are added") {
  const Tensor a = variable(2, "a"), b = variable(-3, "b"), c = variable(10, "c"), f = variable(-2, "f");
  check_grad((a * b + c) * f, {a, b, c, f}, {6, -4, -2, 4});
  const Tensor x = variable(3);
  check_grad(x + x, {x}, {2});
  check_grad(x * x, {x}, {6});
  check_grad(x - x, {x}, {0});
  check_grad(x / x, {x}, {0});
  check_grad(x * x * x, {x}, {27});
  Tensor y = x;
  for (int i = 1; i < 1000; ++i) y = y + x;
  check_grad(y, {x}, {1000});
  const Tensor alias_of_x = alias(x);  // a vertex of its own
  check_grad(alias_of_x * x * x, {alias_of_x, x}, {9, 27});
}

TEST_CASE("a fan-out of 100,000 separate uses gives their exact sum") {
  const Tensor x = variable(1);
  const Tensor y = tanh(x);
  Tensors uses;
  for (int i = 0; i < 100'000; ++i) uses.push_back(y * 2);
  const Tensor total = record("total", Array(Shape{}, Real(0)),
                              wrt_each(uses, [](std::size_t) { return [](const Tensor& gy) { return gy; }; }));
  check_grad(total, {y}, {200'000});
}

TEST_CASE("a ladder of 60 diamonds, 2^60 paths, visits each node once") {
  int calls = 0;
  const Tensor x = variable(1);
  Tensor y = x, z = x;
  for (int i = 0; i < 60; ++i) {
    y = (counted(y, calls) + counted(y, calls)) * 0.5;
    z = counted(z, calls) + z;
  }
  check_grad(y, {x}, {1});
  CHECK(calls == 120);
  check_grad(z, {x}, {0x1p60});
  CHECK(calls == 120 + 60);
}

TEST_CASE("long chains and the graphs of their backward passes are recorded, differentiated and dropped on 256 KiB") {
  const auto start = live_node_count();
  on_small_stack([] {
    const Tensor x = variable(1);
    Tensor y = x;
    for (int i = 0; i < long_chain; ++i) y = y + 1;
    y.backward();
    CHECK(y.item() == long_chain + 1);
    CHECK(x.grad().item() == 1);
  });
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

TEST_CASE("the first four derivatives of tanh are those of the calculus") {
  for (const Real at : {-2.0, -0.5, 0.0, 0.3, 1.7}) {
    const Tensor x = variable(at);
    Tensor y = tanh(x);
    const double t = std::tanh(at), u = 1 - t * t;
    for (const double expected : {u, -2 * t * u, -2 * u * (1 - 3 * t * t), 8 * t * u * (2 - 3 * t * t)}) {
      y = grad(y, {x}, {.create_graph = true})[0];
      CHECK(y.item() == doctest::Approx(expected).epsilon(1e-13));
    }
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

TEST_CASE("a gradient penalty is differentiated through the gradient and the loss at once, and so is a seed") {
  // L = x^3 + (3 x^2)^2      dL/dx = 3 x^2 + 36 x^3
  const Tensor x = variable(2, "x"), v = variable(5, "v");
  const Tensor y = x * x * x;
  const Tensor g = grad(y, {x}, {.create_graph = true})[0];
  (y + g * g).backward();
  CHECK(x.grad().item() == 12 + 288);
  check_grad(grad(x * x, {x}, {.seed = v, .create_graph = true})[0], {v}, {4});  // of 2 x v
}

// ---- What is asked for ----------------------------------------------------------------------------------------------

TEST_CASE("the result itself may be among what is asked for, and so may the same tensor twice, or nothing") {
  const Tensor x = variable(2);
  const Tensor y = x * x;
  check_grad(y, {y, x, x}, {5, 20, 20}, {.seed = Tensor(5)});
  check_grad(x, {x}, {1});
  check_grad(x, {x}, {3}, {.seed = Tensor(3)});
  check_grad(x * x, {}, {});
  CHECK_REFUSED(GraphError, grad(Tensor(1), {}), "grad", "depends on nothing that requires a gradient");
}

TEST_CASE("only what leads to the requested tensors is visited, and what was not visited is not released") {
  int wanted = 0, unwanted = 0;
  const Tensor x = variable(2, "x"), w = variable(3, "w");
  const Tensor side = counted(w, unwanted) * w;
  check_grad(counted(x, wanted) * x + side, {x}, {4});
  CHECK(wanted == 1);
  CHECK(unwanted == 0);
  check_grad(side, {w}, {6});
}

TEST_CASE("a tensor that the result does not depend on is refused by name, or gets zeros") {
  const Tensor x = variable(1, "x");
  const Tensor w = variable(Array(Shape{2}, Real(1)), "w");
  CHECK_REFUSED(GraphError, grad(x * x, {x, w}), "grad", "the result does not depend on 'w'", ".unused");
  const Tensors g = grad(x * x, {x, w}, {.unused = Unused::zeros});
  CHECK(g[0].item() == 2);
  CHECK(equal(g[1].value(), Array(Shape{2}, Real(0))));
  const Tensor later = x * 3;  // newer than the result
  check_grad(x * x, {later}, {0}, {.unused = Unused::zeros});
}

TEST_CASE("a tensor that wants no gradient is refused, and so is a result without one") {
  const Tensor x = variable(1, "x"), constant(Array(Shape{2, 3}, Real(1)));
  const Tensor g = grad(x * x, {x})[0];
  const Tensor y = [&] {
    const NoGrad off;
    return exp(x) * x;
  }();
  CHECK_REFUSED(GraphError, grad(x * x, {constant}), "grad", "a tensor of shape [2, 3] does not require a gradient");
  CHECK_REFUSED(GraphError, grad(Tensor(1) * 2, {x}), "grad", "the result depends on nothing that requires a gradient");
  CHECK_REFUSED(GraphError, Tensor(1).backward(), "backward", "the result depends on nothing that requires a gradient");
  CHECK_REFUSED(GraphError, g.backward(), "backward", "the result comes from a gradient that was computed without");
  CHECK_REFUSED(GraphError, y.backward(), "backward", "the result was computed under NoGrad");
  CHECK_REFUSED(GraphError, grad(y, {x}), "grad", "the result was computed under NoGrad");
}

TEST_CASE("a result that is no scalar needs a seed of its shape, and NaN in it goes where it belongs") {
  const Tensor x = variable(Array(Shape{3, 4}, Real(2)), "x");
  const Tensor turned(Array(Shape{4, 3}, Real(1))), single(Array(Shape{1}, Real(1)));
  CHECK_REFUSED(GraphError, (x * x).backward(), "backward", "the result has shape [3, 4], not one element",
                "sum() or mean()", "seed");
  CHECK_REFUSED(ShapeError, grad(x * x, {x}, {.seed = turned}), "grad", "the seed has shape [4, 3]", "shape [3, 4]");
  CHECK_REFUSED(ShapeError, sum(x).backward({.seed = single}), "backward", "the seed has shape [1]", "shape []");
  Array seed = normal({3, 4});
  seed.mutable_data()[5] = not_a_number;
  const Array g = grad(x * x, {x}, {.seed = Tensor(seed)})[0].value();
  for (std::int64_t i = 0; i < 12; ++i) CHECK((i == 5 ? std::isnan(g.data()[i]) : g.data()[i] == 4 * seed.data()[i]));
  const Tensor one(Array(Shape{1, 1}, Real(3)));
  one.set_requires_grad();
  CHECK(equal(grad(one * one, {one})[0].value(), Array(Shape{1, 1}, Real(6))));
}

// ---- Graphs that were used ------------------------------------------------------------------------------------------

TEST_CASE("a second pass over a released graph is refused by every operation, also by those that keep nothing") {
  const Tensor x = variable(Array(Shape{2, 2}, Real(0.5)), "x");
  for (const Tensor& y : Tensors{x + x, x - 1, x * 3, x / 2, -x, exp(x), tanh(x), sum(x), mean(x), max(x), transpose(x),
                                 reshape(x, {4}), sum_to(x, {}), alias(x), where(x > 0, x, x),
                                 broadcast_to(x, {3, 2, 2})}) {
    const BackwardOptions options{.seed = Tensor(Array(y.shape(), Real(1)))};
    y.backward(options);
    const Array before = x.grad().value();
    const std::string refusal =
        str("already released by an earlier backward pass (at ", detail::Engine::node(y)->op, ")");
    const std::string remedy = "pass {.retain_graph = true} to the earlier one, or run the forward pass again";
    CHECK_REFUSED(GraphError, y.backward(options), "backward", "the graph was", refusal, remedy);
    CHECK_REFUSED(GraphError, grad(y, {x}, {.seed = options.seed}), "grad", refusal, remedy);
    CHECK(equal(x.grad().value(), before));
  }
}

TEST_CASE("a part that two graphs share is released with the first") {
  const Tensor x = variable(2, "x");
  const Tensor shared = x * x;
  const Tensor a = shared * 3, b = shared * 5;
  a.backward();
  CHECK_REFUSED(GraphError, b.backward(), "backward", "(at mul)");
  CHECK(x.grad().item() == 12);
}

TEST_CASE("a retained graph can be used any number of times") {
  const Tensor x = variable(2, "x");
  const Tensor y = x * x;
  for (int i = 1; i <= 3; ++i) {
    y.backward({.retain_graph = true});
    CHECK(x.grad().item() == 4 * i);
  }
  check_grad(y, {x}, {4}, {.retain_graph = true});
  check_grad(y, {x}, {4}, {.create_graph = true});
  y.backward();
  CHECK(x.grad().item() == 16);
  CHECK_REFUSED(GraphError, y.backward(), "backward", "released");
}

TEST_CASE("a value that was assigned after a rule captured it is noticed, with operation and name") {
  const Tensor w = variable(3, "in.weight"), x = variable(2, "x"), unnamed = variable(1), c = Tensor(3).named("c");
  Tensor y = w * x;
  w.assign(Array(Shape{}, Real(4)));
  CHECK_REFUSED(GraphError, y.backward(), "mul",
                "'in.weight' was assigned after it was used here; run the forward pass again");
  CHECK_FALSE(x.has_grad());
  y = exp(tanh(w)) / x;
  x.update([](Array& value) { value.mutable_data()[0] = 7; });
  CHECK_REFUSED(GraphError, grad(y, {w}), "div", "'x' was assigned");
  y = unnamed * unnamed;
  unnamed.assign(Array(Shape{}, Real(2)));
  CHECK_REFUSED(GraphError, y.backward(), "mul", "an input was assigned");
  y = c * x;
  c.assign(Array(Shape{}, Real(4)));  // a constant
  CHECK_REFUSED(GraphError, y.backward(), "mul", "'c' was assigned");
}

TEST_CASE("an assignment does no harm where no rule needs the value") {
  const Tensor w = variable(3, "w");
  const Tensor y = w + 1, z = tanh(w);  // keeps its result
  w.assign(Array(Shape{}, Real(4)));
  check_grad(y, {w}, {1});
  CHECK(grad(z, {w})[0].item() == doctest::Approx(1 - std::tanh(3.0) * std::tanh(3.0)).epsilon(1e-14));
}

// ---- Rules and hooks that go wrong ----------------------------------------------------------------------------------

TEST_CASE("a rule that returns a wrong shape, or nothing, is named, and so is the module that recorded it") {
  const Tensor x = variable(Array(Shape{2, 3}, Real(1)), "x");
  const auto with = [&](auto rule) { return sum(record("my_op", Array(Shape{2, 3}, Real(1)), wrt(x, rule))); };
  const auto number = [](const Tensor&) { return Tensor(1); };
  CHECK_REFUSED(GraphError, with(number).backward(), "my_op", "shape [] for", "shape [2, 3]");
  const auto turned = [](const Tensor& gy) { return transpose(gy); };
  const auto nothing = [](const Tensor&) { return Tensor(); };
  CHECK_REFUSED(GraphError, with(turned).backward(), "my_op", "[3, 2]", "[2, 3]");
  CHECK_REFUSED(GraphError, with(nothing).backward(), "my_op", "returned nothing", "[2, 3]");
  CHECK_FALSE(x.has_grad());
  const auto in_module = [&] {
    const Scope scope(intern("decoder.head"));
    return with(number);
  };
  CHECK_REFUSED(GraphError, in_module().backward(), "my_op", "\n  in decoder.head");
}

TEST_CASE("an exception of a rule or a hook leaves all gradients as they were, and the next pass is right") {
  for (const std::string place : {"a rule", "a hook of a result", "a hook of a leaf"}) {
    CAPTURE(place);
    const Tensor x = variable(1, "x"), w = variable(2, "w");
    bool broken = false;
    const auto fail_if_broken = [&broken](const Tensor&) {
      if (broken) throw std::runtime_error("broken");
      return Tensor();
    };
    if (place == "a hook of a leaf") x.on_grad(fail_if_broken);
    const auto forward = [&] {
      const Tensor product = x * w;
      const Tensor middle = record("fragile", product.value(), wrt(product, [&](const Tensor& gy) {
                                     if (place == "a rule") fail_if_broken(gy);
                                     return gy;
                                   }));
      if (place == "a hook of a result") middle.on_grad(fail_if_broken);
      Tensor y = middle;
      for (int i = 0; i < 500; ++i) y = y + w;
      return y;
    };
    forward().backward();
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
  }
}

// ---- Hooks and kept gradients ---------------------------------------------------------------------------------------

TEST_CASE("a hook on a leaf sees its complete gradient once, and what it returns takes the gradient's place") {
  const Tensor x = variable(3, "x");
  std::vector<Real> seen;
  const auto see = [&seen](Real factor) {
    return [&seen, factor](const Tensor& g) {
      seen.push_back(g.item());
      return factor == 1 ? Tensor() : g * factor;
    };
  };
  const std::uint64_t first = x.on_grad(see(2));
  x.on_grad(see(1));
  (x * x + x).backward();
  CHECK(seen == std::vector<Real>{7, 14});
  CHECK(x.grad().item() == 14);
  check_grad(x * x, {x}, {12});
  x.remove_hook(first);
  seen.clear();
  check_grad(x * x, {x}, {6});
  CHECK(seen == std::vector<Real>{6});
  x.remove_hook(12345);  // unknown numbers are ignored
  // A hook on a result changes what flows on from there.
  const Tensor y = x * x;
  seen.clear();
  y.on_grad(see(10));
  check_grad(y * 2 + y, {y, x}, {30, 180});
  CHECK(seen == std::vector<Real>{3, 180});
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
  CHECK_REFUSED(ShapeError, sum(x).backward(), "on_grad", "a hook returned shape [] for a gradient of shape [2]");
  CHECK_REFUSED(GraphError, Tensor(1).on_grad([](const Tensor& g) { return g; }), "on_grad", "no gradient flows");
  CHECK_REFUSED(ValueError, x.on_grad({}), "on_grad", "the function is empty");
  CHECK_REFUSED(GraphError, Tensor(1).retain_grad(), "retain_grad", "no gradient flows to this tensor");
}

TEST_CASE("gradients share no memory with others, the seed or what a hook keeps, whatever is done to them") {
  const Array ones(Shape{2}, Real(1)), zeros(Shape{2}, Real(0)), original(Shape{2}, {5, 6});
  const Tensor x = variable({1, 2}), z = variable({3, 4}), seed = Tensor(original);
  for (const bool create_graph : {false, true}) {
    const Tensors g = grad(x + z, {x, z, x}, {.seed = seed, .create_graph = create_graph});
    g[0].assign(zeros);
    CHECK(equal(g[1].value(), original));
    CHECK(equal(g[2].value(), original));
  }
  for (int pass = 1; pass <= 2; ++pass) {
    (x + z).backward({.seed = seed});
    CHECK(x.grad().value().data() != z.grad().value().data());
    CHECK(x.grad().value().data() != seed.value().data());
    const Array expected(Shape{2}, {Real(5 * pass), Real(6 * pass)});
    for (const Tensor& leaf : {x, z}) CHECK(equal(leaf.grad().value(), expected));
  }
  const Tensor y = x * 1;
  Tensor kept;
  y.on_grad([&](const Tensor& g) {
    kept = g;
    return Tensor();
  });
  x.zero_grad();
  sum(y + x + x).backward();
  CHECK(equal(kept.value(), ones));
  CHECK(equal(x.grad().value(), Array(Shape{2}, Real(3))));
  // A hook that changes the gradient it is shown changes this gradient alone.
  x.on_grad([&](const Tensor& g) {
    g.assign(zeros);
    return Tensor();
  });
  const Tensors g = grad(x + z, {x, z}, {.seed = seed});
  CHECK(equal(g[0].value(), zeros));
  CHECK(equal(g[1].value(), original));
  CHECK(equal(seed.value(), original));
}

// ---- Passes within passes -------------------------------------------------------------------------------------------

TEST_CASE("a pass inside a hook over the same graph is refused, over another graph it works") {
  const Tensor x = variable(3, "x"), w = variable(5, "w");
  const Tensor y = x * x;
  const Tensor z = y * x;
  int calls = 0;
  y.on_grad([&](const Tensor&) {
    ++calls;
    CHECK_REFUSED(GraphError, grad(z, {x}), "grad", "the graph is in use by another backward pass (at mul)");
    const EnableGrad on;
    check_grad(w * w, {w}, {10});
    return Tensor();
  });
  check_grad(z, {x}, {27});
  CHECK(calls == 1);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

TEST_CASE("10,000 training steps leave nodes and memory where they were, and ask the system for nothing") {
  const Tensor w = variable(normal({8, 4}, 1), "w"), b = variable(Array(Shape{4}, Real(0)), "b");
  const Tensor x(normal({8}, 2));
  const auto step = [&] {
    const Tensor y = tanh(sum(w * unsqueeze(x, 1), 0) + b);
    const Tensor loss = mean((y - 0.5) * (y - 0.5));
    loss.backward();
    for (const Tensor& parameter : {w, b}) {
      parameter.assign((parameter.detach() - 0.1 * parameter.grad()).value());
      parameter.zero_grad();
    }
    return loss.item();
  };
  const Real first = step();
  for (int i = 0; i < 10; ++i) step();
  const auto nodes = live_node_count();
  const bool pooling = pool_keeps_blocks();
  const PoolStats before = pool_stats();
  Real last = 0;
  for (int i = 0; i < 10'000; ++i) {
    last = step();
    if (i % 1000 == 0) CHECK(live_node_count() == nodes);
  }
  CHECK(last < 1e-6 * first);
  CHECK(live_node_count() == nodes);
  CHECK(pool_stats().bytes_in_use == before.bytes_in_use);
  if (pooling) CHECK(pool_stats().system_requests == before.system_requests);
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
  const Tensor x = variable(2, "x"), w = variable(3, "w");
  check_grad(fused(x, w), {x, w}, {12, 4});
  check_grad(fused(Tensor(5), w), {w}, {25});
  check_grad(fused(x, w), {x}, {12});
  check_grad(grad(fused(x, w), {x}, {.create_graph = true})[0], {x}, {6});
  const Tensor first = grad(fused(x, x), {x}, {.create_graph = true})[0];  // 3 x^2
  CHECK(first.item() == 12);
  check_grad(first, {x}, {12});
}

TEST_CASE("a leaf that is unfrozen or frozen after the forward pass gets no gradient from it") {
  const Tensor frozen = Tensor(Array(Shape{2}, {1, 2})), x = variable({3, 4}, "x");
  const Tensor y = sum(frozen * x);
  frozen.named("w").set_requires_grad();
  CHECK(equal(grad(y, {x}, {.retain_graph = true})[0].value(), Array(Shape{2}, {1, 2})));
  CHECK_REFUSED(GraphError, grad(y, {frozen}), "grad",
                "'w' did not require a gradient yet when the result was computed from it; run the forward pass again");
  y.backward();
  CHECK_FALSE(frozen.has_grad());
  CHECK(equal(x.grad().value(), Array(Shape{2}, {1, 2})));

  const Tensor w = variable({1, 2}), other = variable({3, 4});
  const Tensor z = sum(w * other);
  w.set_requires_grad(false);
  z.backward();
  CHECK_FALSE(w.has_grad());
  CHECK(equal(other.grad().value(), Array(Shape{2}, {1, 2})));
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
  y = record("drops", Array(Shape{}, Real(1)), wrt(x, [&y](const Tensor& gy) {
               y = Tensor();
               return gy * Tensor(Array(Shape{2}, {5, 6}));
             }));
  y.backward();
  CHECK(equal(x.grad().value(), Array(Shape{2}, {18 + 5, 36 + 6})));
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

TEST_CASE("a leaf that is assigned during a pass, before its old value was needed, ends the pass") {
  const Tensor x = variable({1, 2}, "x"), w = variable({3, 4}, "w");
  const Tensor middle = x * w;
  const Tensor y = sum(middle * middle);
  middle.on_grad([&](const Tensor&) {
    w.assign(Array(Shape{2}, Real(100)));
    return Tensor();
  });
  CHECK_REFUSED(GraphError, y.backward(), "mul", "'w' was assigned after it was used here; run the forward pass again");
  CHECK_FALSE((x.has_grad() || w.has_grad()));
}

TEST_CASE("a hook is told of a gradient once, as soon as it is complete, the last layer's first") {
  const Tensor first = variable({1, 2}, "first"), last = variable({3, 4}, "last");
  std::vector<std::string> order;
  const auto twice = [&](const Tensor& x, const char* name) {
    return record("twice", (2 * x).value(), wrt(x, [&order, name](const Tensor& gy) {
                    order.push_back(name);
                    return 2 * gy;
                  }));
  };
  for (const Tensor& x : {first, last}) {
    x.on_grad([&order, name = x.name()](const Tensor&) {
      order.push_back(name);
      return Tensor();
    });
  }
  for (const bool create_graph : {false, true}) {
    order.clear();
    const Tensor y = sum(last * twice(twice(first, "rule of first") * last, "rule of hidden"));
    const Tensors found = grad(y, {last, first}, {.create_graph = create_graph});
    CHECK(order == std::vector<std::string>{"rule of hidden", "last", "rule of first", "first"});
    check_close(found[0].value(), Array(std::vector<Real>{4 * 2 * 3, 4 * 4 * 4}));  // d (2 h l^2)/dl = 4 h l
    check_close(found[1].value(), Array(std::vector<Real>{4 * 9, 4 * 16}));         // 2 l^2 dh/dfirst
    CHECK(found[0].requires_grad() == create_graph);
  }
}
