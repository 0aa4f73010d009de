// Summaries of the numbers that a run computes.
#include "values.h"

#include <algorithm>

namespace xgrad {

const ValueRecorder::Known* ValueRecorder::find(const Node& node) const {
  const auto place = known_.find(node.id);
  return place == known_.end() ? nullptr : &place->second;
}

void ValueRecorder::clear() {
  known_.clear();
  steps_ = 0;
  saw_gradients_ = false;
}

void ValueRecorder::operation(const OperationRun& run) {
  for (const Tensor* input : run.inputs) {
    if (!input->defined() || !detail::Engine::node(*input) || !input->is_leaf()) continue;
    if (Known& known = known_[detail::Engine::node(*input)->id]; known.step < 0)
      known.value = shared_summary_of(input->value());
  }
  const Ref<Node>& node = detail::Engine::node(run.output);
  if (node) known_[node->id] = {.value = shared_summary_of(run.output.value()), .step = steps_++};
}

// A leaf's gradient is reported when the whole pass is over; it was complete when its last part came.
void ValueRecorder::complete_gradient(const Node& node, const Tensor& gradient) {
  if (depth_ > 0) return;
  saw_gradients_ = true;
  Known& known = known_[node.id];
  known.gradient = shared_summary_of(gradient.value());
  if (!node.is_leaf()) known.gradient_step = steps_++;
}

void ValueRecorder::begin_gradients(const Node& node, Duration) {
  if (depth_++ == 0) known_[node.id].parts.assign(node.edges().size(), nullptr);
}

void ValueRecorder::end_gradients(const Node&, Duration) noexcept { depth_ = std::max(depth_ - 1, 0); }

void ValueRecorder::gradient(const Node& node, std::size_t input, const Tensor& gradient) {
  if (depth_ != 1) return;
  known_[node.id].parts[input] = shared_summary_of(gradient.value());
  if (const Node& to = *node.edges()[input].to; to.is_leaf()) known_[to.id].gradient_step = steps_ - 1;
}

}  // namespace xgrad
