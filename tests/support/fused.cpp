// The check of fused operations.
#include "fused.h"

#include <xgrad/core/diagram/view/view.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/reduce/reduce.h>

namespace xgrad::testing {
namespace {

// The gradient of <v, g> for random v, one for each g.
Tensors second(const Tensors& gradients, const Tensors& xs) {
  Tensor total(0);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    total = total + sum(gradients[i] * Tensor(normal(gradients[i].shape(), 1000 + i)));
  }
  if (!total.requires_grad()) {  // linear in all of them
    Tensors none;
    for (const Tensor& x : xs) none.push_back(Array(x.shape(), Real(0)));
    return none;
  }
  return grad(total, xs, {.unused = Unused::zeros});
}

void check_all(const char* what, const Tensors& got, const Tensors& expected, double tolerance, double terms) {
  INFO(what);
  check_each_close(got, expected, tolerance, terms);
}

}  // namespace

Tensors variables(const std::vector<Array>& values) {
  Tensors xs;
  for (const Array& value : values) xs.push_back(variable(value));
  return xs;
}

void check_each_close(const Tensors& all, const Tensors& expected, double tolerance, double terms) {
  REQUIRE(all.size() == expected.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    check_close(all[i].value(), expected[i].value(), tolerance, terms);
  }
}

std::vector<std::string> operations_in(const Tensors& results) {
  std::vector<std::string> names;
  const GraphOptions all{.depth = 99, .roll_up = false, .expand_rules = true, .max_nodes = 1 << 20};
  for (const GraphVertex& vertex : GraphView::of(results, all).vertices) {
    if (is_operation(vertex)) names.push_back(vertex.op);
  }
  return names;
}

void check_fused(const Function& fused, const Function& composed, const std::vector<Array>& inputs, double tolerance,
                 double terms) {
  const Tensors xs = variables(inputs);
  const Tensor y = fused(xs), z = composed(xs);
  check_close(y.value(), z.value(), tolerance, terms);
  const Tensor v = normal(y.shape(), 99);
  const GradOptions once{.seed = v, .retain_graph = true, .unused = Unused::zeros};
  const GradOptions recorded{.seed = v, .create_graph = true, .unused = Unused::zeros};
  const Tensors expected = grad(z, xs, recorded), rule = grad(y, xs, recorded);
  check_all("the gradient by the kernel", grad(y, xs, once), expected, tolerance, terms);
  check_all("the gradient by the rule", rule, expected, tolerance, terms);
  check_all("the second gradient", second(rule, xs), second(expected, xs), 10 * tolerance, terms);
  const Tensor unfolded = [&] {
    const Plain plain;
    return fused(xs);
  }();
  INFO("under Plain");
  check_close(unfolded.value(), z.value(), tolerance, terms);
  check_all("the gradient", grad(unfolded, xs, once), expected, tolerance, terms);
}

}  // namespace xgrad::testing
