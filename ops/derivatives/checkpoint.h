// Activation checkpointing saves memory at the cost of time: the intermediate values of a function are not saved for
// the backward pass, which runs the function again.
//
//     for (const Block& block : blocks) {
//       x = checkpoint([&block](const Tensor& x) { return block(x); }, x);
//     }
//
// The backward pass runs the function again. By then the code that called checkpoint() may have returned. So capture by
// reference only objects that live as long as the graph, such as a layer, and everything else by value: [&block], or
// [this, mask] in a module. A lambda with [&] would read local variables that no longer exist.
//
// A stack of n blocks then saves the n inputs of its blocks, and the activations of one block at a time.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include "../../core/base/error.h"
#include "../../core/graph/tensor.h"

namespace xgrad {

namespace detail {
template <class>
using AsTensor = const Tensor&;
}  // namespace detail

/// y = f(inputs), without saving its intermediate values; a backward pass runs f again, with the same random numbers
/// (Chen et al. 2016). Gradients flow to the inputs, and to the other leaves (parameters) that f uses. Gradients of any
/// order come from differentiating the second run. f must do the same when it runs again, and everything that it refers
/// to must live as long as the graph. A layer that counts its runs, such as BatchNorm in training, counts both runs.
/// Without recording, f runs only once.
///
/// Throws ValueError for an empty function; GraphError for an undefined input or result, or if f uses a result from
/// outside f that is not an input; and whatever f throws. The backward pass throws GraphError if the second run of f
/// gives another shape or uses other leaves.
Tensor checkpoint(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs);

/// A checkpoint of a function of one or more tensors: `checkpoint([this](const Tensor& q, const Tensor& k) { ... }, q,
/// k)`.
template <class F, std::convertible_to<Tensor>... Inputs>
requires(sizeof...(Inputs) > 0 && std::is_invocable_r_v<Tensor, const F&, detail::AsTensor<Inputs>...>) Tensor
    checkpoint(F f, const Inputs&... inputs) {
  detail::refuse_empty("checkpoint", f);
  return checkpoint(std::function<Tensor(const Tensors&)>([f = std::move(f)](const Tensors& all) {
                      return [&]<std::size_t... i>(std::index_sequence<i...>) { return f(all[i]...); }
                      (std::index_sequence_for<Inputs...>());
                    }),
                    Tensors{inputs...});
}

}  // namespace xgrad
