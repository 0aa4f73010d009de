// How an operation with kernels of its own for its gradients enters the graph. Its gradients have two forms: the
// kernel, when only their numbers are wanted, and one in operations, when the graph of the gradients is (create_graph).
// Both are the same function, which the tests hold against each other. What is told() comes last.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include "grad.h"
#include "record.h"

namespace xgrad {

/// A fused operation of one input whose rule is a formula:
///
///     const Tensor y = record_fused("softmax", softmax_rows(x.value()), x,
///         softmax_gradient_rows,                                                               // (gy, y) -> Array
///         [](const Tensor& gy, const Tensor& y) { return y * (gy - row_sum(gy * y)); });       // (gy, y) -> Tensor
template <class Kernel, class Formula, class... T>
requires std::is_invocable_r_v<Array, Kernel&, const Array&, const Array&> Tensor record_fused(
    const char* op, Array value, const Tensor& x, Kernel kernel, Formula formula, detail::Told<T>... settings) {
  return record(op, std::move(value),
                wrt(x,
                    [kernel, formula](const Tensor& gy, const Tensor& y) -> Tensor {
                      return recording() ? formula(gy, y) : Tensor(kernel(gy.value(), y.value()));
                    }),
                std::move(settings)...);
}

/// A fused operation of N inputs that is made of other operations: `composed(x...)` is it in these, and
/// `gradients(inputs, gy, wanted)` gives the numbers of the gradients, std::array<Tensor, N>, of which those that are
/// not wanted may stay undefined.
///
///     const Tensor y = record_fused("layer_norm", normalized, std::array{x, gamma, beta},
///         [=](const auto& inputs, const Tensor& gy, Wanted wanted) {
///           return layer_norm_gradients(inputs, statistics, gy, wanted);
///         },
///         [=](const Tensor& x, const Tensor& gamma, const Tensor& beta) {
///           return standardized(x, eps) * gamma + beta;
///         });
template <std::size_t N, class Gradients, class Composed, class... T>
Tensor record_fused(const char* op, Array value, const std::array<Tensor, N>& inputs, Gradients gradients,
                    Composed composed, detail::Told<T>... settings) {
  auto rule = [inputs, gradients = std::move(gradients), composed = std::move(composed)](const Tensor& gy,
                                                                                         Wanted wanted) {
    return recording() ? composed_gradients(inputs, gy, wanted, composed) : gradients(inputs, gy, wanted);
  };
  return std::apply(
      [&](const auto&... each) {
        return record(op, std::move(value), jointly(std::move(rule), each...), std::move(settings)...);
      },
      inputs);
}

}  // namespace xgrad
