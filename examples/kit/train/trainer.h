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
#include <xgrad/kit/train/best.h>
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
  std::int64_t steps = 0;  ///< number of steps, instead of `epochs` if not 0, also within an epoch
  std::optional<optim::Schedule> schedule = {};  ///< rate of every step; without one, as the optimizer has it
  double max_norm = 0;                           ///< of all gradients together; 0: they are not clipped
  /// Batches that make a step, which is that of one batch of them all: the mean of their gradients, by the number of
  /// their samples, or by the weights that the loss function gives.
  std::int64_t accumulate = 1;
  /// Decay of the moving average that is validated and kept, of the weights and of the buffers (BatchNorm's
  /// statistics); buffers of integers are copied. 0: none.
  double ema = 0;
  Validation validate = {};  ///< called before each report, without dropout and without a graph
  /// Steps from one report to the next; 0: those of an epoch, and without epochs all.
  std::int64_t validate_every = 0;
  Goal goal = Goal::least;    ///< of the first score; without validation the least loss is the best
  std::int64_t patience = 0;  ///< ends after so many reports that are not the best; 0: never
  /// For checkpoint.safetensors, best.safetensors, log.csv and curves.svg; empty: none.
  std::filesystem::path folder = {};
  bool resume = false;  ///< goes on from the checkpoint in the folder, if there is one
  /// Of the run, on which results depend: a checkpoint with other attributes is refused, as is one with another
  /// `schedule`, `max_norm`, `accumulate`, `ema` or `goal`.
  NamedFields attributes = {};
  bool interruptible = false;  ///< Ctrl-C ends the training after a step, which is saved, with an Interrupted
  StepCallback on_step = {};
  ReportCallback on_report = {};
  GradientFunction gradients = {};  ///< how fit() makes the gradients of a batch; without one, by the library's grad()
  /// For a progress bar; where a line cannot be drawn over, one line for each report, but no more than one a second;
  /// without a stream nothing. In the first step, leaves that the loss depends on and the optimizer does not train
  /// (optim::audit) are reported there, too.
  Terminal terminal = Terminal::standard_error();
};

namespace detail {
/// f(batch), or f of the batch's parts.
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
  std::function<std::optional<double>()> train;  ///< of this batch; the loss of a step, if it completes one
  std::int64_t size = 0;                         ///< batches of an epoch; 0: there are no epochs
  std::function<StateFile()> state = [] { return StateFile(); };
  std::function<void(const StateFile&)> load = [](const StateFile&) {};
};
}  // namespace detail

/// Trains the parameters of an optimizer. Module and optimizer must outlive it. Frozen parameters do not change; the
/// gradient of a parameter that the loss does not depend on is 0.
///
/// A checkpoint has the state of all parts, so a resumed training gives the same bits, also in the middle of an epoch.
/// It is written before the first step, with each report (but at most once a second), and at the end. A training that
/// is resumed writes the rows of log.csv again from its checkpoint.
///
/// Threads: one at a time.
class Trainer {
 public:
  using Options = TrainerOptions;

  /// Throws ValueError for numbers out of their range and for `resume` without a folder; IoError if the folder cannot
  /// be made.
  Trainer(const nn::Module& module, optim::Optimizer& optimizer, const Options& options = {});
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains up to the end by the options, or until it is stopped; a module that was switched to eval() is in training
  /// meanwhile. `batches` is a DataLoader or something with the same functions; the loss is a function
  /// of a batch, or of its parts: `loss(x, y)` of a batch that is a tuple. It returns the mean over the samples, or, if
  /// the mean is over something else, such as tokens, a WeightedLoss of the mean and their number. A batch of weight 0
  /// is left out, and so is a step of such batches alone. Throws NumericError for a loss or a gradient that is not
  /// finite, FormatError for a checkpoint that does not fit or has other attributes (then nothing has changed),
  /// ValueError for weights that are negative, not finite or 0 in a whole epoch, Interrupted, and what the functions
  /// and the files throw. An error drops the batches of an unfinished step.
  template <class Batches, class Loss>
  requires(!std::integral<Batches>) const std::vector<Report>& fit(Batches& batches, const Loss& loss_of) & {
    return loop_over(batches, [&](const auto& batch) {
      gather([&] { return weighted(detail::applied(loss_of, batch), batches.samples()); });
      const bool last = gathered_.batches == options_.accumulate || batches.position() == batches.size();
      return last ? step() : std::nullopt;
    });
  }

  /// The same without a loader: trains up to step number `steps` (in place of the options `epochs` and `steps`), where
  /// the function makes a batch of its own each time and returns its loss. Reports come after every `validate_every`
  /// steps and at the end, and are of epoch 1. Throws ValueError for a negative number and for a step without weight, too.
  template <class Loss>
  const std::vector<Report>& fit(std::int64_t steps, const Loss& loss_of) & {
    const auto train = [&] {
      while (gathered_.batches < options_.accumulate) gather([&] { return weighted(loss_of(), 1); });
      refuse_nothing_gathered();
      return step();
    };
    return loop({.next = [] { return true; }, .train = train}, steps);
  }

  /// As the first, with a step of your own: a function of a batch, or of its parts, that changes the parameters and
  /// returns the loss, a Tensor or a number.
  ///
  ///     trainer.run(batches, [&](const Tensor& x, const Index& y) {
  ///       const Tensor loss = cross_entropy(net(x), y);
  ///       adam.step(grad(loss, net.parameters()));
  ///       return loss;
  ///     });
  ///
  /// Throws as fit(), and ValueError if `accumulate` or `max_norm` is set, which such a step does itself.
  template <class Batches, class Step>
  const std::vector<Report>& run(Batches& batches, const Step& own) & {
    refuse_options_of_fit();
    return loop_over(batches, [&](const auto& batch) {
      state_.lr = optimizer_.lr();
      return stepped(checked(detail::number_of(detail::applied(own, batch))));
    });
  }

  /// Ends fit() or run() after the current step or report; for the callbacks. Another call goes on.
  void stop() { stopped_ = true; }

  /// The reports so far.
  const std::vector<Report>& history() const { return state_.reports; }
  /// The number of steps done.
  std::int64_t steps() const { return state_.step; }
  /// The best report so far. Throws ValueError before the first.
  const Report& best() const { return best_.of(state_.reports); }
  /// Gives the module the parameters and buffers that it had at the best report; with `ema` the averages. Throws as
  /// best().
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
  detail::Best best_;
  std::optional<std::int64_t> steps_;  // the last one of this training, if epochs do not end it
  // The batches of the step in progress: means by their weights.
  struct Gathered : LossGradients {
    std::int64_t batches = 0;
  };
  Gathered gathered_;
  bool stopped_ = false, begun_ = false, audited_ = false;
};

}  // namespace xgrad::kit
