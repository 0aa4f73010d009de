// Audit: whether an optimizer trains every leaf that a loss depends on.
//
//     const Tensor loss = cross_entropy(net(x), y);
//     std::cout << optim::audit(loss, adam);
//
// Worth a line in the first step of a new training loop: a parameter that no model knows of is never trained, and
// nothing else says so.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "../optimizers/optimizer.h"

namespace xgrad::optim {

/// The leaves that a loss depends on, compared with the parameters of an optimizer.
struct Audit {
  struct Line {
    std::string name;  ///< empty if the leaf has none
    Shape shape;
    std::string why;  ///< the likely cause; empty where all is well
  };
  std::vector<Line> untrained;  ///< leaves that gradients flow to, but that are no parameters of the optimizer
  std::vector<Line> unreached;  ///< parameters of the optimizer that no gradient flows to
  std::vector<Line> trained;    ///< parameters that are both
  int passes = 0;               ///< how many backward passes the parameters' gradients are sums of, at most

  /// Whether every leaf is trained, and every parameter reached.
  bool clean() const { return untrained.empty() && unreached.empty(); }
};

/// Looks at the graph of `loss`, before or after a backward pass. Changes nothing. Throws GraphError for a loss that
/// has no graph.
///
/// Common mistakes that leave a leaf untrained: a model that is a member without a place, a layer at nn::root, a
/// variable that is no param(), and a tensor assigned to a member in place of its parameter, which is then unreached.
Audit audit(const Tensor& loss, const Optimizer& optimizer);

/// One line for each finding, after one that counts them. The last line tells of gradients of more than one backward
/// pass: they are accumulated, or zero_grad() was forgotten.
std::string to_string(const Audit& audit);
std::ostream& operator<<(std::ostream& out, const Audit& audit);

}  // namespace xgrad::optim
