// Notifying observers.
#include "observe.h"

#include <chrono>
#include <optional>
#include <utility>

namespace xgrad {

namespace detail {
namespace {

using Clock = std::chrono::steady_clock;
thread_local constinit Clock::time_point last_notified;  // the time of the last notification

// The time since the last call, without that of the observers.
Observer::Duration spent() {
  if (context.notifying) return 0;
  const auto now = Clock::now();
  return std::chrono::nanoseconds(now - std::exchange(last_notified, now)).count();
}

}  // namespace

template <class F>
void Notify::to_all(const F& notify) {
  if (std::exchange(context.notifying, true)) return;
  struct Done {
    Clock::time_point begin = Clock::now();
    ~Done() {
      context.notifying = false;
      last_notified += Clock::now() - begin;
    }
  } const done;
  for (Observer* observer = context.observers; observer; observer = observer->older_) notify(*observer);
}

void Notify::operation(const char* op, const Tensor& output, std::span<const Tensor* const> inputs,
                       const std::vector<Attribute>& attributes) {
  if (context.tracing && context.grad_mode != GradMode::gradient && !output.requires_grad()) {
    std::vector<Ref<Node>> nodes;
    for (const Tensor* input : inputs) {
      if (input->defined()) nodes.push_back(Engine::ensure_node(*input));
    }
    Engine::ensure_node(output)->set_trace(op, std::move(nodes), attributes);
  }
  if (!context.observers) return;
  const OperationRun run{.op = op,
                         .output = output,
                         .inputs = inputs,
                         .attributes = attributes,
                         .place = context.place,
                         .rule_of = context.rule,
                         .spent = spent()};
  to_all([&](Observer& observer) { observer.operation(run); });
}

void Notify::complete_gradient(const Node& node, const Tensor& gradient) {
  to_all([&](Observer& observer) { observer.complete_gradient(node, gradient); });
}

void Notify::gradient(const Node& node, std::size_t input, const Tensor& gradient) {
  to_all([&](Observer& observer) { observer.gradient(node, input, gradient); });
}

void Notify::event(const char* name) {
  const auto time = spent();
  to_all([&](Observer& observer) { observer.event(name, time); });
}

void Notify::intermediate(std::string_view what, const void* owner, const std::string& path,
                          const std::function<Array()>& value) {
  const ScopedValue off(&Context::grad_mode, GradMode::no_grad);
  std::optional<Array> made;
  to_all([&](Observer& observer) {
    if (observer.wants(what, owner)) observer.intermediate(what, path, made ? *made : made.emplace(value()));
  });
}

void RuleScope::begin(const Node& node) {
  const auto time = spent();
  Notify::to_all([&](Observer& observer) { observer.begin_gradients(node, time); });
  node_ = &node;
  outer_ = std::exchange(context.rule, context.rule ? context.rule : &node);
}

void RuleScope::end() noexcept {
  context.rule = outer_;
  const auto time = spent();
  Notify::to_all([&](Observer& observer) { observer.end_gradients(*node_, time); });
}

}  // namespace detail

Observer::Observer() : older_(detail::context.observers) {
  if (!older_) detail::last_notified = detail::Clock::now();
  detail::context.observers = this;
}

Observer::~Observer() {
  Observer** link = &detail::context.observers;
  while (*link && *link != this) link = &(*link)->older_;
  if (*link) *link = older_;
}

}  // namespace xgrad
