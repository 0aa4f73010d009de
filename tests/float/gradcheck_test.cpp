// In float a gradient check is coarse, but not blind.
#include "support/check.h"

#include <cmath>

#include <xgrad/core/debug/gradcheck.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

TEST_CASE("in float, gradcheck accepts right gradients and finds a factor that is missing") {
  const Tensor x = variable(normal({4, 8}), "x"), w = variable(normal({8, 8}, 2), "w");
  const Function f = [](const Tensors& in) { return softmax(tanh(matmul(in[0], in[1])) * 3); };
  CHECK_MESSAGE(gradcheck(f, {x, w}).ok(), to_string(gradcheck(f, {x, w})));
  CHECK_MESSAGE(gradgradcheck(f, {x, w}).ok(), to_string(gradgradcheck(f, {x, w})));
  const Function wrong = [](const Tensors& in) {
    const Tensor x = in[0];
    return record("square", (x.detach() * x.detach()).value(), wrt(x, [x](const Tensor& gy) { return gy * x; }));
  };
  const GradcheckReport report = gradcheck(wrong, {x});
  REQUIRE(report.wrong.size() == 1);
  CHECK(std::abs(report.wrong[0].analytic / report.wrong[0].numeric - 0.5) < 1e-3);
}

}  // namespace
}  // namespace xgrad::testing
