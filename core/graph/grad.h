// Reverse-mode differentiation: grad() returns gradients, and Tensor::backward() adds them to the leaves.
#pragma once

#include <array>
#include <vector>

#include "record.h"
#include "tensor.h"

namespace xgrad {

/// The behaviour of grad() for a tensor that the result does not depend on.
enum class Unused {
  refuse,  ///< throw a GraphError that names the tensor
  zeros,   ///< return zeros of its shape
};

struct GradOptions {
  Tensor seed = {};           ///< the gradient of y itself; by default 1 for a y with one element
  bool create_graph = false;  ///< record the pass, so that the gradients can be differentiated again
  bool retain_graph = false;  ///< keep the graph for another pass; create_graph also keeps it
  Unused unused = Unused::refuse;
};

struct BackwardOptions {
  Tensor seed = {};
  bool retain_graph = false;
};

/// The gradients of <seed, y> with respect to each of `xs`, in their order and shapes. Changes no tensor, but releases
/// the graph unless retain_graph or create_graph is set. `xs` may be leaves or results. Throws GraphError if y or an x
/// requires no gradient, if y has several elements and there is no seed, if y does not depend on an x, if the graph was
/// released, if a needed value was assigned after its use, or if a rule returns a wrong shape. Throws ShapeError unless
/// the seed has y's shape. Threads: passes through different graphs may run at the same time, even if the graphs share
/// leaves and constants. If passes meet inside one graph, each either completes or throws GraphError.
///
///     const Tensor g = grad(y, {x}, {.create_graph = true})[0];
///     const Tensor h = grad(sum(g), {x})[0];                       // second derivative
[[nodiscard]] Tensors grad(const Tensor& y, const Tensors& xs, const GradOptions& options = {});

namespace detail {
/// As grad(), but only through the part of the graph that was recorded since the node with the id `oldest`. Another
/// pass may be in the earlier part; that pass completes the gradients of earlier leaves and calls their hooks.
Tensors grad_since(std::uint64_t oldest, const Tensor& y, const Tensors& xs, const GradOptions& options);
}  // namespace detail

/// A new vertex of the graph with the value of x, to get the gradient of one use of x apart from its other uses.
Tensor alias(const Tensor& x);

/// The gradients of a fused operation, computed from its composed form. Use it if the graph of the gradient is wanted,
/// or if no kernel computes the gradient. Runs `composed(inputs)` with recording on and returns the gradients of <gy,
/// composed(inputs)>. Each input has a gradient of its own, even if two inputs are the same tensor. Gradients that are
/// not wanted stay undefined.
template <std::size_t N, class F>
std::array<Tensor, N> composed_gradients(const std::array<Tensor, N>& inputs, const Tensor& gy, Wanted wanted,
                                         const F& composed) {
  const bool graph_wanted = recording();
  const EnableGrad on;
  std::array<Tensor, N> own;
  Tensors xs;
  for (std::size_t i = 0; i < N; ++i) {
    own[i] = wanted[static_cast<int>(i)] ? alias(inputs[i]) : inputs[i];
    if (wanted[static_cast<int>(i)]) xs.push_back(own[i]);
  }
  const Tensors found =
      grad(std::apply(composed, own), xs, {.seed = gy, .create_graph = graph_wanted, .unused = Unused::zeros});
  std::array<Tensor, N> result;
  for (std::size_t i = 0, next = 0; i < N; ++i) {
    if (wanted[static_cast<int>(i)]) result[i] = found[next++];
  }
  return result;
}

}  // namespace xgrad
