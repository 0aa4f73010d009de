// Step 5: the second derivative.
//
// What are derivatives of derivatives good for? A curve is steepest where the slope of its slope is 0. Newton's method
// finds this point for a bell curve, with a third derivative.
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
// dy/dx = y
Number exp(const Number& x) {
  return {"exp", std::exp(x.value()), {{x, [](const Number& gy, const Number& y) { return gy * y; }}}};
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

Number bell(const Number& x) { return exp(-0.5 * x * x); }

int main() {
  bool right = true;
  std::printf("   x        y       y'      y''\n");
  for (double at = -2; at <= 2; at += 0.5) {
    const Number x(at, "x"), y = bell(x), first = grad(y, x), second = grad(first, x);
    std::printf("%4.1f  %7.4f  %7.4f  %7.4f\n", at, y.value(), first.value(), second.value());
    right &= std::abs(first.value() + at * y.value()) < 1e-12;              // y' = -x y
    right &= std::abs(second.value() - (at * at - 1) * y.value()) < 1e-12;  // y'' = (x^2 - 1) y
  }
  double at = 0.7;
  for (int step = 0; step < 5; ++step) {
    const Number x(at, "x"), second = grad(grad(bell(x), x), x);
    std::printf("step %d  x = %.6f\n", step, at);
    at -= second.value() / grad(second, x).value();
  }
  return right && std::abs(at - 1) < 1e-12 ? 0 : 1;
}
