// Gradients written over numbers that nobody will look at again.
//
// Most backward passes let the graph go as they use it. Then what a rule is given and what it holds is often needed for
// this one gradient, which may take its place in memory: one array less, and one that lies in the cache.
#pragma once

#include <utility>

#include "node.h"
#include "tensor.h"

namespace xgrad::detail {

/// While it lives, rules run; those of `node`, if there is one, are a single rule that runs for the last time.
/// Threads: belongs to the thread that made it.
class Donation {
 public:
  explicit Donation(Node* node) : node_(node), outer_(std::exchange(context.donation, this)) {}
  /// What was taken is gone, so the rule cannot run again, even if it has thrown.
  ~Donation() {
    context.donation = outer_;
    if (taken_) node_->release();
  }
  Donation(const Donation&) = delete;
  Donation& operator=(const Donation&) = delete;

  /// For a rule: the numbers of gy, or of a tensor that the rule holds. If this is the last run and nobody else holds
  /// them they are unique (Array::unique), to be written over, and the tensor is empty from now on; else shared.
  static Array take(const Tensor& held) {
    Donation* const run = context.donation;
    if (!run || !run->node_ || !held.unique()) return held.value();
    run->taken_ = true;
    return std::exchange(Engine::own_value(held), Array());
  }

 private:
  Node* node_;
  Donation* outer_;
  bool taken_ = false;
};

}  // namespace xgrad::detail
