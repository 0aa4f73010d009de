// The arguments of record() in core/graph/record.h, and the way in which they become a node.
//
// Every rule has a type of its own. record() erases the types: each argument becomes a RecordArgument, a pointer to the
// argument with functions that move its rule into the graph. So one function in record.cpp makes the nodes of all
// operations. A rule is moved once, and only if a graph is recorded.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../base/assert.h"
#include "tensor.h"

namespace xgrad {

/// Says which inputs of a joint rule need a gradient.
class Wanted {
 public:
  explicit Wanted(const bool* flags) : flags_(flags) {}
  bool operator[](int input) const { return flags_[input]; }

 private:
  const bool* flags_;
};

/// The shape of the input whose gradient a rule computes: the last argument of a rule that needs it. The graph stores
/// this shape anyway. A Shape that the rule captured would take as much memory as the node.
class InputShape {
 public:
  explicit InputShape(const Node& input) : input_(input) {}
  operator Shape() const { return input_.shape(); }

 private:
  const Node& input_;
};

namespace detail {

template <class F, class... Arguments>
concept RuleOf = std::is_invocable_r_v<Tensor, F&, const Tensor&, Arguments...>;

/// How a Rule calls the rule of one input.
struct SingleRule {
  template <class F>
  static constexpr bool takes_output = RuleOf<F, const Tensor&> || RuleOf<F, const Tensor&, InputShape>;

  template <class F>
  static void call(F& f, const Tensor& gy, const Tensor& y, const bool*, Tensor* gx, const Edge* edge) {
    static_assert(RuleOf<F> || RuleOf<F, InputShape> || takes_output<F>,
                  "a rule takes (gy) or (gy, y), and may take the input's shape as its last argument");
    if constexpr (RuleOf<F, const Tensor&, InputShape>) {
      gx[0] = f(gy, y, InputShape(*edge->to));
    } else if constexpr (RuleOf<F, InputShape>) {
      gx[0] = f(gy, InputShape(*edge->to));
    } else if constexpr (RuleOf<F, const Tensor&>) {
      gx[0] = f(gy, y);
    } else {
      gx[0] = f(gy);
    }
  }
};

/// How a Rule calls the rule of several inputs.
struct JointRule {
  template <class F>
  static constexpr bool takes_output = std::is_invocable_v<F&, const Tensor&, const Tensor&, Wanted>;

  template <class F>
  static void call(F& f, const Tensor& gy, const Tensor& y, const bool* wanted, Tensor* gx, const Edge* edge) {
    auto all = [&] {
      if constexpr (takes_output<F>) {
        return f(gy, y, Wanted(wanted));
      } else {
        return f(gy, Wanted(wanted));
      }
    }();
    XGRAD_ASSERT(all.size() == edge->covers);
    std::ranges::move(all, gx);
  }
};

/// Marks wrt_each(): a function makes the rule of each input.
struct RulePerInput {};

/// The result of wrt(), jointly() and wrt_each(): inputs and their rules.
template <class Kind, class Inputs, class F>
struct InputsWithRule {
  Inputs inputs;
  F rule;
};
/// The result of attribute() and multiply_adds().
template <class T>
struct NamedValue {
  const char* name;
  T value;
};
struct MultiplyAdds {
  std::int64_t count;
};

inline std::span<const Tensor> tensors_of(const Tensor& input) { return {&input, 1}; }
inline std::span<const Tensor> tensors_of(std::span<const Tensor> inputs) { return inputs; }

/// Moves a rule into the edge of its input, or of the first of its inputs. Returns whether it asks for the result.
template <class Kind, class F>
bool set_rule(Node& node, Edge& edge, F&& rule) {
  using Function = std::remove_cvref_t<F>;
  edge.rule.set<Kind>(std::forward<F>(rule));
  // A closure that has nothing to destroy holds no tensor, so an assignment to an input cannot make it wrong.
  node.captures_inputs |= !std::is_trivially_destructible_v<Function>;
  return Kind::template takes_output<Function>;
}

/// Adds an attribute to a list.
void append_attribute(std::vector<Attribute>& to, const char* name, AttributeValue&& value);
template <class T>
void add_attributes(std::vector<Attribute>& to, const char* name, const T& value) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    append_attribute(to, name, static_cast<std::int64_t>(value));
  } else if constexpr (requires { value.has_value(); }) {
    if (value) add_attributes(to, name, *value);
  } else if constexpr (std::same_as<T, Axes>) {
    Shape numbers;
    for (const int axis : value) numbers.push_back(axis);
    append_attribute(to, name, std::move(numbers));
  } else {
    append_attribute(to, name, value);
  }
}

