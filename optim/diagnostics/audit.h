// Audit: a check whether an optimizer trains every leaf that a loss depends on.
//
//     const Tensor loss = cross_entropy(net(x), y);
//     std::cout << optim::audit(loss, adam);
//
// Call it in the first step of a new training loop. A tensor that no module registers is never trained, and nothing
// else reports it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "../optimizers/optimizer.h"

namespace xgrad::optim {

/// The leaves that a loss depends on, compared with the parameters of an optimizer.
struct [[nodiscard]] Audit {
  struct Line {
    std::string name;  ///< empty if the leaf has none
    Shape shape;
    std::string why;  ///< the likely cause; empty if there is no problem
  };
  std::vector<Line> untrained;  ///< leaves that the loss depends on, but the optimizer does not have
  std::vector<Line> unreached;  ///< parameters of the optimizer to which no gradient flows
  std::vector<Line> trained;    ///< parameters of the optimizer to which gradients flow
  std::vector<Line> constants;  ///< unnamed constants by which a module multiplies: intended, or param() is missing
  int passes = 0;               ///< the largest number of backward passes that are summed in a gradient
  bool at_rest = false;         ///< whether every learning rate is 0, for example 1 / 100, an integer division

  /// Whether every leaf is trained, and gradients flow to every parameter.
  bool clean() const { return untrained.empty() && unreached.empty(); }
};

/// Compares the leaves of the graph of `loss` with the parameters, before or after the backward pass. Throws GraphError
/// for a loss without a graph.
///
/// Common mistakes that leave a leaf untrained:
/// - a model as a member without a place, or a layer at nn::root,
/// - a variable that is no param(), or a layer that forward makes,
/// - a tensor that is assigned to a member instead of to its parameter.
Audit audit(const Tensor& loss, const Optimizer& optimizer);

/// The audit as text: a line with the counts, a line for each finding and each constant, and a line if the learning
/// rate is 0. One more line reports gradients that are sums over several backward passes: either gradients are
/// accumulated, or zero_grad() is missing.
std::string to_string(const Audit& audit);
std::ostream& operator<<(std::ostream& out, const Audit& audit);

}  // namespace xgrad::optim
