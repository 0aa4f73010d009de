// Whether a model can learn a single batch by heart: if it cannot, no amount of data will help.
//
//     const Index few_ids = ids[{slice(0, 4)}], few_targets = target[{slice(0, 4)}];
//     std::cout << optim::overfit_one_batch([&] { return cross_entropy(net(few_ids), few_targets); }, adam);
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "../optimizers/optimizer.h"

namespace xgrad::optim {

struct OverfitOptions {
  std::int64_t steps = 200;  ///< so many at most
  double target = 0.01;      ///< near 0 is this part of the first loss
};

/// How the loss of one batch went.
struct OverfitReport {
  std::vector<double> losses;  ///< before the first step and after each
  double target = 0;           ///< the loss that counts as near 0
  std::string suspicion = {};  ///< the likely mistake; empty if the loss got there

  std::int64_t steps() const { return static_cast<std::int64_t>(losses.size()) - 1; }
  /// Whether the loss fell to near 0.
  bool ok() const { return losses.back() <= target; }
};

/// Steps with the gradients of `loss()`, which gives the loss of the same batch each time, until it is near 0, is not
/// finite or the steps are used up. This trains: the parameters and the state of the optimizer change. Leave out
/// everything that keeps a loss from 0: dropout, label smoothing, weight decay. Throws ValueError for an empty
/// function, no steps, a target outside (0, 1) or a negative first loss; ShapeError for a loss that is not one element;
/// and as grad() and Optimizer::step.
OverfitReport overfit_one_batch(const std::function<Tensor()>& loss, Optimizer& optimizer,
                                const OverfitOptions& options = {});

/// One line, and one more if something seems to be wrong.
std::string to_string(const OverfitReport& report);
std::ostream& operator<<(std::ostream& out, const OverfitReport& report);

}  // namespace xgrad::optim
