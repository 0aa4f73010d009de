// Finding where NaN and infinity come from.
#pragma once

#include "../graph/observe.h"

namespace xgrad {

struct AnomalyOptions {
  bool infinity = true;  ///< whether infinity is an anomaly, too; off for models that mask with -infinity
};

/// While it lives, the first operation of this thread that gives NaN or infinity throws NumericError, whether it runs
/// forward or in a gradient rule. The message says which values stand where, and shows the operation's inputs and where
/// they come from:
///
///     log: gives -infinity at [1] in its result [3]
///       y = ln x
///       input 0 [3]: [1, 0, 2]
///         relu [3] of leaf 'x' [3], in net.head
///       in net.loss
///
/// It looks at every number that is computed: for debugging, not for training.
class AnomalyMode : public Observer {
 public:
  using Options = AnomalyOptions;

  [[nodiscard]] explicit AnomalyMode(const AnomalyOptions& options = {}) : options_(options) {}

  void operation(const OperationRun& run) override;
  void complete_gradient(const Node& node, const Tensor& gradient) override;
  void gradient(const Node& node, std::size_t input, const Tensor& gradient) override;

 private:
  AnomalyOptions options_;
  Tensor gradient_of_result_;  // passed to the rules that run now
};

}  // namespace xgrad