/// The functions that all arguments of record() of one type share.
struct ArgumentKind {
  /// Moves the rule of an input into its edge; returns whether it asks for the result. nullptr: no inputs.
  bool (*set_rule)(const void* argument, std::size_t input, Node& node, Edge& edge) = nullptr;
  bool joint = false;  ///< one rule for all inputs
  /// Adds an attribute. nullptr: inputs, or multiply-adds.
  void (*add_to)(const void* argument, std::vector<Attribute>& to) = nullptr;
};

template <class Kind, class Inputs, class F>
inline constexpr ArgumentKind kind_of_rule{
    .set_rule =
        [](const void* argument, std::size_t i, Node& node, Edge& edge) {
          F& rule = static_cast<InputsWithRule<Kind, Inputs, F>*>(const_cast<void*>(argument))->rule;
          if constexpr (std::same_as<Kind, RulePerInput>) {
            return detail::set_rule<SingleRule>(node, edge, rule(i));
          } else {
            return detail::set_rule<Kind>(node, edge, std::move(rule));
          }
        },
    .joint = std::same_as<Kind, JointRule>};
template <class T>
inline constexpr ArgumentKind kind_of_attribute{.add_to = [](const void* argument, std::vector<Attribute>& to) {
  const auto& [name, value] = *static_cast<const NamedValue<T>*>(argument);
  add_attributes(to, name, value);
}};
inline constexpr ArgumentKind kind_of_multiply_adds{};

/// An argument of record() without its type: inputs with their rules, or an attribute. It refers to the argument.
struct RecordArgument {
  template <class Kind, class Inputs, class F>
  RecordArgument(InputsWithRule<Kind, Inputs, F>&& argument)
      : inputs(tensors_of(argument.inputs)), given(&argument), kind(kind_of_rule<Kind, Inputs, F>) {
    using Gradients = std::remove_cvref_t<Inputs>;
    static_assert(
        !std::same_as<Kind, JointRule> || std::is_invocable_r_v<Gradients, F&, const Tensor&, Wanted> ||
            std::is_invocable_r_v<Gradients, F&, const Tensor&, const Tensor&, Wanted>,
        "a joint rule takes (gy, wanted) or (gy, y, wanted) and returns std::array<Tensor, number of inputs>, "
        "or Tensors for inputs in Tensors");
  }
  template <class T>
  RecordArgument(const NamedValue<T>& argument) : given(&argument), kind(kind_of_attribute<T>) {}
  RecordArgument(const NamedValue<MultiplyAdds>& argument) : given(&argument), kind(kind_of_multiply_adds) {}

  /// Whether this argument gives the multiply-adds of the operation; the next function returns their number.
  bool counts() const { return &kind == &kind_of_multiply_adds; }
  std::int64_t multiply_adds() const { return static_cast<const NamedValue<MultiplyAdds>*>(given)->value.count; }

  std::span<const Tensor> inputs = {};
  const void* given;  ///< to record()
  const ArgumentKind& kind;
};

/// Whether a backward pass is running that is not recorded and has no observers.
inline bool only_computes() { return context.grad_mode == GradMode::gradient && !context.observers; }

/// The tensor of a result: see core/graph/record.h.
Tensor record(const char* op, Array&& value, std::span<const RecordArgument> arguments);

}  // namespace detail

}  // namespace xgrad
