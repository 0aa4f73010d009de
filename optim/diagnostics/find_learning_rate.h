// A first guess at the learning rate: how the loss falls, and when it no longer does, while the rate grows.
//
//     std::cout << optim::find_learning_rate([&] { return cross_entropy(net(next_ids()), next_targets()); }, adam);
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "../optimizers/optimizer.h"

namespace xgrad::optim {

struct LearningRateOptions {
  double start_lr = 1e-7;
  double end_lr = 10;
  std::int64_t num_iter = 100;  ///< steps at most; the rate grows by the same factor from one to the next
  double smoothing = 0.9;       ///< in [0, 1): the share of the running mean of the losses that a step keeps
  double diverged = 4;          ///< the test ends where the mean is so many times its lowest value
  Tensors buffers = {};         ///< other tensors that a loss changes, to be restored: model.buffers()
};

/// The curve of a range test.
struct LearningRateReport {
  std::vector<double> rates;   ///< of the first group, of each step
  std::vector<double> losses;  ///< before the step
  std::vector<double> means;   ///< their running mean
  /// The rate at which the mean falls most steeply over the logarithm of the rate; none if it falls nowhere.
  std::optional<double> suggestion;
};

/// Smith 2017 ("Cyclical learning rates"), the range test: steps with gradients of `loss()`, which gives the loss of
/// the next batch each time, while the rate grows from start_lr to end_lr; groups keep their proportion. It ends early
/// where the loss is not finite or far above its lowest. Afterwards, whatever it throws, parameters, buffers, optimizer
/// and this thread's random numbers are as they were. Throws ValueError for an empty function, an optimizer without
/// parameters, rates that are not 0 < start_lr < end_lr, fewer than 2 steps, a smoothing outside [0, 1), diverged of at
/// most 1, and groups whose rates are not all 0 where the first's is; ShapeError for a loss that is not one element;
/// and as grad() and Optimizer::step.
LearningRateReport find_learning_rate(const std::function<Tensor()>& loss, Optimizer& optimizer,
                                      const LearningRateOptions& options = {});

/// The suggestion and the curve behind it, in one line.
std::string to_string(const LearningRateReport& report);
std::ostream& operator<<(std::ostream& out, const LearningRateReport& report);

}  // namespace xgrad::optim
