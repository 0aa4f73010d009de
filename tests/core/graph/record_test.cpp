// Tests of core/graph/record.h: record and wrt, joint rules, and the scopes that turn recording off and on.
#include <xgrad/core/graph/record.h>

#include <memory>
#include <stdexcept>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// x -> 3 x with a rule of its own.
Tensor triple(const Tensor& x) {
  return record("triple", Array(x.shape(), 3 * x.item()), wrt(x, [](const Tensor& gy) { return gy * 3; }));
}

// (a b, with both gradients in one rule); counts its calls and remembers which gradients were wanted.
struct Seen {
  int calls = 0;
  bool a = false, b = false;
};
Tensor product(const Tensor& a, const Tensor& b, Seen& seen) {
  return record("product", Array(Shape{}, a.item() * b.item()),
                jointly(
                    [a, b, &seen](const Tensor& gy, Wanted wanted) {
                      ++seen.calls;
                      seen.a = wanted[0];
                      seen.b = wanted[1];
                      return std::array{wanted[0] ? gy * b : Tensor(), wanted[1] ? gy * a : Tensor()};
                    },
                    a, b));
}

}  // namespace

TEST_CASE("an operation is its value and a rule for each input, which may ask for the result") {
  const Tensor x = variable(2);
  CHECK(triple(x).item() == 6);
  CHECK(grad(triple(x), {x})[0].item() == 3);
  const Tensor y = record("square", Array(Shape{}, Real(4)), wrt(x, [](const Tensor& gy, const Tensor& result) {
                            CHECK(result.item() == 4);
                            return gy * sum(result);  // 2 x = x^2 at 2
                          }));
  CHECK(grad(y, {x})[0].item() == 4);
}

TEST_CASE("nothing is recorded when no gradient flows to any input") {
  const Tensor x = Tensor(2).named("x");
  const auto before = live_node_count();
  const Tensor y = triple(x) + 1;
  CHECK(live_node_count() == before);
  CHECK_FALSE(detail::Engine::node(y));
  CHECK_FALSE(y.requires_grad());
}

template <class T>
concept OnHeap = requires {
  new T;
};

TEST_CASE("nothing is recorded under NoGrad, everything again under EnableGrad, and both end with their scopes") {
  static_assert(!OnHeap<NoGrad> && !OnHeap<EnableGrad> && OnHeap<TraceAll>);  // where they might end in another order
  const Tensor x = variable(2);
  CHECK(recording());
  {
    const NoGrad off;
    CHECK_FALSE(recording());
    CHECK_FALSE(triple(x).requires_grad());
    {
      const EnableGrad on;
      CHECK(triple(x).requires_grad());
      const NoGrad inner;
      CHECK_FALSE(recording());
    }
    CHECK_FALSE(recording());
  }
  CHECK(recording());
}

TEST_CASE("recording is as it was after an exception") {
  CHECK_THROWS_AS(
      [] {
        const NoGrad off;
        throw std::runtime_error("no");
      }(),
      std::runtime_error);
  CHECK(recording());
  const Tensor x = variable(2);
  const Tensor y =
      record("bad", Array(Shape{}, Real(1)), wrt(x, [](const Tensor&) -> Tensor { throw std::runtime_error("no"); }));
  CHECK_THROWS_AS(y.backward(), std::runtime_error);
  CHECK(recording());
  CHECK(detail::Engine::node(triple(x))->grad_order == 0);
}

TEST_CASE("a rule of an input that wants no gradient is neither stored nor called") {
  const Tensor x = variable(2);
  const Tensor c = Tensor(3);
  const Tensor y = record("op", Array(Shape{}, Real(1)), wrt(x, [](const Tensor& gy) { return gy; }),
                          wrt(c, [](const Tensor&) -> Tensor { throw std::logic_error("called"); }));
  CHECK_FALSE(detail::Engine::node(y)->edges()[1].rule);
  CHECK(grad(y, {x})[0].item() == 1);
}

TEST_CASE("a joint rule is called once, and told which gradients are wanted") {
  const Tensor a = variable(2, "a"), b = variable(5, "b"), constant = 7;
  Seen seen;
  const auto gradients = [&](const Tensor& y, const Tensors& xs) {
    seen = {};
    std::vector<Real> found;
    for (const Tensor& g : grad(y, xs)) found.push_back(g.item());
    return str(found, ' ', seen.calls, ' ', seen.a, ' ', seen.b);
  };
  CHECK(gradients(product(a, b, seen), {a, b}) == "[5, 2] 1 true true");
  CHECK(gradients(product(a, b, seen), {b}) == "[2] 1 false true");
  CHECK(gradients(product(constant, b, seen), {b}) == "[7] 1 false true");
  CHECK(gradients(product(a, a, seen), {a}) == "[4] 1 true true");
}

TEST_CASE("a joint rule may ask for the result, too") {
  const Tensor a = variable(2);
  const Tensor b = variable(5);
  const Tensor y = record("op", Array(Shape{}, Real(10)),
                          jointly(
                              [](const Tensor& gy, const Tensor& y, Wanted) {
                                return std::array{gy * y, gy * y * 2};
                              },
                              a, b));
  const Tensors g = grad(y, {a, b});
  CHECK(g[0].item() == 10);
  CHECK(g[1].item() == 20);
}

TEST_CASE("a rule for several inputs that require no gradient is not kept") {
  const auto held = std::make_shared<int>();
  const Tensor x = variable(1), constant(2), other(3);
  const Tensor y = record("some", Array(Shape{}, 1), wrt(x, [](const Tensor& gy) { return gy; }),
                          jointly(
                              [held](const Tensor& gy, const auto&) {
                                return std::array<Tensor, 2>{gy, gy};
                              },
                              constant, other));
  CHECK(held.use_count() == 1);
  CHECK(grad(y, {x})[0].item() == 1);
}
