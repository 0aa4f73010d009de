// Tests of core/timing.h: what a timer adds up, and that it changes nothing.
#include <xgrad/core/timing.h>

#include <memory>

#include <xgrad/core/grad.h>
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
  const OperationTimer timer;
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

TEST_CASE("the innermost timer counts, and none when it is gone") {
  const Tensor x = variable(2);
  const OperationTimer outer;
  {
    const OperationTimer inner;
    CHECK(OperationTimer::current() == &inner);
    exp(x);
    CHECK(calls(inner, "exp") == 1);
  }
  CHECK(calls(outer, "exp") == 0);
  exp(x);
  CHECK(calls(outer, "exp") == 1);
}

TEST_CASE("timers may die in any order") {
  const Tensor x = variable(2);
  auto first = std::make_unique<OperationTimer>(), second = std::make_unique<OperationTimer>();
  auto third = std::make_unique<OperationTimer>();
  second.reset();
  CHECK(OperationTimer::current() == third.get());
  exp(x);
  CHECK(calls(*third, "exp") == 1);
  third.reset();
  CHECK(OperationTimer::current() == first.get());
  exp(x);
  CHECK(calls(*first, "exp") == 1);
  second = std::make_unique<OperationTimer>();
  first.reset();
  CHECK(OperationTimer::current() == second.get());
  second.reset();
  CHECK(OperationTimer::current() == nullptr);
  exp(x);
}

TEST_CASE("a gradient that throws leaves the timer as it was") {
  const Tensor x = variable(2);
  const Tensor y = record("broken", Array(Shape{}, 1),
                          wrt(x, [](const Tensor&) -> Tensor { fail<ValueError>("broken", "on purpose"); }));
  const OperationTimer timer;
  CHECK_THROWS_AS(grad(y, {x}), ValueError);
  exp(x);
  CHECK(calls(timer, "exp") == 1);
}
