// Hint: record is two lines: a leaf of the value with the name, whose node then gets the inputs.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  const Tensor a(numbers(2, 3, 1), "a"), b(numbers(2, 3, 2), "b");
  const Matrix g = numbers(2, 3, 3), u = a.value(), v = b.value();
  const Tensor kept = record("kept", u, {{b, [](const Matrix& gy) { return gy; }}});
  if (kept.node == nullptr) not_yet("record: the result has no node");
  same("record: the value", kept.value(), u);
  if (kept.node->name != "kept") not_yet("record: the name of the node is '", kept.node->name, "' instead of 'kept'");
  if (kept.node->inputs.size() != 1 || kept.node->inputs[0].from.node != b.node)
    not_yet("record: the node does not have the inputs that were given");
  const Tensor other(numbers(2, 3, 4), "other");
  const auto binary = [&](const std::string& name, auto f, const Matrix& value, const Matrix& of_a, const Matrix& of_b,
                          std::vector<Known> known) {
    Tensor of_caller_a = a, of_caller_b = b;
    const Tensor y = f(of_caller_a, of_caller_b);
    of_caller_a = of_caller_b = other;  // handles of whoever called may change: a rule has its own
    known.push_back({times(g, other.value()), "it was captured by [&], and sees what became of the caller's handles: "
                                              "a rule captures copies, [b]"});
    if (y.node == a.node || y.node == b.node) not_yet(name, " gives its operand: return record(...) of a new value");
    same(name + ": the value", y.value(), value);
    const auto& inputs = y.node->inputs;
    if (inputs.size() != 2) not_yet(name, ": the result has ", inputs.size(), " inputs instead of 2, a and b");
    if (inputs[0].from.node != a.node || inputs[1].from.node != b.node)
      not_yet(name, ": the inputs are other tensors than a and b, in this order; copies are handles of the same node");
    same(name + ": the rule of a", inputs[0].rule(g), of_a, known);
    same(name + ": the rule of b", inputs[1].rule(g), of_b, known);
  };
  const Matrix ones = map(g, [](double) { return 1; });
  binary("add", add, map(u, v, [](double x, double y) { return x + y; }), g, g,
         {{ones, "it gives 1, the slope: the rule multiplies the slope by gy"}});
  binary("mul", mul, times(u, v), times(g, v), times(g, u),
         {{u, "it gives a: times gy is missing"},
          {v, "it gives b: times gy is missing"},
          {times(g, u), "it gives gy a, the rule of b: a small change of a counts b times"},
          {times(g, v), "it gives gy b, the rule of a: a small change of b counts a times"},
          {g, "it gives gy, the rule of a sum: the slope for a is b"}});
  const Tensor x(3.0), square = mul(x, x);
  if (square.node->inputs.size() != 2) not_yet("mul(x, x) has two inputs, both x: its rules add up to 2 x");
  draw(add(mul(Tensor(Matrix{}, "w"), Tensor(Matrix{}, "x")), Tensor(Matrix{}, "b")), folder + "/graph.dot");
  return "a result knows where it comes from";
}

}  // namespace check
