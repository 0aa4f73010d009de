// Rprop: steps of their own length for each number, which only the sign of the gradient changes.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

struct RpropOptions {
  double lr = 1e-2;                            ///< the length of the first step
  std::array<double, 2> etas{0.5, 1.2};        ///< what a length is multiplied by where the sign changed, or stayed
  std::array<double, 2> step_sizes{1e-6, 50};  ///< the shortest and the longest step
  bool maximize = false;                       ///< step up the gradient: -g takes the place of g
};

/// Riedmiller and Braun 1993, for gradients of all the data. In each step with gradient g, and h the one before:
///
///     s <- min(max(s eta, shortest), longest), eta = etas[1] where g h > 0, etas[0] where g h < 0, else 1
///     g <- 0 where g h < 0
///     x <- x - s sign g
///
/// Gradients that are not finite count as with Adam. s begins as lr; later changes of the rate change nothing, as in PyTorch.
class Rprop : public Optimizer {
 public:
  using Options = RpropOptions;
  using Group = optim::Group<Options>;

  /// These throw ValueError for no parameters, for one given twice and unless 0 < etas[0] < 1 < etas[1] and 0 <=
  /// step_sizes[0] <= step_sizes[1], all finite; GraphError for a parameter that is no leaf.
  Rprop(const Tensors& parameters, const Options& options = {});
  explicit Rprop(const std::vector<Group>& groups);

 private:
  void update(Array& x, const Array& g, Memory& memory, int group, double lr) const override;

  std::vector<Options> options_;
};

}  // namespace xgrad::optim
