// Trainer: the usual training loop: loss, gradients, clipping, update; then validation, checkpoints and a log.
//
//     const Net net{nn::root};
//     optim::AdamW adam{net.parameters()};
//     kit::DataLoader batches{kit::TensorDataset{x, y}, {.batch_size = 50, .shuffle = true}};
//     kit::Trainer trainer{net, adam, {.epochs = 30, .max_norm = 1, .validate = [&] { return accuracy(net); }}};
//     trainer.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(net(x), y); });
//
// Without a loader: trainer.fit(2000, [&] { return loss_of(next_batch()); }) makes 2000 steps.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <xgrad/core/files/state.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/signal.h>
#include <xgrad/kit/train/checkpoint.h>
#include <xgrad/kit/train/gradients.h>
#include <xgrad/kit/train/report.h>
#include <xgrad/nn/layer.h>
#include <xgrad/optim/loss.h>
#include <xgrad/optim/optimizers/clip.h>
#include <xgrad/optim/optimizers/moving_average.h>
#include <xgrad/optim/schedules/schedule.h>

namespace xgrad::kit {

struct TrainerOptions {
  std::int64_t epochs = 10;
  std::int64_t steps = 0;  ///< if not 0, the number of steps in place of `epochs`; may end within an epoch
  std::optional<optim::Schedule> schedule = {};  ///< the rate of every step; by default the optimizer keeps its rate
  double max_norm = 0;                           ///< limit of the norm of all gradients; 0: no clipping
  /// Number of batches for one step. The step uses the mean of their gradients, weighted by their numbers of samples or
  /// by the weights that the loss function returns. The step is the same as for one large batch.
  std::int64_t accumulate = 1;
  /// Decay of the moving average of weights and buffers (for example the statistics of BatchNorm). Validation and files
  /// use the averages; integer buffers are copied. 0: no average.
  double ema = 0;
  Validation validate = {};  ///< called before each report, in evaluation mode and without a graph
  /// Number of steps between reports. 0: one report for each epoch, or without epochs one at the end.
  std::int64_t validate_every = 0;
  Goal goal = Goal::least;    ///< for the first score; without validation, the smallest loss is the best
  std::int64_t patience = 0;  ///< ends after this number of reports without a new best one; 0: never
  /// The directory for checkpoint.safetensors, best.safetensors, log.csv and curves.svg; empty: no files.
  std::filesystem::path folder = {};
  bool resume = false;  ///< continue from the checkpoint in the directory, if there is one
  /// Attributes of the run that determine its results. A checkpoint with other attributes, or with another `schedule`,
  /// `max_norm`, `accumulate`, `ema` or `goal`, is rejected.
  NamedFields attributes = {};
  bool interruptible = false;  ///< after Ctrl-C, finish the step, save, and throw Interrupted
  StepCallback on_step = {};
  ReportCallback on_report = {};
  GradientFunction gradients = {};  ///< computes the gradients of a batch in fit(); by default grad()
  /// The terminal for a progress bar. If it cannot overwrite lines, each report is a line, at most one per second.
  /// Without a stream nothing is shown. The first step also prints leaves that the loss depends on but the optimizer
  /// does not train (see optim::audit).
  Terminal terminal = Terminal::standard_error();
};

namespace detail {
/// Calls f(batch), or f with the parts of the batch.
template <class F, class Batch>
decltype(auto) applied(const F& f, const Batch& batch) {
  if constexpr (nn::detail::Takes<F, Batch>) {
    return f(batch);
  } else {
    return std::apply(f, batch);
  }
}

inline double number_of(const Tensor& loss) { return static_cast<double>(loss.item()); }
inline double number_of(double loss) { return loss; }

class Reports;

/// The batches of a training, one after the other.
struct Batches {
  std::function<bool()> next;                    ///< goes to the next batch; false at the end of an epoch
  std::function<std::optional<double>()> train;  ///< trains with this batch; the loss of a step, if it completes one
  std::int64_t size = 0;                         ///< number of batches in an epoch; 0: there are no epochs
  std::function<StateFile()> state = [] { return StateFile(); };
  std::function<void(const StateFile&)> load = [](const StateFile&) {};
};
}  // namespace detail

/// Trains the parameters of an optimizer. Module and optimizer must outlive it. Frozen parameters do not change; the
/// gradient of a parameter that the loss does not depend on is 0.
///
/// A checkpoint has the state of all parts, so a resumed training gives the same bits, also in the middle of an epoch.
/// It is written before the first step, with reports (at most once a second), and at the end. A resumed training
/// rewrites the rows of log.csv from its checkpoint.
///
/// Threads: one thread at a time.
class Trainer {
 public:
  using Options = TrainerOptions;

