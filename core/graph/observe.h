// Watching a run: whoever lives as an Observer is shown every operation of its thread, forward and backward.
//
//     struct Printer : Observer {
//       void operation(const OperationRun& run) override { std::cout << run.op << ' ' << run.output.shape() << '\n'; }
//     };
//     Printer printer;
//     const Tensor loss = model(x);                                          // linear [8, 64], tanh [8, 64], ...
//
// What measures, remembers or checks a run is an observer: Profile, ValueRecorder, AnomalyMode, and
// nn::AttentionRecorder. Where nobody watches, an operation pays for one look at a variable of its thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "../base/scope.h"
#include "tensor.h"

namespace xgrad {
namespace detail {
struct Listed;
struct Shown;
}  // namespace detail

/// An operation that has run, as an observer is shown it.
struct OperationRun {
  const char* op;
  const Tensor& output;                   ///< with its node, if the operation was recorded
  std::span<const Tensor* const> inputs;  ///< in their order
  std::span<const Attribute> attributes;
  const Place* place;   ///< of the module that it belongs to, or nullptr
  const Node* rule_of;  ///< the operation whose gradient rule called it, or nullptr in a forward pass
  std::int64_t spent;   ///< nanoseconds since what was shown before, without those of the observers
};

/// One who watches. Every one that lives is shown everything, except what observers compute themselves. What throws in
/// operation(), complete_gradient(), gradient() or intermediate() ends the operation or the backward pass that was watched.
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

  /// In a backward pass the gradient of a node's result is complete: all that depends on it has given its part.
  virtual void complete_gradient(const Node& /*node*/, const Tensor& /*gradient*/) {}
  /// The gradient rules of a node run between the two; rules may run backward passes of their own.
  virtual void begin_gradients(const Node& /*node*/, Duration /*spent*/) {}
  virtual void end_gradients(const Node& /*node*/, Duration /*spent*/) noexcept {}
  /// What a rule of a node gave for one of its inputs.
  virtual void gradient(const Node& /*node*/, std::size_t /*input*/, const Tensor& /*gradient*/) {}

  /// Something that is no operation is done: an optimizer's step, whole, whatever this throws.
  virtual void work(const char* /*what*/, Duration /*spent*/) {}

  /// Whether it wants what modules show under this name (nn::show_intermediate): "attention_weights".
  virtual bool wants(std::string_view /*what*/) const { return false; }
  virtual void intermediate(std::string_view /*what*/, const std::string& /*path*/, const Array& /*value*/) {}

  /// Whether anybody watches this thread.
  static bool watching() { return detail::context.observers != nullptr; }

 private:
  friend struct detail::Shown;
  Observer* older_;
};

namespace detail {
/// How observers are shown what happens. Only to be called if there are some.
struct Shown {
  static void complete_gradient(const Node& node, const Tensor& gradient);
  static void gradient(const Node& node, std::size_t input, const Tensor& gradient);
  static void work(const char* what);
  static void intermediate(std::string_view what, const std::string& path, const std::function<Array()>& value);

 private:
  friend class RulesShown;
  friend void show_operation(const char*, const Tensor&, const Listed&);
  template <class F>
  static void to_all(const F& show);
};

/// While it lives, the gradient rules of a node run.
class RulesShown {
 public:
  explicit RulesShown(const Node& node) {
    if (Observer::watching()) [[unlikely]]
      begin(node);
  }
  ~RulesShown() {
    if (node_) [[unlikely]]
      end();
  }
  RulesShown(const RulesShown&) = delete;
  RulesShown& operator=(const RulesShown&) = delete;

 private:
  void begin(const Node& node);
  void end() noexcept;
  const Node* node_ = nullptr;
  const Node* outer_ = nullptr;
};
}  // namespace detail

}  // namespace xgrad
