// Reverse-mode differentiation: grad() is the core, Tensor::backward() the familiar form on top.
#pragma once

#include <array>
#include <vector>

#include "record.h"
#include "tensor.h"

namespace xgrad {

/// The behaviour of grad() for a tensor that the result does not depend on.
enum class Unused {
  refuse,  ///< throw GraphError and name it
  zeros,   ///< return zeros of its shape
};

struct GradOptions {
  Tensor seed = {};           ///< the gradient of y itself; 1 if y has one element
  bool create_graph = false;  ///< record the pass, so that the gradients can be differentiated again
  bool retain_graph = false;  ///< keep the graph for another pass (create_graph does, too)
  Unused unused = Unused::refuse;
};

struct BackwardOptions {
  Tensor seed = {};
  bool retain_graph = false;
};

/// The gradients of <seed, y> with respect to each of `xs`, in their order and shapes. Has no side effects: gradients
/// are returned, no tensor is changed. `xs` may be leaves or results. Throws GraphError if y depends on nothing that
/// requires a gradient, if an x requires none or is not reached, if the graph was released, if a value that is needed
/// was assigned since it was used, or if a rule returns a wrong shape; ShapeError if the seed's shape is not y's.
/// Threads: passes through different graphs may run at the same time, also where graphs share leaves and constants.
/// Passes that meet inside one graph are each done in full or refused with a GraphError.
///
///     const Tensor g = grad(y, {x}, {.create_graph = true})[0];
///     const Tensor h = grad(sum(g), {x})[0];                       // second derivative
[[nodiscard]] Tensors grad(const Tensor& y, const Tensors& xs, const GradOptions& options = {});

namespace detail {
/// As grad(), but only through the part of the graph that was recorded since `oldest`, the id of a node. The part
/// before it may be in use by another pass, where the gradients of leaves before it become complete and meet their
/// hooks.
Tensors grad_since(std::uint64_t oldest, const Tensor& y, const Tensors& xs, const GradOptions& options);
}  // namespace detail

/// x itself as a new vertex of the graph, to get the gradient of one use of x apart from its other uses.
Tensor alias(const Tensor& x);

/// The gradients of a fused operation by way of its composed form, for when the graph of the gradient is wanted, or
/// there is no faster way: runs `composed(inputs)` with recording on and returns the gradients of <gy,
/// composed(inputs)>, one for each input even if two are the same tensor. Entries that are not wanted stay undefined.
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
