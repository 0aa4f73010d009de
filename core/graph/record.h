// Recording an operation in the graph: record(op, value, wrt(input, rule), ...).
//
// An operation is one function in one place: check, compute, rule.
//
//     Tensor tanh(const Tensor& x) {
//       return record("tanh", tanh_kernel(x.value()),
//                     wrt(x, [](const Tensor& gy, const Tensor& y) { return gy * (1 - y * y); }));
//     }
//
// Rules are written in public operations, so that they can be differentiated themselves. The arguments and captures of a rule
// decide what stays in memory: (gy) alone keeps nothing, (gy, y) keeps the result, a captured tensor is kept. A rule whose last
// parameter is an InputShape gets the shape of its input. A rule with a capture that has anything to destroy counts as one
// that holds tensors, a std::vector<int> too: after an assignment to an input it is refused.
// Settings and inputs that are not tensors are given to diagrams by told(): record("sum", y, wrt(x, rule), told("axis", axis)).
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../base/scope.h"
#include "tensor.h"

namespace xgrad {

/// Whether operations are being recorded on this thread. During a backward pass: whether its graph is wanted.
inline bool recording() { return detail::context.history == History::recorded; }

/// An input for a rule to capture, or nothing if no rule will be kept. The same as capturing the input itself, but
/// without counting a reference, which shows in operations on a few numbers.
inline Tensor kept(const Tensor& input) { return recording() ? input : Tensor(); }

/// While it lives, no graph is recorded: results are plain values. Threads: for the thread that made it, which also
/// ends it, and for the threads of a parallel_for inside it; new threads record.
struct [[nodiscard]] NoGrad : detail::With<History> {
  [[nodiscard]] NoGrad() : With(&detail::Context::history, History::no_grad) {}
};
/// Records again inside a NoGrad.
struct [[nodiscard]] EnableGrad : detail::With<History> {
  [[nodiscard]] EnableGrad() : With(&detail::Context::history, History::recorded) {}
};

/// While it lives, operations that no gradient flows through leave a trace, too: their names, settings and inputs, no
/// numbers. So diagrams show how inputs were prepared, and models without a trainable parameter. Nothing else changes.
/// A ValueRecorder does the same while it lives. Threads: for the thread that made it.
struct [[nodiscard]] TraceAll : detail::With<bool> {
  [[nodiscard]] TraceAll() : With(&detail::Context::tracing, true) {}
};

/// The inputs of a joint rule whose gradients are wanted.
class Wanted {
 public:
  explicit Wanted(const bool* flags) : flags_(flags) {}
  bool operator[](int input) const { return flags_[input]; }

 private:
  const bool* flags_;
};

/// The shape of the input whose gradient a rule gives: the last argument of rules that ask for it. The graph holds it
/// anyway; a Shape in the rule would be as large as the node.
class InputShape {
 public:
  explicit InputShape(const Node& input) : input_(input) {}
  operator Shape() const { return input_.shape(); }

 private:
  const Node& input_;
};

namespace detail {

// A closure that has nothing to destroy holds no tensor, so an assignment to an input cannot make it wrong.
template <class F>
inline constexpr bool captures_tensors = !std::is_trivially_destructible_v<F>;

template <class F, class... Arguments>
concept RuleOf = std::is_invocable_r_v<Tensor, F&, const Tensor&, Arguments...>;
template <class F>
concept TakesOutput = RuleOf<F, const Tensor&> || RuleOf<F, const Tensor&, InputShape>;
template <class F>
concept Rules = RuleOf<F> || RuleOf<F, InputShape> || TakesOutput<F>;

struct SingleRule {
  template <class F>
  static void call(F& f, const Tensor& gy, const Tensor& y, const bool*, Tensor* gx, const Edge* edge) {
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

struct JointRule {
  template <class F>
  static void call(F& f, const Tensor& gy, const Tensor& y, const bool* wanted, Tensor* gx, const Edge*) {
    auto all = [&] {
      if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&, Wanted>) {
        return f(gy, y, Wanted(wanted));
      } else {
        return f(gy, Wanted(wanted));
      }
    }();
    std::ranges::move(all, gx);
  }
};

/// A node under construction.
class Recording {
 public:
  Recording(const char* op, const Shape& shape, int edges, bool counts)
      : node_(Node::create(op, shape, edges, counts)) {}
  /// The next edge leads to `input`; true when its gradient is wanted.
  bool add(const Tensor& input);
  bool add(Node& input);
  template <class Adaptor, class F>
  void set_rule(int edge, std::uint16_t covers, F&& rule) {
    Edge& at = node_->edges()[static_cast<std::size_t>(edge)];
    at.covers = covers;
    at.rule.template set<Adaptor>(std::forward<F>(rule));
    node_->captures_inputs |= captures_tensors<std::decay_t<F>>;
  }
  void keep_output() { keep_output_ = true; }
  void tell(const char* name, AttributeValue&& value);
  void count(std::int64_t multiply_adds) { node_->set_multiply_adds(multiply_adds); }
  int edges_added() const { return added_; }
  Tensor finish(Array&& value) &&;

