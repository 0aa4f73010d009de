// Tests of core/graph/node.h: what nodes hold, who holds them, and how they go.
#include <xgrad/core/graph/node.h>

#include <memory>
#include <new>

#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("a result that no rule needs is freed with its last handle, though the graph goes on") {
  const Tensor x = variable(Array(Shape{100'000}, Real(1)));
  const auto start = pool_stats().bytes_in_use;
  Tensor y = x + 1;
  y = y + 1;
  y = y + 1;
  CHECK(pool_stats().bytes_in_use - start < 2 * 100'000 * static_cast<std::int64_t>(sizeof(Real)));
}

TEST_CASE("a part of a graph outlives the rest for as long as somebody holds it") {
  const auto start = live_node_count();
  Tensor middle;
  {
    const Tensor x = variable(2, "x");
    middle = x * x;
    const Tensor end = exp(middle);
  }
  CHECK(live_node_count() == start + 2);
  CHECK(detail::Engine::node(middle)->edges()[0].to->name() == "x");
  middle.backward();
  CHECK(detail::Engine::node(middle)->edges()[0].to->extras->grad.item() == 4);
  middle = Tensor();
  CHECK(live_node_count() == start);
}

TEST_CASE("a graph that rules hold together is dropped without recursion, also by another thread") {
  const auto start = live_node_count();
  const Tensor x = variable(1);
  Tensor y = variable(1);
  for (int i = 0; i < long_chain / 5; ++i) y = x * y;  // the rule for x holds the y before
  on_small_stack([&] { y = Tensor(); });
  CHECK(live_node_count() == start + 1);
}

TEST_CASE("rules that are too large for their place live outside of it, and die once") {
  const auto token = std::make_shared<int>(7);
  std::array<double, 20> much{};
  much[19] = 3;
  const Tensor x = variable(2);
  {
    const Tensor small = record("small", x.value(), wrt(x, [token](const Tensor& gy) { return gy; }));
    const Tensor large = record("large", x.value(), wrt(x, [token, much](const Tensor& gy) {
                                  return Tensor(static_cast<Real>(*token * much[19]) * gy.item());
                                }));
    CHECK(token.use_count() == 3);
    CHECK(grad(large, {x}, {.retain_graph = true})[0].item() == 21);
    CHECK(token.use_count() == 3);
    (void)grad(large, {x});
    CHECK(token.use_count() == 2);  // a released rule releases its captures
  }
  CHECK(token.use_count() == 1);
}

TEST_CASE("a rule that cannot be copied into its node leaves no memory behind") {
  struct Reluctant {
    std::array<double, 20> much{};
    Reluctant() = default;
    Reluctant(const Reluctant&) { throw std::bad_alloc(); }
    Tensor operator()(const Tensor& gy) const { return gy; }
  };
  struct Kind {
    static void call(const Reluctant& f, const Tensor& gy, const Tensor&, const bool*, Tensor* gx, const Edge*) {
      gx[0] = f(gy);
    }
  };
  const Reluctant reluctant;
  Rule rule;
  CHECK_THROWS_AS(rule.set<Kind>(reluctant), std::bad_alloc);
  const auto before = pool_stats().bytes_in_use;
  CHECK_THROWS_AS(rule.set<Kind>(reluctant), std::bad_alloc);
  CHECK(pool_stats().bytes_in_use == before);
  CHECK_FALSE(rule);
}
