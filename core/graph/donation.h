// Gradients that overwrite values which are no longer needed.
//
// Most backward passes release the graph as they use it. Then the values that a rule receives and holds are often
// needed only for this one gradient, which may take their memory: one array less, and one that lies in the cache.
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
  /// The values that were taken are gone, so the rule cannot run again, even if it has thrown.
  ~Donation() {
    context.donation = outer_;
    if (taken_) node_->release();
  }
  Donation(const Donation&) = delete;
  Donation& operator=(const Donation&) = delete;

  /// For a rule: the numbers of gy, or of a tensor that the rule holds. In the last run, and if nothing else holds
  /// them, they are unique (Array::unique), to be overwritten, and the tensor is empty from now on; else shared.
  static Array take(const Tensor& held) {
    Donation* const run = context.donation;
    if (!run || !run->node_ || !Engine::unique(held)) return held.value();
    run->taken_ = true;
    return std::exchange(Engine::own_value(held), Array());
  }

 private:
  Node* node_;
  Donation* outer_;
  bool taken_ = false;
};

}  // namespace xgrad::detail
