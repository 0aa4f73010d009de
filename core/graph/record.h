// Recording an operation in the graph: record(op, value, wrt(input, rule), ...).
//
// An operation is one function in one place: check, compute, rule.
//
//     Tensor tanh(const Tensor& x) {
//       return record("tanh", tanh_kernel(x.value()),
//                     wrt(x, [](const Tensor& gy, const Tensor& y) { return gy * (1 - y * y); }));
//     }
//
// Rules are written in public operations, so that they can be differentiated themselves. The arguments and captures of
// a rule decide what stays in memory: (gy) alone keeps nothing, (gy, y) keeps the result, a captured tensor is kept. A
// rule whose last parameter is an InputShape gets the shape of its input. A rule with a capture that has anything to
// destroy counts as one that holds tensors, a std::vector<int> too: after an assignment to an input it is refused.
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

/// The tensor of an operation's result: a node with arrows to the inputs if recording is on and a gradient flows to at
/// least one of them, else a plain value. `arguments` are the inputs, by wrt(), jointly() or wrt_each(), then
/// attributes, by attribute() or multiply_adds(). `op` must live as long as the program (a literal).
template <class... Arguments>
Tensor record(const char* op, Array value, Arguments&&... arguments) {
  if (detail::only_computes()) return Tensor(std::move(value));
  const detail::RecordArgument all[] = {std::forward<Arguments>(arguments)...};
  return detail::record(op, std::move(value), all);
}

/// "With respect to this input, the gradient is": `rule` takes (gy) or (gy, y), followed by the input's InputShape if
/// it asks for that, and returns the input's gradient, of the input's shape.
template <class F>
detail::InputsWithRule<detail::SingleRule, const Tensor&, F> wrt(const Tensor& input, F rule) {
  return {input, std::move(rule)};
}
template <class F>
detail::InputsWithRule<detail::SingleRule, Tensor, F> wrt(Tensor&& input, F rule) {
  return {std::move(input), std::move(rule)};
}

/// One rule for several inputs whose gradients share work: it takes (gy, wanted) or (gy, y, wanted) and returns
/// std::array<Tensor, N>. The gradient of input i is wanted if wanted[i]; others may stay undefined.
template <class F, std::convertible_to<Tensor>... Inputs>
detail::InputsWithRule<detail::JointRule, std::array<Tensor, sizeof...(Inputs)>, F> jointly(F rule,
                                                                                            Inputs&&... inputs) {
  return {{std::forward<Inputs>(inputs)...}, std::move(rule)};
}
/// The same for a list: a std::array<Tensor, N>, or Tensors, whose rule returns Tensors, one for each input.
template <class F, std::convertible_to<std::span<const Tensor>> List>
detail::InputsWithRule<detail::JointRule, List, F> jointly(F rule, List&& inputs) {
  return {std::forward<List>(inputs), std::move(rule)};
}

/// A rule for each input of a list: `make_rule(i)` is the rule of the i-th, as for wrt().
template <class F, std::convertible_to<std::span<const Tensor>> List>
detail::InputsWithRule<detail::RulePerInput, List, F> wrt_each(List&& inputs, F make_rule) {
  return {std::forward<List>(inputs), std::move(make_rule)};
}

/// An attribute of an operation for diagrams and exporters: an option, attribute("axis", axis), or an input that is
/// not a tensor, attribute("ids", ids), of which the graph keeps a reference. `name` and words must live as long as the
/// program (literals); an empty std::optional adds nothing. No gradient flows here.
template <class T>
detail::NamedValue<T> attribute(const char* name, const T& value) {
  return {name, value};
}
inline detail::NamedValue<std::string_view> attribute(const char* name, const char* word) { return {name, word}; }
/// For attribute(): the value, or nothing if it is the default.
template <class T>
std::optional<T> unless(const std::type_identity_t<T>& usual, const T& value) {
  if (value == usual) return {};
  return value;
}

/// The cost of an operation that is made of products: its multiply-adds, the product of these sizes (at most 2^63 - 1),
/// for count_operations(), diagrams and summaries. An operation without it counts nothing.
detail::NamedValue<detail::MultiplyAdds> multiply_adds(std::convertible_to<std::int64_t> auto... sizes) {
  std::int64_t count = 1;
  const bool fits = (!__builtin_mul_overflow(count, std::int64_t{sizes}, &count) && ...);
  return {"multiply_adds", {fits ? count : std::numeric_limits<std::int64_t>::max()}};
}

/// Whether operations are being recorded on this thread. During a backward pass: whether its graph is wanted.
inline bool recording() { return detail::context.grad_mode == GradMode::recording; }

/// An input for a rule to capture, or nothing if the graph will not hold the rule. The same as a capture of the input
/// itself, but without the count of a reference, which shows in operations on a few numbers.
inline Tensor saved(const Tensor& input) { return recording() ? input : Tensor(); }

/// While it lives, no graph is recorded: results are plain values. Threads: for the thread that made it, which also
/// ends it, and for the threads of a parallel_for inside it; new threads record.
struct [[nodiscard]] NoGrad : detail::ScopedValue<GradMode> {
  [[nodiscard]] NoGrad() : ScopedValue(&detail::Context::grad_mode, GradMode::no_grad) {}
};
/// Records again inside a NoGrad.
struct [[nodiscard]] EnableGrad : detail::ScopedValue<GradMode> {
  [[nodiscard]] EnableGrad() : ScopedValue(&detail::Context::grad_mode, GradMode::recording) {}
};

/// While it lives, operations that no gradient flows through leave a trace, too: their names, attributes and inputs, no
/// numbers. So diagrams show how inputs were prepared, and models without a trainable parameter. Nothing else changes.
/// A ValueRecorder does the same while it lives. Threads: for the thread that made it.
struct [[nodiscard]] TraceAll {
  [[nodiscard]] TraceAll() { ++detail::context.tracing; }
  ~TraceAll() { --detail::context.tracing; }
  TraceAll(const TraceAll&) = delete;
  TraceAll& operator=(const TraceAll&) = delete;
};

}  // namespace xgrad
