// Watching a run: as long as an Observer lives, it is shown every operation of its thread, forward and backward.
//
//     struct Printer : Observer {
//       void operation(const OperationRun& run) override { std::cout << run.op << ' ' << run.output.shape() << '\n'; }
//     };
//     Printer printer;
//     const Tensor loss = model(x);                                          // linear [8, 64], tanh [8, 64], ...
//
// Everything that measures, remembers or checks a run is an observer: Profile, ValueRecorder, AnomalyMode, and
// nn::AttentionRecorder. Without observers, an operation pays for one look at a variable of its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "../base/scope.h"
#include "tensor.h"

namespace xgrad {
namespace detail {
struct Notify;
}

/// An operation that has run, as shown to observers.
struct OperationRun {
  const char* op;
  const Tensor& output;                   ///< with its node, if the operation was recorded
  std::span<const Tensor* const> inputs;  ///< in their order
  std::span<const Attribute> attributes;
  const Place* place;   ///< of the module that it belongs to, or nullptr
  const Node* rule_of;  ///< the operation whose gradient rule called it, or nullptr in a forward pass
  std::int64_t spent;   ///< nanoseconds since the previous notification, without those of the observers
};

/// The base of observers. Each is shown everything while it lives, except what observers compute themselves. An
/// exception in operation(), complete_gradient(), gradient() or intermediate() ends the operation or the backward pass
/// that was watched.
///
/// Threads: an observer belongs to the thread that made it, and must die there, in any order with others, but not while
/// it is being shown something.
class Observer {
 public:
  using Duration = std::int64_t;  ///< nanoseconds

  Observer();
  virtual ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  virtual void operation(const OperationRun& /*run*/) {}

  /// In a backward pass the gradient of a node's result is complete: everything that depends on it has contributed.
  virtual void complete_gradient(const Node& /*node*/, const Tensor& /*gradient*/) {}
  /// The gradient rules of a node run between the two; rules may run backward passes of their own.
  virtual void begin_gradients(const Node& /*node*/, Duration /*spent*/) {}
  virtual void end_gradients(const Node& /*node*/, Duration /*spent*/) noexcept {}
  /// The gradient that a rule of a node gave for one of its inputs.
  virtual void gradient(const Node& /*node*/, std::size_t /*input*/, const Tensor& /*gradient*/) {}

  /// Code that is no operation has run and gives its name. It is complete even if this throws.
  virtual void event(const char* /*name*/, Duration /*spent*/) {}

  /// Whether it wants the arrays that `owner`, code at a place of its own, shows under this name: "attention_weights".
  virtual bool wants(std::string_view /*what*/, const void* /*owner*/) const { return false; }
  virtual void intermediate(std::string_view /*what*/, const std::string& /*path*/, const Array& /*value*/) {}

  /// Whether this thread has observers.
  static bool watching() { return detail::context.observers != nullptr; }

 private:
  friend struct detail::Notify;
  Observer* older_;
};

namespace detail {
/// Notifies observers. Only to be called if there are some.
struct Notify {
  /// Also leaves the trace of an operation, if that is wanted and no gradient flows through it.
  static void operation(const char* op, const Tensor& output, std::span<const Tensor* const> inputs,
                        const std::vector<Attribute>& attributes);
  static void complete_gradient(const Node& node, const Tensor& gradient);
  static void gradient(const Node& node, std::size_t input, const Tensor& gradient);
  static void event(const char* name);
  static void intermediate(std::string_view what, const void* owner, const std::string& path,
                           const std::function<Array()>& value);

 private:
  friend class RuleScope;
  template <class F>
  static void to_all(const F& notify);
};

/// While it lives, the gradient rules of a node run.
class RuleScope {
 public:
  explicit RuleScope(const Node& node) {
    if (Observer::watching()) [[unlikely]]
      begin(node);
  }
  ~RuleScope() {
    if (node_) [[unlikely]]
      end();
  }
  RuleScope(const RuleScope&) = delete;
  RuleScope& operator=(const RuleScope&) = delete;

 private:
  void begin(const Node& node);
  void end() noexcept;
  const Node* node_ = nullptr;
  const Node* outer_ = nullptr;
};
}  // namespace detail

}  // namespace xgrad
