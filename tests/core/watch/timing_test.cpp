// Tests of core/watch/timing.h: what a timer adds up, and that it changes nothing.
#include <xgrad/core/watch/timing.h>

#include <chrono>
#include <memory>
#include <thread>

#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;

namespace {

std::int64_t calls(const OperationTimer& timer, std::string_view what) {
  for (const OperationTimer::Line& line : timer.lines()) {
    if (line.what == what) return line.calls;
  }
  return 0;
}

}  // namespace

TEST_CASE("a timer counts operations and their gradients, each under its name") {
  const Tensor x = variable(2), y = variable(3);
  OperationTimer timer;
  const Tensor z = tanh(x * y) + x * x;
  CHECK(calls(timer, "mul") == 2);
  CHECK(calls(timer, "tanh") == 1);
  CHECK(calls(timer, "mul'") == 0);
  grad(z, {x, y});
  CHECK(calls(timer, "mul'") == 2);
  CHECK(calls(timer, "add'") == 1);
  CHECK(calls(timer, "mul") == 2);  // what a gradient calls counts as the gradient
  for (const OperationTimer::Line& line : timer.lines()) CHECK(line.milliseconds >= 0);
}

TEST_CASE("what a rule computes without operations counts as its gradient") {
  struct Onlooker : Observer {  // shown what a rule gave, which ends no time
    int gradients = 0;
    void gradient(const Node&, std::size_t, const Tensor&) override { ++gradients; }
  };
  const Tensor x = variable(2);
  const Tensor y = record("slow", Array(Shape{}, 1), wrt(x, [](const Tensor& gy) {
                            std::this_thread::sleep_for(std::chrono::milliseconds(20));
                            return gy;
                          }));
  Onlooker onlooker;
  OperationTimer timer;
  grad(y, {x});
  CHECK(onlooker.gradients == 1);
  for (const OperationTimer::Line& line : timer.lines()) {
    if (line.what == "slow'") CHECK(line.milliseconds >= 20);
  }
  CHECK(calls(timer, "slow'") == 1);
}

TEST_CASE("timers that live at the same time count the same") {
  const Tensor x = variable(2);
  OperationTimer outer;
  {
    OperationTimer inner;
    exp(x);
    CHECK(calls(inner, "exp") == 1);
  }
  CHECK(calls(outer, "exp") == 1);
  exp(x);
  CHECK(calls(outer, "exp") == 2);
}

TEST_CASE("a timer that is made or ends within a rule counts what it sees") {
  const Tensor x = variable(2);
  auto ending = std::make_unique<OperationTimer>();
  std::unique_ptr<OperationTimer> made;
  const Tensor y = record("swap", Array(Shape{}, 1), wrt(x, [&](const Tensor& gy) {
                            ending.reset();
                            made = std::make_unique<OperationTimer>();
                            return gy * 3;
                          }));
  CHECK(grad(y, {x})[0].item() == 3);
  CHECK(calls(*made, "mul") == 1);
  CHECK(calls(*made, "swap'") == 0);
  exp(x);
  CHECK(calls(*made, "exp") == 1);
}

TEST_CASE("a gradient that throws leaves the timer as it was") {
  const Tensor x = variable(2);
  const Tensor y = record("broken", Array(Shape{}, 1),
                          wrt(x, [](const Tensor&) -> Tensor { fail<ValueError>("broken", "on purpose"); }));
  OperationTimer timer;
  CHECK_THROWS_AS(grad(y, {x}), ValueError);
  exp(x);
  CHECK(calls(timer, "exp") == 1);
}
