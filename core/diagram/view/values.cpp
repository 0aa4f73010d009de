// Recording the numbers of a run.
#include "values.h"

#include <algorithm>

namespace xgrad {

const ValueRecorder::Record* ValueRecorder::find(const Node& node) const {
  const auto found = records_.find(node.id);
  return found == records_.end() ? nullptr : &found->second;
}

void ValueRecorder::clear() {
  records_.clear();
  steps_ = 0;
  saw_gradients_ = false;
}

void ValueRecorder::operation(const OperationRun& run) {
  for (const Tensor* input : run.inputs) {
    if (!input->defined() || !detail::Engine::node(*input) || !input->is_leaf()) continue;
    if (Record& record = records_[detail::Engine::node(*input)->id]; record.step < 0)
      record.value = shared_summary_of(input->value());
  }
  const Ref<Node>& node = detail::Engine::node(run.output);
  if (!node) return;
  Record& record = records_[node->id] = {};
  record.value = shared_summary_of(run.output.value());
  record.step = steps_++;
}

// The gradient of a leaf is reported after the pass; it was complete when its last part came.
void ValueRecorder::complete_gradient(const Node& node, const Tensor& gradient) {
  if (depth_ > 0) return;
  saw_gradients_ = true;
  Record& record = records_[node.id];
  record.gradient = shared_summary_of(gradient.value());
  if (!node.is_leaf()) record.gradient_step = steps_++;
}

void ValueRecorder::begin_gradients(const Node& node, Duration) {
  if (depth_++ == 0) records_[node.id].parts.assign(node.edges().size(), nullptr);
}

void ValueRecorder::end_gradients(const Node&, Duration) noexcept { depth_ = std::max(depth_ - 1, 0); }

void ValueRecorder::gradient(const Node& node, std::size_t input, const Tensor& gradient) {
  if (depth_ != 1) return;
  records_[node.id].parts[input] = shared_summary_of(gradient.value());
  if (const Node& to = *node.edges()[input].to; to.is_leaf()) records_[to.id].gradient_step = steps_ - 1;
}

GraphOverlay time_overlay(const Profile& profile) {
  std::unordered_map<std::uint64_t, double> of_nodes;
  for (const Profile::Run& run : profile.runs()) {
    if (run.node != 0) of_nodes[run.node] += run.milliseconds;
  }
  return {.title = "time", .unit = "ms", .of_node = [of_nodes](const Node& node) -> std::optional<double> {
            const auto found = of_nodes.find(node.id);
            return found == of_nodes.end() ? std::nullopt : std::optional(found->second);
          }};
}

}  // namespace xgrad