 private:
  Ref<Node> node_;
  int added_ = 0;
  bool keep_output_ = false;
};

/// Why an input has no history; of several inputs, the reason of one.
inline History why_none(const Tensor& input) { return input.defined() ? Engine::history(input) : History::recorded; }
inline History why_none(const Tensors& inputs) {
  History why = History::recorded;
  for (const Tensor& input : inputs) why = std::max(why, why_none(input));
  return why;
}
/// The inputs and attributes of an operation, for observers.
struct Listed {
  std::vector<const Tensor*> inputs;
  std::vector<Attribute> attributes;

  void tell(const char* name, AttributeValue&& value);
  void count(std::int64_t) {}
};

/// An input in wrt() and the like: a reference to an lvalue, or a temporary by value.
template <class T>
using Held = std::conditional_t<std::is_lvalue_reference_v<T> && std::same_as<std::remove_cvref_t<T>, Tensor>,
                                const Tensor&, Tensor>;

template <class T, class F>
struct Wrt {
  T input;
  F rule;

  static constexpr int count() { return 1; }
  bool requires_grad() const { return input.requires_grad(); }
  History why_none() const { return detail::why_none(input); }
  void list(Listed& all) const { all.inputs.push_back(&input); }
  void attach(Recording& node) && {
    static_assert(Rules<F>, "a rule takes (gy) or (gy, y), and may take the input's shape as its last argument");
    if (!node.add(input)) return;
    if constexpr (TakesOutput<F>) node.keep_output();
    node.set_rule<SingleRule>(node.edges_added() - 1, 1, std::move(rule));
  }
};

template <class F, class... Inputs>
struct Jointly {
  std::tuple<Inputs...> inputs;
  F rule;

  static constexpr std::uint16_t size = sizeof...(Inputs);
  using Gradients = std::array<Tensor, sizeof...(Inputs)>;
  static constexpr bool takes_output = std::is_invocable_v<F&, const Tensor&, const Tensor&, Wanted>;
  static_assert(sizeof...(Inputs) <= std::numeric_limits<std::uint16_t>::max());
  static_assert(std::is_invocable_r_v<Gradients, F&, const Tensor&, Wanted> ||
                    std::is_invocable_r_v<Gradients, F&, const Tensor&, const Tensor&, Wanted>,
                "a joint rule takes (gy, wanted) or (gy, y, wanted) and returns std::array<Tensor, number of inputs>");

  static constexpr int count() { return size; }
  bool requires_grad() const {
    return std::apply([](const auto&... each) { return (each.requires_grad() || ...); }, inputs);
  }
  History why_none() const {
    return std::apply([](const auto&... each) { return std::max({detail::why_none(each)...}); }, inputs);
  }
  void list(Listed& all) const {
    std::apply([&](const auto&... each) { (all.inputs.push_back(&each), ...); }, inputs);
  }
  void attach(Recording& node) && {
    const int first = node.edges_added();
    bool any = false;
    std::apply([&](const auto&... each) { ((any |= node.add(each)), ...); }, inputs);
    if (!any) return;
    if constexpr (takes_output) node.keep_output();
    node.set_rule<JointRule>(first, size, std::move(rule));
  }
};

// Any number of inputs.
template <class T>
struct InputList {
  T inputs;

  int count() const { return static_cast<int>(inputs.size()); }
  bool requires_grad() const { return std::ranges::any_of(inputs, &Tensor::requires_grad); }
  History why_none() const { return detail::why_none(inputs); }
  void list(Listed& all) const {
    for (const Tensor& input : inputs) all.inputs.push_back(&input);
  }
};

template <class T, class F>
struct WrtEach : InputList<T> {
  F make_rule;

  void attach(Recording& node) && {
    for (std::size_t i = 0; i < this->inputs.size(); ++i) {
      auto rule = make_rule(i);
      using R = decltype(rule);
      if (!node.add(this->inputs[i])) continue;
      if constexpr (TakesOutput<R>) node.keep_output();
      node.set_rule<SingleRule>(node.edges_added() - 1, 1, std::move(rule));
    }
  }
};

struct MultiplyAdds {
  std::int64_t number;
};
template <class T>
struct Told {
  const char* name;
  T value;

