// Tests of core/graph/donation.h: when a gradient may be written over what the backward pass leaves behind.
#include <xgrad/core/graph/donation.h>

#include <vector>

#include <xgrad/core/graph/grad.h>
#include <xgrad/core/graph/observe.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

Array array_of(const std::vector<Real>& numbers) { return Array(numbers); }

// The gradient that a rule was given when it ran.
struct Got {
  bool gradient = false, held = false;  // whether it was the block itself
  friend bool operator==(const Got&, const Got&) = default;
};
constexpr Got everything{true, true}, nothing{false, false};

// y = 2 x; the rule takes gy and a tensor that it holds alone.
Tensor taking(const Tensor& x, Got& got) {
  return record("taking", (2 * x).value(), wrt(x, [held = Tensor(Array(x.shape(), 5)), &got](const Tensor& gy) {
                  Array gradient = detail::Donation::take(gy);
                  got.gradient = gradient.unique();
                  got.held = detail::Donation::take(held).unique();
                  Real* const numbers = gradient.mutable_data();
                  for (std::int64_t i = 0; i < gradient.size(); ++i) numbers[i] *= 2;
                  return Tensor(std::move(gradient));
                }));
}

}  // namespace

TEST_CASE("what a rule is given and holds is taken only when it runs for the last time and no gradient is recorded") {
  const Tensor x = variable({1, 2, 3});
  Got got;
  const Tensor y = sum(3 * taking(x, got));
  for (int pass = 0; pass < 2; ++pass) {
    check_close(grad(y, {x}, {.retain_graph = true})[0].value(), array_of({6, 6, 6}));
    CHECK(got == nothing);
  }
  grad(y, {x}, {.create_graph = true});
  CHECK(got == nothing);
  check_close(grad(y, {x})[0].value(), array_of({6, 6, 6}));
  CHECK(got == everything);
}

TEST_CASE("a gradient that others hold is not written over") {
  const Tensor x = variable({1, 2, 3});
  const Array threes = array_of({3, 3, 3}), sixes = array_of({6, 6, 6});
  Got got;
  Tensor y = taking(x, got);
  SUBCASE("one that is retained") {
    y.retain_grad();
    sum(3 * y).backward();
    check_close(y.grad().value(), threes);
  }
  SUBCASE("one that is asked for") { check_close(grad(sum(3 * y), {y, x})[0].value(), threes); }
  SUBCASE("one that a hook keeps") {
    Tensor seen;
    y.on_grad([&](const Tensor& gradient) {
      seen = gradient;
      return Tensor();
    });
    sum(3 * y).backward();
    check_close(seen.value(), threes);
  }
  SUBCASE("the seed") {
    const Tensor seed(threes);
    check_close(grad(y, {x}, {.seed = seed})[0].value(), sixes);
    check_close(seed.value(), threes);
  }
  SUBCASE("one that goes to two inputs") {
    Got other;
    y = y + taking(3 * x, other);
    check_close(grad(y, {x}, {.seed = tensor({1, 2, 3})})[0].value(), array_of({8, 16, 24}));
  }
  CHECK_FALSE(got.gradient);
}

TEST_CASE("a rule beside others takes nothing") {
  const Tensor a = variable({1, 2, 3}), b = variable({4, 5, 6});
  std::vector<bool> taken;
  const auto rule = [&](const Tensor& gy) {
    taken.push_back(detail::Donation::take(gy).unique());
    return gy;
  };
  const Tensor y = record("both", (a + b).value(), wrt(a, rule), wrt(b, rule));
  check_close(grad(sum(3 * y), {a, b})[1].value(), array_of({3, 3, 3}));
  CHECK(taken == std::vector<bool>{false, false});
}

TEST_CASE("a backward pass within a rule takes nothing of the rule's") {
  const Tensor x = variable({1, 2, 3});
  Got inner;
  bool outer = false;
  const Tensor y = record("outer", Array(x.value()), wrt(x, [&](const Tensor& gy) {
                            {
                              const EnableGrad record_this;
                              const Tensor z = variable({1, 1, 1});
                              grad(taking(z, inner), {z}, {.seed = gy, .retain_graph = true});
                            }
                            CHECK(inner == nothing);
                            outer = detail::Donation::take(gy).unique();
                            return tensor({1, 1, 1});
                          }));
  grad(sum(3 * y), {x});
  CHECK(outer);
}

TEST_CASE("a rule that fails after it has taken cannot run again") {
  const Tensor x = variable({1, 2, 3});
  const Tensor y = sum(record("broken", Array(x.value()), wrt(x, [](const Tensor& gy) -> Tensor {
                                detail::Donation::take(gy);
                                fail<ValueError>("broken", "on purpose");
                              })));
  CHECK_THROWS_AS(grad(y, {x}), ValueError);
  CHECK_THROWS_AS(grad(y, {x}), GraphError);
}

TEST_CASE("the gradient of cross-entropy is the same bits whether it is written over the logits or not") {
  Array logits = normal({5, 40}, 3);
  logits.mutable_data()[3] = infinity;
  logits.mutable_data()[45] = -infinity;
  const Tensor leaf = variable(std::move(logits));
  const Index classes = index({3, 1, 2, 39, 7});
  const auto gradient = [&](bool retain) {
    const Tensor y = cross_entropy(leaf * 1, classes, {.ignore_index = 2, .reduction = Reduction::none});
    return grad(y, {leaf}, {.seed = normal(y.shape(), 7), .retain_graph = retain})[0].value();
  };
  CHECK(difference(gradient(false), gradient(true)) == 0);
}

TEST_CASE("what the caller holds stays as it is") {
  const Tensor leaf = variable(normal({4, 30}));
  const Tensor logits = leaf * 2;
  const Array before = Array(logits.shape(), std::span(logits.value().data(), 120));
  cross_entropy(logits, index({1, 2, 3, 4})).backward();
  CHECK(difference(logits.value(), before) == 0);
}

TEST_CASE("observers may keep what they are shown") {
  struct Keeper : Observer {
    Tensors gradients;
    std::vector<Array> copies;
    void complete_gradient(const Node&, const Tensor& gradient) override {
      gradients.push_back(gradient);
      copies.push_back(
          Array(gradient.shape(), std::span(gradient.value().data(), static_cast<std::size_t>(gradient.size()))));
    }
  } keeper;
  const Tensor x = variable(normal({20}));
  sum(tanh(gelu(x)) * 3).backward();
  REQUIRE(keeper.gradients.size() >= 4);
  for (std::size_t i = 0; i < keeper.gradients.size(); ++i) {
    CHECK(difference(keeper.gradients[i].value(), keeper.copies[i]) == 0);
  }
}
