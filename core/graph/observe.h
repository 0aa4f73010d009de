// Watching a run: as long as an Observer lives, it is shown every operation of its thread, forward and backward.
//
//     struct Printer : Observer {
//       void operation(const OperationRun& run) override { std::cout << run.op << ' ' << run.output.shape() << '\n'; }
//     };
//     Printer printer;
//     const Tensor loss = model(x);                                          // linear [8, 64], tanh [8, 64], ...
//
// Everything that measures, records or checks a run is an observer: Profile, ValueRecorder, AnomalyMode, and
// nn::AttentionRecorder. Without observers, an operation only reads one thread-local variable.
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
  const Tensor& output;                   ///< the result, with its node if the operation was recorded
  std::span<const Tensor* const> inputs;  ///< the inputs in their order
  std::span<const Attribute> attributes;
  const Place* place;   ///< the place of its module, or nullptr
  const Node* rule_of;  ///< the operation whose gradient rule ran it; nullptr in a forward pass
  std::int64_t spent;   ///< nanoseconds since the previous notification, without the time of observers
};

/// The base class of observers. While an observer lives, it is notified of everything that its thread computes outside
/// observers. An exception in operation(), complete_gradient(), gradient() or intermediate() ends the watched operation
/// or backward pass.
///
/// Threads: an observer belongs to the thread that constructed it, and must be destroyed there. Observers may be
/// destroyed in any order, but not during a notification.
class Observer {
 public:
  using Duration = std::int64_t;  ///< nanoseconds

  Observer();
  virtual ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  virtual void operation(const OperationRun& /*run*/) {}

  /// Called in a backward pass when the gradient of a node's result is complete: everything that depends on the result
  /// has contributed.
  virtual void complete_gradient(const Node& /*node*/, const Tensor& /*gradient*/) {}
  /// Called before and after the gradient rules of a node run. Rules may run backward passes of their own.
  virtual void begin_gradients(const Node& /*node*/, Duration /*spent*/) {}
  virtual void end_gradients(const Node& /*node*/, Duration /*spent*/) noexcept {}
  /// Called with the gradient that a rule of a node returned for one of its inputs.
  virtual void gradient(const Node& /*node*/, std::size_t /*input*/, const Tensor& /*gradient*/) {}

  /// Called after code that is not an operation, such as the step of an optimizer. The code is complete even if this
  /// throws.
  virtual void event(const char* /*name*/, Duration /*spent*/) {}

  /// Whether this observer wants the arrays that the module `owner` shows under the name `what`, for example
  /// "attention_weights" (nn::show_intermediate). If true, intermediate() is called with each array.
  virtual bool wants(std::string_view /*what*/, const void* /*owner*/) const { return false; }
  virtual void intermediate(std::string_view /*what*/, const std::string& /*path*/, const Array& /*value*/) {}

  /// Whether this thread has observers.
  static bool watching() { return detail::context.observers != nullptr; }

 private:
  friend struct detail::Notify;
  Observer* older_;
};

namespace detail {
/// Notifies observers. To be called only if there are observers.
struct Notify {
  /// Also leaves a trace of the operation (TraceAll), if traces are on and no gradient flows through it.
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

/// The scope in which the gradient rules of a node run.
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