  /// Throws ValueError for options out of range, and for `resume` without a directory; IoError if the directory cannot
  /// be created.
  Trainer(const nn::Module& module, optim::Optimizer& optimizer, const Options& options = {});
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains until the options end it, or until stop() is called. The module is in training mode during the call, even
  /// after eval(). `batches` is a DataLoader or a type with the same functions. The loss is a function of a batch, or
  /// of its parts: `loss(x, y)` for a batch that is a tuple. It returns the mean over the samples. If the mean is over
  /// something else, such as tokens, it returns a WeightedLoss: the mean and the number of tokens. Batches of weight 0
  /// are skipped, and so are steps of only such batches. After an error, the batches of an unfinished step are dropped.
  /// Throws NumericError for a loss or a gradient that is not finite. Throws FormatError for a checkpoint that does not
  /// match or has other attributes; nothing is changed then. Throws ValueError for weights that are negative, not
  /// finite, or 0 in a whole epoch. Throws Interrupted, and what the functions and the files throw.
  template <class Batches, class Loss>
  requires(!std::integral<Batches>) const std::vector<Report>& fit(Batches& batches, const Loss& loss_of) & {
    return loop_over(batches, [&](const auto& batch) {
      gather([&] { return weighted(detail::applied(loss_of, batch), batches.samples()); });
      const bool last = gathered_.batches == options_.accumulate || batches.position() == batches.size();
      return last ? step() : std::nullopt;
    });
  }

  /// The same without a loader: trains up to step number `steps`, which replaces the options `epochs` and `steps`. The
  /// function makes a batch in each call and returns its loss. Reports come after every `validate_every` steps and at
  /// the end, and belong to epoch 1. Also throws ValueError for a negative number of steps and for a step of weight 0.
  template <class Loss>
  const std::vector<Report>& fit(std::int64_t steps, const Loss& loss_of) & {
    const auto train = [&] {
      while (gathered_.batches < options_.accumulate) gather([&] { return weighted(loss_of(), 1); });
      refuse_nothing_gathered();
      return step();
    };
    return loop({.next = [] { return true; }, .train = train}, steps);
  }

  /// The same with your own step: a function of a batch, or of its parts, that changes the parameters and returns the
  /// loss, a Tensor or a number.
  ///
  ///     trainer.run(batches, [&](const Tensor& x, const Index& y) {
  ///       const Tensor loss = cross_entropy(net(x), y);
  ///       adam.step(grad(loss, net.parameters()));
  ///       return loss;
  ///     });
  ///
  /// Throws what fit() throws, and ValueError if `accumulate`, `max_norm` or `gradients` is set, because your own step
  /// is responsible for these.
  template <class Batches, class Step>
  const std::vector<Report>& run(Batches& batches, const Step& own) & {
    refuse_options_of_fit();
    return loop_over(batches, [&](const auto& batch) {
      state_.lr = optimizer_.lr();
      return stepped(checked(detail::number_of(detail::applied(own, batch))));
    });
  }

  /// Ends fit() or run() after the current step or report; call it in callbacks. Another call of fit() or run()
  /// continues.
  void stop() { stopped_ = true; }

  /// The reports so far.
  const std::vector<Report>& history() const { return state_.reports; }
  /// The number of steps so far.
  std::int64_t steps() const { return state_.step; }
  /// The best report so far. Throws ValueError if there is no report.
  const Report& best() const;
  /// Restores the parameters and buffers of the best report; with `ema` the averages. Throws what best() throws.
  void restore_best() const;

 private:
  template <class Loader, class Step>
  const std::vector<Report>& loop_over(Loader& loader, const Step& step_of) {
    std::optional<decltype(loader.begin())> at;
    const auto next = [&] {
      at ? static_cast<void>(++*at) : static_cast<void>(at.emplace(loader.begin()));
      const bool found = *at != loader.end();
      if (!found) at.reset();
      return found;
    };
    return loop({.next = next,
                 .train = [&]() -> std::optional<double> { return step_of(**at); },
                 .size = loader.size(),
                 .state = [&] { return loader.state_dict(); },
                 .load = [&](const StateFile& state) { loader.load_state_dict(state); }},
                options_.steps > 0 ? std::optional(options_.steps) : std::nullopt);
  }

  // A loss with its weight in the mean over the batches of a step.
  static WeightedLoss weighted(const Tensor& loss, std::int64_t samples) { return {loss, samples}; }
  static WeightedLoss weighted(const WeightedLoss& loss, std::int64_t) { return loss; }

  const std::vector<Report>& loop(const detail::Batches& batches, std::optional<std::int64_t> steps);
  void begin(const detail::Checkpoint& checkpoint, bool epochs);
  bool at_last_step() const { return steps_ && state_.step >= *steps_; }
  bool finished() const;
  double checked(double loss) const;
  bool is_better(const Report& a, const Report& b) const;
  void refuse_options_of_fit() const;
  void refuse_nothing_gathered() const;
  LossGradients differentiated(const WeightedLoss& given);
  void gather(const std::function<WeightedLoss()>& loss_of);
  std::optional<double> step();
  double stepped(double loss);
  void report(detail::Reports& reports);
  void end_epoch(detail::Reports& reports);
  Metadata attributes() const;
  std::vector<detail::CheckpointPart> parts(const detail::Batches& batches);

  const nn::Module& module_;
  optim::Optimizer& optimizer_;
  const Options options_;
  const Tensors parameters_;
  std::optional<optim::Scheduler> scheduler_;
  std::optional<optim::ExponentialMovingAverage> average_;
  detail::TrainingState state_;
  NamedArrays best_;                   // the state of the module in the best report
  std::optional<std::int64_t> steps_;  // the last one of this training, if epochs do not end it
  // The weighted means over the batches of the step in progress.
  struct Gathered : LossGradients {
    std::int64_t batches = 0;
  };
  Gathered gathered_;
  bool stopped_ = false, begun_ = false, audited_ = false;
};

}  // namespace xgrad::kit
