// Recording an operation in the graph: record(op, value, wrt(input, rule), ...).
//
// An operation is one function: it checks its inputs, computes its value, and gives the gradient rules.
//
//     Tensor tanh(const Tensor& x) {
//       return record("tanh", tanh_kernel(x.value()),
//                     wrt(x, [](const Tensor& gy, const Tensor& y) { return gy * (1 - y * y); }));
//     }
//
// Rules consist of public operations, so that they can be differentiated themselves. The parameters and captures of a
// rule decide what is saved for backward: (gy) saves nothing, (gy, y) saves the result, and a captured tensor is saved.
// A rule whose last parameter is an InputShape gets the shape of its input. A capture with a nontrivial destructor,
// even a std::vector<int>, counts as a tensor: after an assignment to an input, the backward pass throws GraphError.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../base/formula.h"
#include "../base/scope.h"
#include "record_detail.h"
#include "tensor.h"

namespace xgrad {

/// Returns the result of an operation as a tensor. If recording is on and a gradient flows to at least one input, the
/// tensor has a node with arrows to the inputs; else it is a constant. `arguments` are first the inputs, made by wrt(),
/// jointly() or wrt_each(), then the attributes, made by attribute() or multiply_adds(). `op` must live as long as the
/// program (a literal).
template <class... Arguments>
Tensor record(const char* op, Array value, Arguments&&... arguments) {
  if (detail::only_computes()) return Tensor(std::move(value));
  const detail::RecordArgument all[] = {std::forward<Arguments>(arguments)...};
  return detail::record(op, std::move(value), all);
}

/// An input and its gradient rule, for record(). `rule` takes (gy) or (gy, y), and optionally the input's InputShape as
/// the last argument. It returns the gradient with respect to this input, in the input's shape.
template <class F>
detail::InputsWithRule<detail::SingleRule, const Tensor&, F> wrt(const Tensor& input, F rule) {
  return {input, std::move(rule)};
}
template <class F>
detail::InputsWithRule<detail::SingleRule, Tensor, F> wrt(Tensor&& input, F rule) {
  return {std::move(input), std::move(rule)};
}

/// Several inputs with one rule, because their gradients share work. The rule takes (gy, wanted) or (gy, y, wanted) and
/// returns std::array<Tensor, N>. If wanted[i] is false, the gradient of input i may stay undefined.
template <class F, std::convertible_to<Tensor>... Inputs>
detail::InputsWithRule<detail::JointRule, std::array<Tensor, sizeof...(Inputs)>, F> jointly(F rule,
                                                                                            Inputs&&... inputs) {
  return {{std::forward<Inputs>(inputs)...}, std::move(rule)};
}
/// The same for a list of inputs: a std::array<Tensor, N>, or Tensors. The rule for Tensors returns Tensors, one for
/// each input.
template <class F, std::convertible_to<std::span<const Tensor>> List>
detail::InputsWithRule<detail::JointRule, List, F> jointly(F rule, List&& inputs) {
  return {std::forward<List>(inputs), std::move(rule)};
}

/// A list of inputs, each with its own rule: `make_rule(i)` returns the rule of input i, as for wrt().
template <class F, std::convertible_to<std::span<const Tensor>> List>
detail::InputsWithRule<detail::RulePerInput, List, F> wrt_each(List&& inputs, F make_rule) {
  return {std::forward<List>(inputs), std::move(make_rule)};
}

/// An attribute of an operation, for diagrams and exporters: an option, attribute("axis", axis), or an input that is
/// not a tensor, attribute("ids", ids). The graph shares the elements of such an input. `name` and words must live as
/// long as the program (literals). An empty std::optional adds nothing. No gradient flows to attributes.
template <class T>
detail::NamedValue<T> attribute(const char* name, const T& value) {
  return {name, value};
}
inline detail::NamedValue<std::string_view> attribute(const char* name, const char* word) { return {name, word}; }
/// An argument of attribute(): the value, or nothing if it is the default.
template <class T>
std::optional<T> unless(const std::type_identity_t<T>& usual, const T& value) {
  if (value == usual) return {};
  return value;
}

/// The number of multiply-adds of an operation: the product of these sizes, at most 2^63 - 1. count_operations(),
/// diagrams and summaries use it. An operation without this attribute counts 0.
detail::NamedValue<detail::MultiplyAdds> multiply_adds(std::convertible_to<std::int64_t> auto... sizes) {
  std::int64_t count = 1;
  const bool fits = (!__builtin_mul_overflow(count, std::int64_t{sizes}, &count) && ...);
  return {"multiply_adds", {fits ? count : std::numeric_limits<std::int64_t>::max()}};
}

/// Whether operations are being recorded on this thread. During a backward pass: whether the pass itself is recorded.
inline bool recording() { return detail::context.grad_mode == GradMode::recording; }

/// An input for a rule to capture; undefined if the graph will not hold the rule. Capturing the input itself has the
/// same effect, but counts a reference, which takes noticeable time in small operations.
inline Tensor saved(const Tensor& input) { return recording() ? input : Tensor(); }

/// While this object lives, no graph is recorded: results are constants. Threads: it affects the thread that made it,
/// which must also destroy it, and the threads of a parallel_for during its life. New threads record.
struct [[nodiscard]] NoGrad : detail::ScopedValue<GradMode> {
  [[nodiscard]] NoGrad() : ScopedValue(&detail::Context::grad_mode, GradMode::no_grad) {}
};
/// While this object lives, operations are recorded again, inside a NoGrad.
struct [[nodiscard]] EnableGrad : detail::ScopedValue<GradMode> {
  [[nodiscard]] EnableGrad() : ScopedValue(&detail::Context::grad_mode, GradMode::recording) {}
};

/// While this object lives, operations that no gradient flows through leave a trace, too: their names, attributes and
/// inputs, but no values. So diagrams show how inputs were prepared, and models without a trainable parameter. Nothing
/// else changes. A ValueRecorder does the same while it lives. Threads: it affects the thread that made it.
struct [[nodiscard]] TraceAll {
  [[nodiscard]] TraceAll() { ++detail::context.tracing; }
  ~TraceAll() { --detail::context.tracing; }
  TraceAll(const TraceAll&) = delete;
  TraceAll& operator=(const TraceAll&) = delete;
};

}  // namespace xgrad
