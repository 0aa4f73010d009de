// Hint: sorted visits the inputs of a node before it appends the node, and a set of the nodes seen keeps it from a
// second visit.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  const Tensor x(numbers(1, 2, 1), "x"), w(numbers(1, 2, 2), "w"), other(numbers(3, 1, 3), "other");
  const Tensor square = mul(x, x), y = add(mul(square, square), mul(w, x));
  const Tensors order = sorted(y);
  std::unordered_map<Node*, std::size_t> place;
  for (const Tensor& one : order) {
    if (!place.try_emplace(one.node.get(), place.size()).second)
      not_yet("sorted: a node occurs twice; keep the nodes that were seen in a set");
  }
  if (order.size() != 6)
    not_yet("sorted: ", order.size(), " tensors instead of 6: x, w, two squares, a product and a sum");
  for (const Tensor& one : order) {
    for (const Input& input : one.node->inputs) {
      if (!place.contains(input.from.node.get()) || place[input.from.node.get()] > place[one.node.get()])
        not_yet("sorted: '", one.node->name,
                "' comes before one of its inputs; append it after the visit of its inputs");
    }
  }
  const std::vector<Matrix> found = grad(y, {x, w, other, y});
  if (found.size() != 4) not_yet("grad: the list has ", found.size(), " gradients instead of 4, one for each x");
  const Matrix u = x.value(),
               right = map(times(times(u, u), scaled(u, 4)), w.value(), [](double a, double b) { return a + b; });
  const Matrix ones = map(u, [](double) { return 1; });
  same("grad of y = x^4 + w x: dy/dx", found[0], right,
       {{times(times(u, u), scaled(u, 2)), "one contribution is lost: those of two uses add up"},
        {w.value(), "a later contribution replaced an earlier one: they add up"},
        {map(times(times(u, u), u), w.value(), [](double a, double b) { return a + b; }),
         "x^4 counts a quarter: an operation that uses a node twice contributes twice"}});
  same("grad of y = x^4 + w x: dy/dw", found[1], u);
  same("grad with respect to what y does not use", found[2], Matrix{3, 1});
  same("grad of y with respect to y", found[3], ones);
  Tensor power = x;
  int calls = 0;
  for (int i = 0; i < 16; ++i) {
    power = record("sum", scaled(power.value(), 2),
                   {{power, [&calls](const Matrix& gy) { return ++calls, gy; }},
                    {power, [&calls](const Matrix& gy) { return ++calls, gy; }}});
  }
  same("grad of x doubled 16 times", grad(power, {x})[0], scaled(ones, 65536));
  if (calls > 32)
    not_yet("grad called ", calls, " rules for 32 arrows: it follows every path; visit each node once, results first");
  draw(y, folder + "/graph.dot");
  return "each node is visited once, when its gradient is complete; paths would be 2^16 here";
}

}  // namespace check
