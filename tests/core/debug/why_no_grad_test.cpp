// Every reason for which a tensor has no gradient, in the words that users read.
#include "support/check.h"

#include <xgrad/core/debug/why_no_grad.h>
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
        "grad: 'w' has not been reached by a backward(), or zero_grad() came after; with the loss, "
        "why_no_grad(x, loss) tells which");
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

TEST_CASE("with the loss it is known whether gradients reach a tensor, and whether the backward pass has run") {
  const Tensor w = variable({1, 2}, "w"), other = variable({3, 4}, "other");
  const Tensor y = (w * 2).named("y");
  const Tensor loss = sum(y);
  const auto reason = [&](const Tensor& x) { return why_no_grad(x, loss); };
  CHECK(reason(w) == "backward() of the loss has not run: 'w' gets its gradient there");
  CHECK(reason(other) == "the loss does not depend on 'other', or only through a value without history");
  CHECK(reason(y) == "'y'" + not_kept);
  CHECK(reason(Tensor(1)) == "the tensor []" + constant);
  CHECK(reason(Tensor()) == "the tensor is undefined: no value was ever given to it");
  y.retain_grad();
  CHECK(reason(y) == "backward() of the loss has not run: 'y' gets its gradient there");

  CHECK(why_no_grad(w, sum(w.detach())) == "the loss" + constant);
  {
    const NoGrad off;
    CHECK(why_no_grad(w, sum(w)) == "the loss" + no_grad);
  }
  CHECK(why_no_grad(other, sum(w.detach() * other)) ==
        "backward() of the loss has not run: 'other' gets its gradient there");
  CHECK(why_no_grad(w, sum(w.detach() * other)) ==
        "the loss does not depend on 'w', or only through a value without history");

  const Tensor late(Array({2}, {1, 2}));
  const Tensor early_loss = sum(late * other);
  late.set_requires_grad();
  CHECK(why_no_grad(late, early_loss) ==
        "the tensor [2] did not require a gradient yet when the loss was computed from it; run the forward pass again");

  grad(loss, {w});
  CHECK(reason(w) ==
        "a backward pass of the loss has run, but it was grad(), which returns gradients and leaves none in 'w', or "
        "zero_grad() came after");
  CHECK(reason(y) == "'y'" + came_by);
  sum(w * 2).backward();
  CHECK(reason(w) == "'w' has a gradient: grad() gives it");
  w.zero_grad();
  CHECK(reason(w).starts_with("a backward pass of the loss has run"));
  CHECK(why_no_grad(w, w) == "backward() of the loss has not run: 'w' gets its gradient there");
  CHECK_THROWS_AS(why_no_grad(w, Tensor()), GraphError);
}

TEST_CASE("the way from a loss to a tensor is found without recursion") {
  const Tensor w = variable(1.0, "w"), other = variable(1.0, "other");
  Tensor y = w;
  for (int i = 0; i < 100'000; ++i) y = y + 1;
  CHECK(why_no_grad(w, y).starts_with("backward() of the loss has not run"));
  CHECK(why_no_grad(other, y).starts_with("the loss does not depend on 'other'"));
}

}  // namespace
}  // namespace xgrad::testing
