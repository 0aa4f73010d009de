// Step 3: tanh, with its rule.
//
// So far an arrow carries a slope, which is computed even if no gradient is requested. Now it carries a rule: a
// function from the gradient of the result to the gradient of the input. An operation is its name, its value and one
// rule per input. tanh needs two lines.
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

using Rule = std::function<double(double gy, double y)>;  // gy: the gradient of the result y

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
  return {"add", a.value() + b.value(), {{a, [](double gy, double) { return gy; }},
                                         {b, [](double gy, double) { return gy; }}}};
}
Number operator*(const Number& a, const Number& b) {
  return {"mul", a.value() * b.value(), {{a, [b](double gy, double) { return gy * b.value(); }},
                                         {b, [a](double gy, double) { return gy * a.value(); }}}};
}
// dy/dx = 1 - y^2: the rule needs the result, not the input.
Number tanh(const Number& x) {
  return {"tanh", std::tanh(x.value()), {{x, [](double gy, double y) { return gy * (1 - y * y); }}}};
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

// dy/dv for every vertex v.
std::unordered_map<Node*, double> gradients(const Number& y) {
  std::unordered_map<Node*, double> gradient{{y.node.get(), 1}};
  const std::vector<Number> order = sorted(y);
  for (auto number = order.rbegin(); number != order.rend(); ++number) {
    const double gy = gradient.at(number->node.get());  // complete: every use of the number has been visited
    for (const Edge& edge : number->node->inputs) gradient[edge.to.node.get()] += edge.rule(gy, number->value());
  }
  return gradient;
}

int main() {
  bool right = true;
  std::printf("     x   tanh(x)  derivative  difference\n");
  for (double at = -2; at <= 2; at += 1) {
    const Number x(at, "x");
    const double exact = gradients(tanh(x))[x.node.get()];
    const double e = 1e-5, difference = (std::tanh(at + e) - std::tanh(at - e)) / (2 * e);
    std::printf("  %4.1f   %7.4f      %.5f     %.5f\n", at, std::tanh(at), exact, difference);
    right &= std::abs(exact - difference) < 1e-9;
  }

  const Number w(0.5, "w"), x(2, "x"), b(-0.3, "b"), y = tanh(w * x + b);
  auto gradient = gradients(y);
  const double by_w = gradient[w.node.get()], by_x = gradient[x.node.get()], by_b = gradient[b.node.get()];
  std::printf("y = tanh(w x + b) = %.4f, dy/dw = %.4f, dy/dx = %.4f, dy/db = %.4f\n", y.value(), by_w, by_x, by_b);
  const double e = 1e-5, difference = (std::tanh((0.5 + e) * 2 - 0.3) - std::tanh((0.5 - e) * 2 - 0.3)) / (2 * e);
  right &= std::abs(by_w - difference) < 1e-9;
  return right ? 0 : 1;
}
