// RMSprop.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< in [0, 1)
  double eps = 1e-8;
  double weight_decay = 0;  ///< lambda
  double momentum = 0;      ///< mu
  bool centered = false;    ///< divide by the deviation of g, not by the root of its mean square
  bool maximize = false;    ///< step up the gradient: -g takes the place of g
};

/// Hinton 2012 (lecture 6e), in PyTorch's form. With gradient g:
///
///     g <- g + lambda x
///     v <- alpha v + (1 - alpha) g^2
///     a <- alpha a + (1 - alpha) g                      (centered; a is 0 otherwise)
///     b <- mu b + g / (sqrt(v - a^2) + eps)
///     x <- x - lr b
///
/// v - a^2 counts as 0 where rounding makes it negative, which is NaN in PyTorch.
/// Gradients whose squares v could not hold, and those that are not finite, count as with Adam.
class RMSprop : public Optimizer {
 public:
  using Options = RmspropOptions;
  using Group = optim::Group<Options>;

  /// These throw ValueError for no parameters, for one given twice and for an option outside its range, GraphError for
  /// a parameter that is no leaf.
  RMSprop(const Tensors& parameters, const Options& options = {});
  explicit RMSprop(const std::vector<Group>& groups);

 private:
  void update(Array& x, const Array& g, Memory& memory, int group, double lr) const override;

  std::vector<Options> options_;
};

}  // namespace xgrad::optim
