// Audit: whether an optimizer trains every leaf that a loss depends on.
//
//     const Tensor loss = cross_entropy(net(x), y);
//     std::cout << optim::audit(loss, adam);
//
// Call it in the first step of a new training loop: a tensor that no module registers is never trained, and nothing
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
    std::string why;  ///< the likely cause; empty where all is well
  };
  std::vector<Line> untrained;  ///< leaves that gradients flow to, or should, but that the optimizer lacks
  std::vector<Line> unreached;  ///< parameters of the optimizer that no gradient flows to
  std::vector<Line> trained;    ///< parameters that are both
  std::vector<Line> constants;  ///< without a name, that a module multiplies by: meant, or made by randn(), not param()
  int passes = 0;               ///< how many backward passes the parameters' gradients are sums of, at most
  bool at_rest = false;         ///< whether every learning rate is 0, as 1 / 100 is in C++

  /// Whether every leaf is trained, and every parameter reached.
  bool clean() const { return untrained.empty() && unreached.empty(); }
};

/// Compares the leaves of the graph of `loss` with the parameters, before or after a backward pass. Throws GraphError
/// for a loss without a graph.
///
/// Common mistakes that leave a leaf untrained: a model that is a member without a place, a layer at nn::root, a
/// variable that is no param(), a layer that is made within forward, and a tensor that is assigned to a member in place
/// of its parameter.
Audit audit(const Tensor& loss, const Optimizer& optimizer);

/// A line with the counts, a line for each finding and constant, a line if the learning rate is 0, and a line if
/// gradients are sums over several backward passes: they are accumulated, or zero_grad() was forgotten.
std::string to_string(const Audit& audit);
std::ostream& operator<<(std::ostream& out, const Audit& audit);

}  // namespace xgrad::optim
