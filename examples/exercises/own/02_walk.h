// Your own engine, 2 of 12: The walk backwards. docs/learn/own_engine.md
//
// The nodes and their inputs are a graph. A gradient is complete when all results that use a node have been visited, so
// the walk goes from y back and visits each node once, results before their inputs. Write
//
//     sorted   each tensor that y depends on, once, inputs before results; y comes last
//     grad     dy/dx for each x of xs; zeros of the shape of x if y does not depend on it
//
// The gradient of y itself is a table of ones. Contributions to one node add up.
#pragma once
#include "01_number.h"

inline Tensors sorted(const Tensor& y) {
  //< return {};
  Tensors order;
  std::unordered_set<Node*> seen;
  const std::function<void(const Tensor&)> visit = [&](const Tensor& x) {
    if (!seen.insert(x.node.get()).second) return;
    for (const Input& input : x.node->inputs) visit(input.from);
    order.push_back(x);
  };
  visit(y);
  return order;
  //>
}

inline std::vector<Matrix> grad(const Tensor& y, const Tensors& xs) {
  //< return {};
  std::unordered_map<Node*, Matrix> gradient;
  gradient[y.node.get()] = map(y.value(), [](double) { return 1; });
  const Tensors order = sorted(y);
  for (auto result = order.rbegin(); result != order.rend(); ++result) {
    const Matrix gy = gradient.at(result->node.get());
    for (const Input& input : result->node->inputs) {
      const Matrix gx = input.rule(gy);
      const auto [found, first] = gradient.try_emplace(input.from.node.get(), gx);
      if (!first) found->second = map(found->second, gx, [](double a, double b) { return a + b; });
    }
  }
  std::vector<Matrix> result;
  for (const Tensor& x : xs) {
    const Matrix none{x.value().rows, x.value().cols};
    result.push_back(gradient.try_emplace(x.node.get(), none).first->second);
  }
  return result;
  //>
}
