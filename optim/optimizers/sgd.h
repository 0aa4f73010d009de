// Stochastic gradient descent.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;      ///< mu
  double dampening = 0;     ///< tau
  double weight_decay = 0;  ///< lambda
  bool nesterov = false;
  bool maximize = false;  ///< step up the gradient: -g takes the place of g
};

/// With gradient g, in PyTorch's form of momentum:
///
///     g <- g + lambda x
///     b <- mu b + (1 - tau) g        (b = g in the first step)
///     x <- x - lr b                  (nesterov: x - lr (g + mu b); without momentum: x - lr g)
class SGD : public Optimizer {
 public:
  using Options = SgdOptions;
  using Group = optim::Group<Options>;

  /// These throw ValueError for no parameters, for one given twice, for an option that is negative or not finite, and
  /// for nesterov without momentum or with dampening; GraphError for a parameter that is no leaf.
  SGD(const Tensors& parameters, const Options& options = {});
  explicit SGD(const std::vector<Group>& groups);

 private:
  void update(Array& x, const Array& g, Memory& memory, int group, double lr) const override;

  std::vector<Options> options_;
};

}  // namespace xgrad::optim
