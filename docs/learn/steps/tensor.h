// The engine of step 4 with a matrix in place of the number: tensors, the graph and grad. Steps 6 to 10 include it; the
// operations are in operations.h.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

struct Matrix {
  int rows = 1, cols = 1;
  std::vector<double> v = std::vector<double>(static_cast<std::size_t>(rows * cols));
  double& at(int i, int j) { return v[static_cast<std::size_t>(i * cols + j)]; }
  const double& at(int i, int j) const { return v[static_cast<std::size_t>(i * cols + j)]; }
};

struct Node;

struct Tensor {  // a handle: copies refer to the same tensor
  std::shared_ptr<Node> node;
  Tensor(double value);
  Tensor(const Matrix& value);
  Tensor(const Matrix& value, std::vector<struct Edge> inputs);
  Matrix& value() const;
  double item() const;
};

using Tensors = std::vector<Tensor>;
using Rule = std::function<Tensor(const Tensor& gy, const Tensor& y)>;  // gy: the gradient of the result y

struct Edge {  // from a result to one of its inputs
  Tensor to;
  Rule rule;
};

struct Node {
  Matrix value;
  bool requires_grad;
  std::vector<Edge> inputs;  // the inputs that require a gradient

  ~Node() {
    Tensors rest;
    let_go(rest);
    while (!rest.empty()) {
      const Tensor last = std::move(rest.back());
      rest.pop_back();
      if (last.node.use_count() == 1) last.node->let_go(rest);
    }
  }
  void let_go(Tensors& rest) {
    for (Edge& edge : inputs) rest.push_back(std::move(edge.to));
    inputs.clear();
  }
};

// Data are constants, parameters are variables. A result remembers only the inputs that depend on a variable.
inline Tensor::Tensor(double value) : node(new Node{{1, 1, {value}}, false, {}}) {}
inline Tensor::Tensor(const Matrix& value) : node(new Node{value, false, {}}) {}
inline Tensor::Tensor(const Matrix& value, std::vector<Edge> inputs) : node(new Node{value, false, {}}) {
  for (Edge& edge : inputs) {
    if (edge.to.node->requires_grad) node->inputs.push_back(std::move(edge));
  }
  node->requires_grad = !node->inputs.empty();
}
inline Tensor variable(const Matrix& value) {
  const Tensor leaf(value);
  leaf.node->requires_grad = true;
  return leaf;
}
inline Matrix& Tensor::value() const { return node->value; }
inline double Tensor::item() const { return node->value.v.at(0); }

// Every vertex that y depends on, once, inputs before results.
inline Tensors sorted(const Tensor& y) {
  Tensors order;
  std::unordered_set<Node*> seen{y.node.get()};
  std::vector<std::pair<Tensor, std::size_t>> stack{{y, 0}};
  while (!stack.empty()) {
    auto& [tensor, next] = stack.back();
    if (next == tensor.node->inputs.size()) {
      order.push_back(tensor);
      stack.pop_back();
    } else if (const Tensor input = tensor.node->inputs[next++].to; seen.insert(input.node.get()).second) {
      stack.emplace_back(input, 0);
    }
  }
  return order;
}

Tensor operator+(const Tensor& a, const Tensor& b);

// dy/dx for every x, recorded.
inline Tensors grad(const Tensor& y, const Tensors& xs) {
  std::unordered_map<Node*, Tensor> gradient{{y.node.get(), 1}};
  const Tensors order = sorted(y);
  for (auto tensor = order.rbegin(); tensor != order.rend(); ++tensor) {
    const Tensor gy = gradient.at(tensor->node.get());
    for (const Edge& edge : tensor->node->inputs) {
      const Tensor gx = edge.rule(gy, *tensor);
      const auto [found, is_first] = gradient.try_emplace(edge.to.node.get(), gx);
      if (!is_first) found->second = found->second + gx;
    }
  }
  Tensors result;
  for (const Tensor& x : xs) {
    result.push_back(gradient.try_emplace(x.node.get(), Matrix{x.value().rows, x.value().cols}).first->second);
  }
  return result;
}
