// Lion.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

struct LionOptions {
  double lr = 1e-4;
  std::array<double, 2> betas{0.9, 0.99};
  double weight_decay = 0;  ///< lambda
  bool maximize = false;    ///< step up the gradient: -g takes the place of g
};

/// Chen et al. 2023 (algorithm 2): every number moves by lr, whatever the size of its gradient, so that lr is to be 3
/// to 10 times smaller than AdamW's, and lambda as much larger. With gradient g:
///
///     x <- x - lr (sign(b1 m + (1 - b1) g) + lambda x)
///     m <- b2 m + (1 - b2) g
///
/// A g that is not finite makes x NaN.
class Lion : public Optimizer {
 public:
  using Options = LionOptions;
  using Group = optim::Group<Options>;

  /// These throw ValueError for no parameters, for one given twice and for an option outside its range, GraphError for
  /// a parameter that is no leaf.
  Lion(const Tensors& parameters, const Options& options = {});
  explicit Lion(const std::vector<Group>& groups);

 private:
  void update(Array& x, const Array& g, Memory& memory, int group, double lr) const override;

  std::vector<Options> options_;
};

}  // namespace xgrad::optim
