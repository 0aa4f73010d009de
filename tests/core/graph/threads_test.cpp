// Tests of what threads may do at the same time: share constants, leaves, and graphs (one of them at a time).
#include <barrier>
#include <thread>
#include <vector>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// Calls f(0) ... f(count - 1), each on a thread of its own, all at once.
template <class F>
void together(int count, const F& f) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      f(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads that record with the same constant agree on its node") {
  const auto nodes = live_node_count();
  for (int round = 0; round < 200; ++round) {
    const Tensor constant(Array(Shape{}, Real(3)));
    Tensors results(2);
    together(2, [&](int i) {
      const Tensor x = variable(Real(i + 1));
      results[static_cast<std::size_t>(i)] = mul(x, constant);
    });
    for (const Tensor& y : results) REQUIRE(detail::Engine::node(y)->edges()[1].to == detail::Engine::node(constant));
    REQUIRE(detail::Engine::node(constant)->refs.load() == 3);
  }
  CHECK(live_node_count() == nodes);
}

TEST_CASE("a constant can be looked at while another thread records with it") {
  for (int round = 0; round < 200; ++round) {
    const Tensor constant(Array(Shape{2}, Real(3)));
    together(2, [&](int i) {
      if (i == 0) {
        mul(variable(Array(Shape{2}, Real(1))), constant);
      } else {
        (void)(to_string(constant).size() + constant.name().size() + constant.has_grad() +
               !detail::Engine::node(constant));
      }
    });
    REQUIRE(detail::Engine::node(constant));
  }
}

TEST_CASE("graphs of several threads add their gradients up in the leaves that they share") {
  constexpr int count = 4, passes = 25;
  for (int round = 0; round < 20; ++round) {
    const Tensor shared = variable(Array(Shape{3}, Real(2)));
    together(count, [&](int i) {
      const Tensor factor(Array(Shape{3}, Real(i + 1)));
      for (int pass = 0; pass < passes; ++pass) mul(shared, factor).backward({.seed = Array(Shape{3}, Real(1))});
    });
    REQUIRE(equal(shared.grad().value(), Array(Shape{3}, Real(passes * (1 + 2 + 3 + 4)))));
  }
}

TEST_CASE("of passes through one graph at the same time each is done in full or refused") {
  constexpr int depth = 300, count = 3;
  const Tensor x = variable(Real(1)), one(Real(1));
  Tensor y = x;
  for (int i = 0; i < depth; ++i) y = mul(y, one);
  int done = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<int> succeeded(count);
    together(count, [&](int i) {
      try {
        y.backward({.retain_graph = true});
        succeeded[static_cast<std::size_t>(i)] = 1;
      } catch (const GraphError&) {
      }
    });
    for (const int each : succeeded) done += each;
  }
  CHECK(done > 0);
  CHECK(x.grad().item() == done);
  y.backward();  // nothing is left marked
  CHECK(x.grad().item() == done + 1);
}
