// AnomalyMode: finding the operation that NaN or infinity comes from.
#pragma once

#include "../graph/observe.h"

namespace xgrad {

struct AnomalyOptions {
  bool infinity = true;  ///< whether infinity is an anomaly; false for models that mask with -infinity
};

/// An observer that throws NumericError at the first operation of this thread that gives NaN or infinity, forward or in
/// a gradient rule. The message shows the position of that value, the operation's inputs and their history:
///
///     log: gives -infinity at [1] in its result [3]
///       y = ln x
///       input 0 [3]: [1, 0, 2]
///         relu [3] of leaf 'x' [3], in net.head
///       in net.loss
///
/// It checks every computed element. Use it for debugging, not for training.
class AnomalyMode : public Observer {
 public:
  using Options = AnomalyOptions;

  [[nodiscard]] explicit AnomalyMode(const AnomalyOptions& options = {}) : options_(options) {}

  void operation(const OperationRun& run) override;
  void complete_gradient(const Node& node, const Tensor& gradient) override;
  void gradient(const Node& node, std::size_t input, const Tensor& gradient) override;

 private:
  AnomalyOptions options_;
  Tensor gradient_of_result_;  // of the operation whose rules run
};

}  // namespace xgrad
