// How an operation with a kernel of its own enters the graph: with the form in operations that it is composed of first,
// behind it the kernel. Under Plain the composed form is all that runs. Else its gradients have two forms, too: the
// kernel, when only their numbers are wanted, and one in operations, when the graph of the gradients is (create_graph).
// All are the same function, which the tests hold against each other. What is told() comes last.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include "grad.h"
#include "record.h"

namespace xgrad {

/// The composed form of a fused operation under Plain: what it calls is one operation as ever.
template <class Composed, class... Arguments>
auto run_composed(const Composed& composed, const Arguments&... arguments) {
  const Plain one_level(false);
  return composed(arguments...);
}

/// A fused operation of one input whose rule is a formula:
///
///     const Tensor y = record_fused("softmax", x, plain_softmax,                               // Tensor -> Tensor
///         softmax_rows,                                                                        // Array -> Array
///         softmax_gradient_rows,                                                               // (gy, y) -> Array
///         [](const Tensor& gy, const Tensor& y) { return y * (gy - row_sum(gy * y)); });       // (gy, y) -> Tensor
template <class Composed, class Kernel, class GradientKernel, class Formula, class... T>
requires std::is_invocable_r_v<Array, Kernel&, const Array&> Tensor record_fused(
    const char* op, const Tensor& x, const Composed& composed, const Kernel& kernel, GradientKernel gradient,
    Formula formula, detail::Told<T>... settings) {
  if (runs_plain()) return run_composed(composed, x);
  return record(op, kernel(x.value()),
                wrt(x,
                    [gradient, formula](const Tensor& gy, const Tensor& y) -> Tensor {
                      return recording() ? formula(gy, y) : Tensor(gradient(gy.value(), y.value()));
                    }),
                std::move(settings)...);
}

/// What the kernel of a fused operation gives: the value, and `gradients(inputs, gy, wanted)`, the numbers of the
/// gradients, std::array<Tensor, N>, of which those that are not wanted may stay undefined.
template <class Gradients>
struct Fused {
  Array value;
  Gradients gradients;
};
template <class Gradients>
Fused(Array, Gradients) -> Fused<Gradients>;

/// A fused operation of N inputs: `composed(x...)` is it in operations, and `kernel()` computes it.
///
///     const Tensor y = record_fused("layer_norm", std::array{x, gamma, beta},
///         [=](const Tensor& x, const Tensor& gamma, const Tensor& beta) {
///           return standardized(x, eps) * gamma + beta;
///         },
///         [&] {
///           const auto [normalized, statistics] = layer_norm_rows(x.value(), gamma.value(), beta.value(), eps);
///           return Fused(normalized, [=](const auto& inputs, const Tensor& gy, Wanted wanted) {
///             return layer_norm_gradients(inputs, statistics, gy, wanted);
///           });
///         });
template <std::size_t N, class Composed, class Kernel, class... T>
Tensor record_fused(const char* op, const std::array<Tensor, N>& inputs, Composed composed, const Kernel& kernel,
                    detail::Told<T>... settings) {
  if (runs_plain()) {
    return std::apply([&](const auto&... each) { return run_composed(composed, each...); }, inputs);
  }
  auto [value, gradients] = kernel();
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
