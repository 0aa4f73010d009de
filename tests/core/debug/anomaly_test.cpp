// Tests of core/debug/anomaly.h: the first operation that gives NaN or infinity is named, with what it was given.
#include <xgrad/core/debug/anomaly.h>

#include <cmath>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

TEST_CASE("an anomaly of a forward pass is named with its inputs and where these come from") {
  const Tensor x = variable({1, -2, 3}, "x");
  const auto model = [&] {
    const Scope scope(intern("net.head", "Head"));
    const Tensor y = relu(x);
    const Scope inner(intern("net.loss"));
    return sum(log(y) * 0);
  };
  CHECK(std::isnan(model().item()));
  const AnomalyMode anomalies;
  CHECK(error_of<NumericError>(model) ==
        "log: gives -infinity at [1] in its result [3]\n"
        "  y = ln x\n"
        "  input 0 [3]: [1, 0, 3]\n"
        "    relu [3] of leaf 'x' [3], in net.head\n"
        "  in net.loss");
}

TEST_CASE("an anomaly of a gradient rule is named with the gradient that it was given") {
  const Tensor x = variable({4, 0, 1}, "x");
  const Tensor y = sum(sqrt(x));
  {
    const AnomalyMode anomalies;
    CHECK(error_of<NumericError>([&] { grad(y, {x}, {.retain_graph = true}); }) ==
          "sqrt: its gradient rule gives infinity at [1] for input 0 leaf 'x' [3]\n"
          "  gradient of its result: [1, 1, 1]");
  }
  CHECK(std::isinf(grad(y, {x})[0].value().data()[1]));
}

TEST_CASE("a fused rule's anomaly is found in what it gives, and a seed that is no number before any rule runs") {
  const Tensor x = variable({1, 2}, "x");
  const Tensor y = record("own", Array({2}, {1, 2}),
                          wrt(x, [](const Tensor& gy) { return Tensor(Array(gy.shape(), not_a_number)); }));
  const Tensor z = exp(x), seed = Array({2}, {1, not_a_number});
  const AnomalyMode anomalies;
  CHECK_REFUSED(NumericError, grad(sum(y * 3), {x}), "own",
                "its gradient rule gives NaN at [0], the first of 2 for input 0 leaf 'x' [2]\n"
                "  gradient of its result: [3, 3]");
  CHECK_REFUSED(NumericError, grad(z, {x}, {.seed = seed}), "exp", "the gradient of its result [2] is NaN at [1]");
}

TEST_CASE("an input that was infinite already is said to be, and infinity can be allowed, as of masks") {
  const Tensor x = variable({1, infinity}, "x");
  {
    const AnomalyMode anomalies;
    CHECK_REFUSED(NumericError, x * 2, "mul", "input 0 'x' [2]: [1, inf]; it was given so");
    CHECK_REFUSED(NumericError, masked_fill(zeros({2}), Mask({2}, {false, true}), -infinity), "masked_fill",
                  "gives -infinity at [1] in its result [2]\n",
                  "\n  if a mask is meant, AnomalyMode({.infinity = false}) looks for NaN alone\n");
  }
  const AnomalyMode only_nan({.infinity = false});
  const Tensor doubled = x * 2;
  CHECK_REFUSED(NumericError, doubled - doubled, "sub", "gives NaN at [1] in its result [2]");
}

}  // namespace
}  // namespace xgrad::testing
