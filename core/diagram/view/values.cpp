// Summaries of what a run computes.
#include "values.h"

#include <algorithm>

namespace xgrad {
namespace {

// Whether it can be the same array: what was computed is told from what happens to lie at the same place.
bool alike(const NumbersSummary& a, const NumbersSummary& b) {
  return a.shape == b.shape && a.least == b.least && a.mean == b.mean && a.greatest == b.greatest;
}

}  // namespace

ValueRecorder::ValueRecorder(const SummaryOptions& options) : options_(options) {
  summary_of(Array(Shape{0}), options);
}

const ValueRecorder::Known* ValueRecorder::find(const Node& node) const {
  const auto place = known_.find(node.id);
  return place == known_.end() ? nullptr : &place->second;
}

void ValueRecorder::clear() {
  known_.clear();
  made_.clear();
  steps_ = 0;
  saw_gradients_ = false;
}

void ValueRecorder::operation(const OperationRun& run) {
  for (const Tensor* input : run.inputs) {
    if (input->defined() && input->node() && input->is_leaf()) add_leaf(*input);
  }
  const SharedSummary value = shared_summary_of(run.output.value(), options_);
  made_.insert_or_assign(run.output.value().data(), Made{run.op, value});
  if (const Ref<Node>& node = run.output.node()) known_[node->id] = {.value = value, .step = steps_++};
}

void ValueRecorder::add_leaf(const Tensor& leaf) {
  const auto [place, is_new] = known_.try_emplace(leaf.node()->id);
  SharedSummary value = shared_summary_of(leaf.value(), options_);
  const auto made = made_.find(leaf.value().data());
  if (is_new && made != made_.end() && alike(*made->second.value, *value)) {
    place->second.detached_from = made->second.op;
  }
  place->second.value = std::move(value);
}

// A leaf's gradient is told when the whole pass is over; it was complete when its last part came.
void ValueRecorder::complete_gradient(const Node& node, const Tensor& gradient) {
  if (depth_ > 0) return;
  saw_gradients_ = true;
  Known& known = known_[node.id];
  known.gradient = shared_summary_of(gradient.value(), options_);
  if (!node.is_leaf()) known.gradient_step = steps_++;
}

void ValueRecorder::begin_gradients(const Node& node, Duration) {
  if (depth_++ == 0) known_[node.id].parts.assign(node.edges().size(), nullptr);
}

void ValueRecorder::end_gradients(const Node&, Duration) noexcept { depth_ = std::max(depth_ - 1, 0); }

void ValueRecorder::gradient(const Node& node, std::size_t input, const Tensor& gradient) {
  if (depth_ != 1) return;
  known_[node.id].parts[input] = shared_summary_of(gradient.value(), options_);
  if (const Node& to = *node.edges()[input].to; to.is_leaf()) known_[to.id].gradient_step = steps_ - 1;
}

}  // namespace xgrad
