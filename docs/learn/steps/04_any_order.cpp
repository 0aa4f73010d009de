// Step 4: any order.
//
// One change: rules compute with Numbers instead of doubles. So the backward pass is recorded, too. A gradient is a
// Number with a graph, and the same rules can differentiate it again. A rule gets y as an argument: if it captured y, y
// would own itself and never be freed.
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

struct Node;

struct Number {  // a handle: copies refer to the same number
  std::shared_ptr<Node> node;
  Number(double value, const char* name = "");
  Number(const char* op, double value, std::vector<struct Edge> inputs);
  double value() const;
};

using Rule = std::function<Number(const Number& gy, const Number& y)>;  // gy: the gradient of the result y

struct Edge {  // from a result to one of its inputs
  Number to;
  Rule rule;
};

struct Node {
  const char* op;
  double value;
  std::vector<Edge> inputs;  // none: a leaf, given and not computed

  ~Node() {  // A loop frees a long chain. Nested destructors would overflow the stack.
    std::vector<Number> rest;
    let_go(rest);
    while (!rest.empty()) {
      const Number last = std::move(rest.back());
      rest.pop_back();
      if (last.node.use_count() == 1) last.node->let_go(rest);  // nothing else uses it
    }
  }
  void let_go(std::vector<Number>& rest) {
    for (Edge& edge : inputs) rest.push_back(std::move(edge.to));
    inputs.clear();
  }
};

Number::Number(double value, const char* name) : node(new Node{name, value, {}}) {}
Number::Number(const char* op, double value, std::vector<Edge> inputs) : node(new Node{op, value, std::move(inputs)}) {}
double Number::value() const { return node->value; }

Number operator+(const Number& a, const Number& b) {
  return {"add", a.value() + b.value(), {{a, [](const Number& gy, const Number&) { return gy; }},
                                         {b, [](const Number& gy, const Number&) { return gy; }}}};
}
Number operator*(const Number& a, const Number& b) {
  return {"mul", a.value() * b.value(), {{a, [b](const Number& gy, const Number&) { return gy * b; }},
                                         {b, [a](const Number& gy, const Number&) { return gy * a; }}}};
}
Number operator-(const Number& a, const Number& b) { return a + -1 * b; }
// dy/dx = 1 - y^2: the rule needs the result, not the input.
Number tanh(const Number& x) {
  return {"tanh", std::tanh(x.value()), {{x, [](const Number& gy, const Number& y) { return gy * (1 - y * y); }}}};
}

// Every vertex that y depends on, once, inputs before results: a depth-first walk with its own stack.
std::vector<Number> sorted(const Number& y) {
  std::vector<Number> order;
  std::unordered_set<Node*> seen{y.node.get()};
  std::vector<std::pair<Number, std::size_t>> stack{{y, 0}};
  while (!stack.empty()) {
    auto& [number, next] = stack.back();
    if (next == number.node->inputs.size()) {
      order.push_back(number);
      stack.pop_back();
    } else if (const Number input = number.node->inputs[next++].to; seen.insert(input.node.get()).second) {
      stack.emplace_back(input, 0);
    }
  }
  return order;
}

// dy/dx, recorded.
Number grad(const Number& y, const Number& x) {
  std::unordered_map<Node*, Number> gradient{{y.node.get(), 1}};
  const std::vector<Number> order = sorted(y);
  for (auto number = order.rbegin(); number != order.rend(); ++number) {
    const Number gy = gradient.at(number->node.get());  // complete: every use of the number has been visited
    for (const Edge& edge : number->node->inputs) {
      const Number gx = edge.rule(gy, *number);
      const auto [found, is_first] = gradient.try_emplace(edge.to.node.get(), gx);
      if (!is_first) found->second = found->second + gx;
    }
  }
  return gradient.try_emplace(x.node.get(), 0).first->second;
}

Number derivative_of_tanh(int order, const Number& x) {
  Number y = tanh(x);
  for (; order > 0; --order) y = grad(y, x);
  return y;
}

int main() {
  bool right = true;
  std::printf("order  derivative of tanh at 0.7   difference of the one before   vertices\n");
  for (int order = 1; order <= 6; ++order) {
    const Number x = 0.7, exact = derivative_of_tanh(order, x);
    const double e = 1e-5, after = derivative_of_tanh(order - 1, 0.7 + e).value(),
                 before = derivative_of_tanh(order - 1, 0.7 - e).value(), difference = (after - before) / (2 * e);
    std::printf("%5d  %25.5f  %29.5f  %9zu\n", order, exact.value(), difference, sorted(exact).size());
    right &= std::abs(exact.value() - difference) < 1e-6;
  }
  const double y = std::tanh(0.7), third = (1 - y * y) * (6 * y * y - 2);
  std::printf("the third by its formula, (1 - y^2) (6 y^2 - 2): %.5f\n", third);
  return right && std::abs(derivative_of_tanh(3, 0.7).value() - third) < 1e-12 ? 0 : 1;
}
