// Step 2: a graph.
//
// Following every path takes 2^20 steps for 20 products. A number that is used twice is one vertex with two arrows.
// Sort the vertices, and visit each once, from the result back. When the walk reaches a vertex, its gradient is
// complete. The graph can be drawn, too.
#include <cmath>
#include <cstdio>
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

struct Edge {  // from a result to one of its inputs
  Number to;
  double slope;
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

Number operator+(const Number& a, const Number& b) { return {"add", a.value() + b.value(), {{a, 1}, {b, 1}}}; }
Number operator*(const Number& a, const Number& b) {
  return {"mul", a.value() * b.value(), {{a, b.value()}, {b, a.value()}}};
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
    for (const Edge& edge : number->node->inputs) gradient[edge.to.node.get()] += gy * edge.slope;
  }
  return gradient;
}

void print_dot(const Number& y) {
  std::unordered_map<Node*, std::size_t> place;
  std::printf("digraph {\n");
  for (const Number& number : sorted(y)) {
    const std::size_t at = place.size();
    place[number.node.get()] = at;
    std::printf("  %zu [label=\"%s %g\"]\n", at, number.node->op, number.value());
    for (const Edge& edge : number.node->inputs) std::printf("  %zu -> %zu\n", place[edge.to.node.get()], at);
  }
  std::printf("}\n");
}

int main() {
  const Number x(2, "x"), three(3, "3");
  const Number square = x * x, y = square * square + three * x;
  print_dot(y);
  const double exact = gradients(y)[x.node.get()];
  std::printf("dy/dx = %g\n", exact);

  Number power(1.0000001, "x");
  const Number start = power;
  for (int i = 0; i < 20; ++i) power = power * power;
  const double n = 1 << 20, formula = n * std::pow(1.0000001, n - 1);
  const double squared = gradients(power)[start.node.get()];
  std::printf("x squared 20 times: %zu vertices, d/dx = %.3f\n", sorted(power).size(), squared);

  Number sum = x;
  for (int i = 0; i < 1000000; ++i) sum = sum + x;
  const double many = gradients(sum)[x.node.get()];
  std::printf("x added a million times: %zu vertices, d/dx = %.0f\n", sorted(sum).size(), many);
  return exact == 35 && std::abs(squared / formula - 1) < 1e-6 && many == 1000001 ? 0 : 1;
}
