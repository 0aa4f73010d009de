// How an operation enters the graph: record(op, value, wrt(input, rule), ...).
//
// An operation is one function in one place: check, compute, rule.
//
//     Tensor tanh(const Tensor& x) {
//       return record("tanh", tanh_kernel(x.value()),
//                     wrt(x, [](const Tensor& gy, const Tensor& y) { return gy * (1 - y * y); }));
//     }
//
// Rules are written in the operations that users have, so that they can be differentiated themselves. What a rule
// captures decides what stays in memory: (gy) alone keeps nothing, (gy, y) keeps the result, a captured tensor is kept.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include <xgrad/core/tensor.h>
#include <xgrad/core/timing.h>

namespace xgrad::inline XGRAD_ABI {

namespace detail {
inline thread_local constinit bool recording_on = true;
}  // namespace detail

/// Whether operations are being recorded on this thread. During a backward pass: whether its graph is wanted.
inline bool recording() { return detail::recording_on; }

/// What a rule captures of an input: the input, or nothing if no rule will be kept. The same as capturing the input
/// itself, but for the count of references, which shows in operations on a few numbers.
inline Tensor kept(const Tensor& input) { return recording() ? input : Tensor(); }

/// While it lives, operations of this thread are (not) recorded.
class RecordingScope {
 public:
  explicit RecordingScope(bool on) : was_(std::exchange(detail::recording_on, on)) {}
  ~RecordingScope() { detail::recording_on = was_; }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  bool was_;
};
/// No graph while it lives: results are plain values.
struct NoGrad : RecordingScope {
  NoGrad() : RecordingScope(false) {}
};
/// Recording again inside a NoGrad.
struct EnableGrad : RecordingScope {
  EnableGrad() : RecordingScope(true) {}
};

/// Which of the inputs of a joint rule want their gradient.
class Wanted {
 public:
  explicit Wanted(const bool* flags) : flags_(flags) {}
  bool operator[](int input) const { return flags_[input]; }

 private:
  const bool* flags_;
};

/// The shape of an operation's input, as a rule remembers it: in one pointer, where a Shape would take nine. Only for
/// rules, which never outlive the arrow to the input.
class InputShape {
 public:
  explicit InputShape(const Tensor& input) : node_(input.requires_grad() ? input.node().get() : nullptr) {}
  operator Shape() const { return node_->shape(); }

 private:
  const Node* node_;  // none for an input without gradient, whose rule is not stored
};

namespace detail {

// A closure that has nothing to destroy holds no tensor, so an assignment to an input cannot make it wrong.
template <class F>
inline constexpr bool captures_tensors = !std::is_trivially_destructible_v<F>;

struct SingleRule {
  template <class F>
  static void call(F& f, const Tensor& gy, const Tensor& y, const bool*, Tensor* gx) {
    if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&>) {
      gx[0] = f(gy, y);
    } else {
      gx[0] = f(gy);
    }
  }
};

struct JointRule {
  template <class F>
  static void call(F& f, const Tensor& gy, const Tensor& y, const bool* wanted, Tensor* gx) {
    auto all = [&] {
      if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&, Wanted>) {
        return f(gy, y, Wanted(wanted));
      } else {
        return f(gy, Wanted(wanted));
      }
    }();
    for (std::size_t i = 0; i < all.size(); ++i) gx[i] = std::move(all[i]);
  }
};

/// A node in the making.
class Recording {
 public:
  Recording(const char* op, const Shape& shape, int edges);
  /// The next edge leads to `input`; true when its gradient is wanted.
  bool add(const Tensor& input);
  template <class Adaptor, class F>
  void set_rule(int edge, int covers, F&& rule) {
    Edge& at = node_->edges()[static_cast<std::size_t>(edge)];
    at.covers = covers;
    at.rule.template set<Adaptor>(std::forward<F>(rule));
    node_->captures_inputs |= captures_tensors<std::decay_t<F>>;
  }
  void keep_output() { keep_output_ = true; }
  int edges_added() const { return added_; }
  Tensor finish(Array&& value) &&;

 private:
  Ref<Node> node_;
  int added_ = 0;
  bool keep_output_ = false;
};

template <class F>
struct Wrt {
  const Tensor& input;
  F rule;

  static constexpr int count() { return 1; }
  bool requires_grad() const { return input.requires_grad(); }
  void attach(Recording& node) && {
    static_assert(std::is_invocable_v<F&, const Tensor&> || std::is_invocable_v<F&, const Tensor&, const Tensor&>,
                  "a rule takes (gy) or (gy, y)");
    if (!node.add(input)) return;
    if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&>) node.keep_output();
    node.set_rule<SingleRule>(node.edges_added() - 1, 1, std::move(rule));
  }
};

template <std::size_t N, class F>
struct Jointly {
  std::array<const Tensor*, N> inputs;
  F rule;

  static constexpr int count() { return static_cast<int>(N); }
  bool requires_grad() const {
    for (const Tensor* input : inputs) {
      if (input->requires_grad()) return true;
    }
    return false;
  }
  void attach(Recording& node) && {
    const int first = node.edges_added();
    bool any = false;
    for (const Tensor* input : inputs) any |= node.add(*input);
    if (!any) return;
    if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&, Wanted>) node.keep_output();
    node.set_rule<JointRule>(first, static_cast<int>(N), std::move(rule));
  }
};

template <class F>
struct WrtEach {
  const Tensors& inputs;
  F make_rule;

  int count() const { return static_cast<int>(inputs.size()); }
  bool requires_grad() const {
    for (const Tensor& input : inputs) {
      if (input.requires_grad()) return true;
    }
    return false;
  }
  void attach(Recording& node) && {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      auto rule = make_rule(i);
      using R = decltype(rule);
      if (!node.add(inputs[i])) continue;
      if constexpr (std::is_invocable_v<R&, const Tensor&, const Tensor&>) node.keep_output();
      node.set_rule<SingleRule>(node.edges_added() - 1, 1, std::move(rule));
    }
  }
};

}  // namespace detail

/// "With respect to this input, the gradient is": `rule` takes (gy) or (gy, y) and returns the input's gradient, of the
/// input's shape.
template <class F>
detail::Wrt<F> wrt(const Tensor& input, F rule) {
  return {input, std::move(rule)};
}

/// One rule for several inputs whose gradients share work: it takes (gy, wanted) or (gy, y, wanted) and returns
/// std::array<Tensor, N>, where entries that are not wanted may stay undefined.
template <class F, class... Inputs>
auto jointly(F rule, const Inputs&... inputs) {
  return detail::Jointly<sizeof...(Inputs), F>{{&inputs...}, std::move(rule)};
}

/// `make_rule(i)` is the rule of the i-th of any number of inputs.
template <class F>
detail::WrtEach<F> wrt_each(const Tensors& inputs, F make_rule) {
  return {inputs, std::move(make_rule)};
}

/// The tensor of an operation's result: a node with arrows to the inputs if recording is on and a gradient flows to at
/// least one of them, else a plain value. `op` must live as long as the program (a literal).
template <class... W>
Tensor record(const char* op, Array value, W&&... wrts) {
  detail::operation_done(op);
  if (!recording() || !(wrts.requires_grad() || ...)) return Tensor(std::move(value));
  detail::Recording node(op, value.shape(), (wrts.count() + ...));
  (std::forward<W>(wrts).attach(node), ...);
  return std::move(node).finish(std::move(value));
}

}  // namespace xgrad::inline XGRAD_ABI
