// Three layers over n tokens of width d, each written token by token, and the costs of their recorded graphs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <xgrad/xgrad.h>

namespace compare_layers {

using namespace xgrad;

inline Tensor weights(const char* name, std::int64_t rows, std::int64_t columns, DrawNumber draw) {
  const Array numbers = random_normal({rows, columns}, RandomKey{1, draw});
  return (Tensor(numbers) / std::sqrt(static_cast<Real>(rows))).named(name);
}

/// Self-attention without projections: y_t = softmax(x_t X' / sqrt(d)) X, rows of X all tokens.      (1, d) each
inline Tensors attention(const Tensors& tokens) {
  const Tensor all = concat(tokens, 0);
  const Real scale = 1 / std::sqrt(static_cast<Real>(all.dim(1)));
  Tensors result;
  for (const Tensor& x : tokens) result.push_back(matmul(softmax(matmul(x, all, {.transpose_b = true}) * scale), all));
  return result;
}

/// h_t = tanh(x_t W + h_(t-1) U)
inline Tensors recurrence(const Tensors& tokens) {
  const std::int64_t d = tokens.front().dim(1);
  const Tensor w = weights("W", d, d, 1), u = weights("U", d, d, 2);
  Tensors result;
  Tensor h;
  for (const Tensor& x : tokens) {
    h = tanh(h.defined() ? matmul(x, w) + matmul(h, u) : matmul(x, w));
    result.push_back(h);
  }
  return result;
}

/// y_t = (x_(t-k+1), ..., x_t) W: the token and the k - 1 before it, zeros before the first.
inline Tensors convolution(const Tensors& tokens, std::int64_t k) {
  const std::int64_t d = tokens.front().dim(1);
  const Tensor w = weights("W", k * d, d, 3), nothing = zeros({1, d}).named("0");
  Tensors result;
  for (std::int64_t t = 0; t < std::ssize(tokens); ++t) {
    Tensors seen;
    for (std::int64_t s = t - k + 1; s <= t; ++s) seen.push_back(s < 0 ? nothing : tokens[static_cast<std::size_t>(s)]);
    result.push_back(matmul(concat(seen, 1), w));
  }
  return result;
}

/// n tokens that gradients flow to, so that operations on them are recorded.
inline Tensors make_tokens(std::int64_t n, std::int64_t d) {
  Tensors tokens;
  for (std::int64_t t = 0; t < n; ++t) {
    tokens.push_back(variable(random_normal({1, d}, RandomKey{2, static_cast<std::uint64_t>(t)})));
  }
  return tokens;
}

/// The cost of computing a graph.
struct Costs {
  std::int64_t multiplications = 0;  ///< of all its matrix products
  std::int64_t sequential = 0;       ///< matrix products that wait for each other
  std::int64_t path = -1;            ///< matrix products on the shortest way from `from` to `to`; -1 if there is none
};

/// Counts in the graph behind `results`; the way is that from the leaf `from` to the result `to`.
inline Costs measure(const Tensors& results, const Tensor& from, const Tensor& to) {
  struct Place {
    std::int64_t depth = 0;
    std::int64_t way = -1;
  };
  std::map<std::uint64_t, const Node*> nodes;  // in the order in which they were made, inputs first
  std::vector<const Node*> stack;
  for (const Tensor& result : results) stack.push_back(detail::Engine::node(result).get());
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (!nodes.emplace(node->id, node).second) continue;
    for (const Edge& edge : node->edges()) stack.push_back(edge.to.get());
  }
  Costs costs{.multiplications = count_operations(results)};
  std::map<const Node*, Place> places;
  // Leaves get their number when they are first used, which may be after a result: they come first.
  for (const bool leaves : {true, false}) {
    for (const auto& [id, node] : nodes) {
      if (node->is_leaf() != leaves) continue;
      const bool product = std::string_view(node->op) == "matmul";
      Place place{.way = node == detail::Engine::node(from).get() ? 0 : -1};
      for (const Edge& edge : node->edges()) {
        const Place& input = places.at(edge.to.get());
        place.depth = std::max(place.depth, input.depth + product);
        if (input.way >= 0 && (place.way < 0 || input.way + product < place.way)) place.way = input.way + product;
      }
      costs.sequential = std::max(costs.sequential, place.depth);
      places.emplace(node, place);
    }
  }
  costs.path = places.at(detail::Engine::node(to).get()).way;
  return costs;
}

enum class Layer { attention, recurrence, convolution };

/// The costs of one layer over n tokens of width d; `path` counts, for a convolution of k tokens, the layers to stack
/// until the last result has seen the first token.
inline Costs measure(Layer layer, std::int64_t n, std::int64_t d, std::int64_t k) {
  const Tensors tokens = make_tokens(n, d);
  const auto apply = [&](const Tensors& xs) {
    return layer == Layer::attention ? attention(xs) : layer == Layer::recurrence ? recurrence(xs) : convolution(xs, k);
  };
  Tensors results = apply(tokens);
  Costs costs = measure(results, tokens.front(), results.back());
  while (costs.path < 0) {
    results = apply(results);
    costs.path = measure({results.back()}, tokens.front(), results.back()).path;
  }
  return costs;
}

/// b of y = a x^b through these points, by least squares of the logarithms.
inline double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::log(x[i]), v = std::log(y[i]);
    sx += u, sy += v, sxx += u * u, sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace compare_layers
