// Tests of core/graph/observe.h: what observers are shown, and that watching changes nothing.
#include <xgrad/core/graph/observe.h>

#include <cmath>
#include <memory>

#include <xgrad/core/base/scope.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

// Events that it is shown, in words.
struct Listener : Observer {
  std::vector<std::string> heard;

  static std::string name(const Tensor& x) { return !x.defined() ? "-" : x.name().empty() ? "?" : x.name(); }

  void operation(const OperationRun& run) override {
    std::string text = str(run.op, ' ', run.output.shape());
    for (const Tensor* input : run.inputs) append(text, str(' ', name(*input)));
    for (const Attribute& attribute : run.attributes) append(text, str(' ', attribute.name));
    if (run.place) append(text, str(" in ", run.place->path));
    if (run.rule_of) append(text, str(" for ", run.rule_of->op));
    heard.push_back(text);
    CHECK(run.spent >= 0);
  }
  void complete_gradient(const Node& node, const Tensor& gradient) override {
    heard.push_back(str("complete ", node.op, ' ', gradient.value().begin()[0]));
  }
  void begin_gradients(const Node& node, Duration) override { heard.push_back(str("begin ", node.op)); }
  void end_gradients(const Node& node, Duration) noexcept override { heard.push_back(str("end ", node.op)); }
  void gradient(const Node& node, std::size_t input, const Tensor& gradient) override {
    heard.push_back(str("gradient ", node.op, ' ', input, ' ', gradient.value().begin()[0]));
  }
};
using Heard = std::vector<std::string>;

TEST_CASE("an observer is shown each operation with its inputs, its settings and its module, and no kernel's parts") {
  const Tensor x = variable({{1, 2}, {3, 4}}, "x"), w = variable({{1, 0}, {0, 1}}, "w");
  Listener listener;
  const Tensor y = matmul(x, w).named("y");
  {
    const Scope scope(intern("net"));
    sum(y, 1);
  }
  const NoGrad off;
  exp(x);
  CHECK(listener.heard == Heard{"matmul [2, 2] x w", "sum [2] y axis in net", "exp [2, 2] x"});
  masked_softmax(x, Mask({2, 2}, {true, false, false, false}));
  cross_entropy(x, Index({2}, {0, 1}));
  REQUIRE(listener.heard.size() == 3 + 2);
  CHECK(listener.heard[3].starts_with("masked_softmax [2, 2] x"));
  CHECK(listener.heard[4].starts_with("cross_entropy [] x"));
}

TEST_CASE("an observer is shown a backward pass in its order: complete gradients, rules, and what these call") {
  const Tensor x = variable(2, "x"), y = variable(3, "y");
  const Tensor z = x * y;
  Listener listener;
  grad(z, {x, y});
  const Heard expected{"complete mul 1",   "begin mul", "mul [] ? y for mul", "gradient mul 0 3", "mul [] ? x for mul",
                       "gradient mul 1 2", "end mul",   "complete leaf 3",    "complete leaf 2"};
  CHECK(listener.heard == expected);
}

TEST_CASE("all observers are shown everything, and may die in any order") {
  const Tensor x = variable(2);
  auto first = std::make_unique<Listener>(), second = std::make_unique<Listener>();
  exp(x);
  CHECK(first->heard.size() == 1);
  CHECK(second->heard.size() == 1);
  first.reset();
  exp(x);
  CHECK(second->heard.size() == 2);
  first = std::make_unique<Listener>();
  second.reset();
  exp(x);
  CHECK(first->heard.size() == 1);
  CHECK(Observer::watching());
  first.reset();
  CHECK(!Observer::watching());
  exp(x);
}

TEST_CASE("what observers compute is shown to nobody") {
  struct Computing : Observer {
    int shown = 0;
    void operation(const OperationRun& run) override {
      ++shown;
      exp(run.output);
    }
  } computing;
  Listener listener;
  tanh(variable(2));
  CHECK(computing.shown == 1);
  CHECK(listener.heard.size() == 1);
}

TEST_CASE("what an observer throws ends the operation or the pass, and the next goes on") {
  struct Refusing : Observer {
    void operation(const OperationRun&) override { fail<ValueError>("refusing", "seen enough"); }
  };
  const Tensor x = variable(2);
  const Tensor z = exp(x) * x;
  Listener listener;
  {
    const Refusing refusing;
    CHECK_THROWS_AS(tanh(x), ValueError);
    CHECK_THROWS_AS(grad(z, {x}, {.retain_graph = true}), ValueError);
  }
  listener.heard.clear();
  CHECK(grad(z, {x})[0].item() == doctest::Approx(3 * std::exp(2.0)));
  CHECK(listener.heard.front() == "complete mul " + str(Real(1)));
  CHECK(listener.heard.back().starts_with("complete leaf"));
}

TEST_CASE("watching changes no number and no graph") {
  const Tensor x = variable(normal({4, 3}), "x"), w = variable(normal({3, 5}, 2), "w");
  const auto run = [&] {
    const Tensor y = mean(softmax(matmul(x, w)) * log_softmax(matmul(x, w)));
    const Tensor g = grad(y, {x}, {.create_graph = true})[0];
    return std::pair(g.value(), grad(sum(g * g), {w})[0].value());
  };
  const auto plain = run();
  Listener listener;
  const auto watched = run();
  CHECK(equal(plain.first, watched.first));
  CHECK(equal(plain.second, watched.second));
  CHECK(listener.heard.size() > 10);
}

}  // namespace
}  // namespace xgrad::testing
