// Every reason for which a tensor has no gradient, in the words that users read.
#include "support/check.h"

#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/layers/linear.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

const std::string constant =
    " requires no gradient, because it was made from numbers, by detach(), or from such alone; variable(...) makes a "
    "leaf that gradients flow to";
const std::string no_grad = " was computed under NoGrad, which records no graph, or from what was";
const std::string without_graph =
    " comes from a gradient that was computed without a graph; pass {.create_graph = true} to the grad() that it comes "
    "from";
const std::string not_kept =
    " is a result of mul, and only leaves keep their gradient; call retain_grad() before backward(), or give a "
    "leaf another value by w.assign(...)";
const std::string came_by =
    " kept no gradient when the backward pass came by: retain_grad() was called after it, or zero_grad()";

TEST_CASE("grad() without a gradient says why, as far as the tensor alone tells") {
  const auto reason = [](const Tensor& x) { return error_of<GraphError>([&] { x.grad(); }); };
  CHECK(reason(Tensor(1)) == "grad: the tensor []" + constant);
  const Tensor w = variable({1, 2}, "w");
  CHECK(reason(w.detach()) == "grad: the tensor [2]" + constant);
  CHECK(reason((w.detach() * 2).named("y")) == "grad: 'y'" + constant);
  {
    const NoGrad off;
    CHECK(reason(w * 2) == "grad: the tensor [2]" + no_grad);
  }
  const Tensor g = grad(sum(w * w), {w})[0];
  CHECK(reason(g) == "grad: the tensor [2]" + without_graph);
  CHECK(reason(sum(g * 2)) == "grad: the tensor []" + without_graph);
  CHECK(reason(concat({g, g})) == "grad: the tensor [4]" + without_graph);
  CHECK(reason(layer_norm(g, g, g)) == "grad: the tensor [2]" + without_graph);
  CHECK(error_of<GraphError>([&] { grad(sum(g), {w}); }) ==
        "grad: the result comes from a gradient that was computed without a graph; pass {.create_graph = true} to the "
        "grad() that it comes from");
  const Tensor h = [&] {
    const NoGrad off;
    return w * 2;
  }();
  CHECK(reason(h + 1) == "grad: the tensor [2]" + no_grad);
  CHECK(reason(g.detach() * 2) == "grad: the tensor [2]" + constant);

  nn::Linear layer{nn::root, 2, 2};
  layer.weight.set_requires_grad(false);
  CHECK(reason(layer.weight) ==
        "grad: 'weight' is a parameter that is frozen; call set_requires_grad() before the forward pass");

  CHECK(reason(w) ==
        "grad: 'w' has not been reached by a backward(), or zero_grad() came after; grad(loss, {x}) throws if the "
        "loss does not depend on it");
  const Tensor y = w * 2;
  CHECK(reason(y) == "grad: the tensor [2]" + not_kept);
  const Tensor z = (w * 2).named("z").retain_grad();
  CHECK(reason(z).starts_with("grad: 'z' has not been reached by a backward()"));
  sum(y).backward();
  CHECK(w.has_grad());
  CHECK(reason(y) == "grad: the tensor [2]" + not_kept);
  y.retain_grad();
  CHECK(reason(y) == "grad: the tensor [2]" + came_by);
  sum(z).backward();
  CHECK(z.has_grad());
}

}  // namespace
}  // namespace xgrad::testing
