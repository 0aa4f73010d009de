// Recording a fused operation, which has a kernel of its own and a composed form that consists of other operations.
// Under Plain only the composed form runs. Else the kernel computes the value, and also the gradient unless the
// gradient is recorded (create_graph). A recorded gradient consists of operations. Attributes are the last arguments.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include "../core/graph/grad.h"
#include "../core/graph/record.h"

namespace xgrad {

/// Runs the composed form of a fused operation under Plain. Operations that it calls stay fused. Diagrams draw it in a
/// frame with the name of the operation.
template <class Composed, class... Arguments>
auto run_composed(const char* op, const Composed& composed, const Arguments&... arguments) {
  const Plain one_level(false);
  const Scope scope(detail::place_of_composed(op));
  return composed(arguments...);
}

/// A fused operation of one input whose rule is a formula:
///
///     const Tensor y = record_fused("softmax", x, composed_softmax, softmax_rows,
///         softmax_gradient_rows,                                                               // (gy, y) -> Array
///         [](const Tensor& gy, const Tensor& y) { return y * (gy - row_sum(gy * y)); });       // (gy, y) -> Tensor
template <class Composed, class Kernel, class Gradient, class Formula, class... T>
Tensor record_fused(const char* op, const Tensor& x, const Composed& composed, const Kernel& kernel, Gradient gradient,
                    Formula formula, detail::NamedValue<T>... settings) {
  if (runs_plain()) return run_composed(op, composed, x);
  auto rule = [gradient, formula](const Tensor& gy, const Tensor& y) -> Tensor {
    return recording() ? formula(gy, y) : Tensor(gradient(gy.value(), y.value()));
  };
  return record(op, kernel(x.value()), wrt(x, std::move(rule)), std::move(settings)...);
}

/// A fused operation of N inputs. `composed(x...)` is its composed form. `kernel()` returns a pair: the value, and a
/// function `gradients(inputs, gy, wanted)` that returns the gradients as std::array<Tensor, N>. Gradients that are not
/// wanted may stay undefined. See ops/network/layer_norm.cpp.
template <std::size_t N, class Composed, class Kernel, class... T>
Tensor record_fused(const char* op, const std::array<Tensor, N>& inputs, Composed composed, const Kernel& kernel,
                    detail::NamedValue<T>... settings) {
  return std::apply(
      [&](const auto&... each) {
        if (runs_plain()) return Tensor(run_composed(op, composed, each...));
        auto [value, of_kernel] = kernel();
        auto rule = [inputs, gradients = std::move(of_kernel), composed = std::move(composed)](const Tensor& gy,
                                                                                               Wanted wanted) {
          return recording() ? composed_gradients(inputs, gy, wanted, composed) : gradients(inputs, gy, wanted);
        };
        return record(op, std::move(value), jointly(std::move(rule), inputs), std::move(settings)...);
      },
      inputs);
}

}  // namespace xgrad