  static constexpr int count() { return 0; }
  static constexpr bool requires_grad() { return false; }
  static constexpr History why_none() { return History::recorded; }
  void list(Listed& all) const { tell(all); }
  void attach(Recording& node) const { tell(node); }
  template <class To>
  void tell(To& to) const {
    if constexpr (std::same_as<T, MultiplyAdds>) {
      to.count(value.number);
    } else if constexpr (std::same_as<T, bool> || std::floating_point<T>) {
      to.tell(name, value);
    } else if constexpr (std::integral<T>) {
      to.tell(name, static_cast<std::int64_t>(value));
    } else if constexpr (requires { value.has_value(); }) {
      if (value) Told<typename T::value_type>{name, *value}.tell(to);
    } else if constexpr (std::same_as<T, Axes>) {
      Shape numbers;
      for (const int axis : value) numbers.push_back(axis);
      to.tell(name, std::move(numbers));
    } else {
      to.tell(name, value);
    }
  }
};

}  // namespace detail

/// An attribute of an operation for diagrams and exporters: a setting, told("axis", axis), or an input that is not a
/// tensor, told("ids", ids), of which the graph keeps a reference. `name` and words must live as long as the program
/// (literals); an empty std::optional adds nothing. No gradient flows here.
template <class T>
detail::Told<T> told(const char* name, const T& value) {
  return {name, value};
}
inline detail::Told<std::string_view> told(const char* name, const char* word) { return {name, word}; }
/// For told(): the value, or nothing if it is the default.
template <class T>
std::optional<T> unless(const std::type_identity_t<T>& usual, const T& value) {
  if (value == usual) return {};
  return value;
}

/// The cost of an operation that is made of products: its multiply-adds, the product of these sizes (at most 2^63 - 1),
/// for count_operations(), diagrams and summaries. An operation without it counts nothing.
detail::Told<detail::MultiplyAdds> multiply_adds(std::convertible_to<std::int64_t> auto... sizes) {
  std::int64_t count = 1;
  const bool fits = (!__builtin_mul_overflow(count, std::int64_t{sizes}, &count) && ...);
  return {"multiply_adds", {fits ? count : std::numeric_limits<std::int64_t>::max()}};
}

/// "With respect to this input, the gradient is": `rule` takes (gy) or (gy, y), followed by the input's InputShape if
/// it asks for that, and returns the input's gradient, of the input's shape.
template <std::convertible_to<Tensor> T, class F>
detail::Wrt<detail::Held<T&&>, F> wrt(T&& input, F rule) {
  return {std::forward<T>(input), std::move(rule)};
}

/// One rule for several inputs whose gradients share work: it takes (gy, wanted) or (gy, y, wanted) and returns
/// std::array<Tensor, N>, where entries that are not wanted may stay undefined.
template <class F, std::convertible_to<Tensor>... Inputs>
detail::Jointly<F, detail::Held<Inputs&&>...> jointly(F rule, Inputs&&... inputs) {
  return {{std::forward<Inputs>(inputs)...}, std::move(rule)};
}

/// `make_rule(i)` is the rule of the i-th of any number of inputs.
template <class F>
detail::WrtEach<const Tensors&, F> wrt_each(const Tensors& inputs, F make_rule) {
  return {{inputs}, std::move(make_rule)};
}
template <class F>
detail::WrtEach<Tensors, F> wrt_each(Tensors&& inputs, F make_rule) {
  return {{std::move(inputs)}, std::move(make_rule)};
}

namespace detail {
/// Shows the observers of this thread an operation that has run (core/graph/observe.h), and traces it if that is
/// wanted.
void show_operation(const char* op, const Tensor& output, const Listed& all);

template <class... W>
[[gnu::noinline, gnu::cold]] void show_operation(const char* op, const Tensor& output, const W&... wrts) {
  Listed all;
  (wrts.list(all), ...);
  show_operation(op, output, std::as_const(all));
}

template <class... W>
Tensor recorded(const char* op, Array&& value, W&&... wrts) {
  if (context.history == History::gradient) return Tensor(std::move(value));
  const bool wanted = (wrts.requires_grad() || ...);
  if (!recording() || !wanted) {
    History why = std::max({wrts.why_none()...});
    if (!recording() && (wanted || why != History::recorded)) why = History::no_grad;
    return Engine::unrecorded(std::move(value), why);
  }
  constexpr bool counts = (std::same_as<std::remove_cvref_t<W>, Told<MultiplyAdds>> || ...);
  Recording node(op, value.shape(), (wrts.count() + ...), counts);
  (std::forward<W>(wrts).attach(node), ...);
  return std::move(node).finish(std::move(value));
}
}  // namespace detail

/// The tensor of an operation's result: a node with arrows to the inputs if recording is on and a gradient flows to at
/// least one of them, else a plain value. `op` must live as long as the program (a literal).
template <class... W>
Tensor record(const char* op, Array value, W&&... wrts) {
  Tensor y = detail::recorded(op, std::move(value), std::forward<W>(wrts)...);
  if (detail::context.observers || (detail::context.tracing && !y.requires_grad())) [[unlikely]]
    detail::show_operation(op, y, wrts...);
  return y;
}

}  // namespace xgrad
