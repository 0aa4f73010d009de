// Adagrad.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;                   ///< eta
  double weight_decay = 0;               ///< lambda
  double initial_accumulator_value = 0;  ///< s before the first step
  double eps = 1e-10;
  bool maximize = false;  ///< step up the gradient: -g takes the place of g
};

/// Duchi, Hazan and Singer 2011. In step t = 1, 2, ... with gradient g:
///
///     g <- g + lambda x
///     s <- s + g^2
///     x <- x - lr / (1 + (t - 1) eta) g / (sqrt(s) + eps)
///
/// Gradients whose squares s could not hold, and those that are not finite, count as with Adam.
class Adagrad : public Optimizer {
 public:
  using Options = AdagradOptions;
  using Group = optim::Group<Options>;

  /// These throw ValueError for no parameters, for one given twice and for an option outside its range, GraphError for
  /// a parameter that is no leaf.
  Adagrad(const Tensors& parameters, const Options& options = {});
  explicit Adagrad(const std::vector<Group>& groups);

 private:
  void update(Array& x, const Array& g, Memory& memory, int group, double lr) const override;

  std::vector<Options> options_;
};

}  // namespace xgrad::optim
