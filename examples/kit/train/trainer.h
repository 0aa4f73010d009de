// Trainer: the usual training loop: loss, gradients, clipping, update; then validation, checkpoints and a log.
//
//     const Net net{nn::root};
//     optim::AdamW adam{net.parameters()};
//     kit::DataLoader batches{kit::TensorDataset{x, y}, {.batch_size = 50, .shuffle = true}};
//     kit::Trainer trainer{net, adam, {.epochs = 30, .max_norm = 1, .validate = [&] { return accuracy(net); }}};
//     trainer.fit(batches, [&](const Tensor& x, const Index& y) { return cross_entropy(net(x), y); });
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xgrad/core/files/state.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/signal.h>
#include <xgrad/kit/train/gradients.h>
#include <xgrad/nn/layer.h>
#include <xgrad/optim/optimizers/clip.h>
#include <xgrad/optim/loss.h>
#include <xgrad/optim/optimizers/moving_average.h>
#include <xgrad/optim/schedules/schedule.h>

namespace xgrad::kit {

/// The scores of a validation, by name; the first decides which epoch is the best. A single number is called
/// "validation".
///
/// Threads: like a std::vector.
struct Scores {
  Scores() = default;
  Scores(double value) : values{{"validation", value}} {}
  Scores(std::initializer_list<std::pair<std::string, double>> named) : values(named) {}

  std::vector<std::pair<std::string, double>> values = {};
};

/// The report after a step.
struct StepReport {
  std::int64_t step = 0;  ///< steps done, in all epochs
  double loss = 0;        ///< of the batch; with `accumulate` as of one batch of them all
};

/// The report after an epoch, or with validate_every after so many steps.
struct EpochReport {
  std::int64_t epoch = 0;  ///< its number, from 1 on
  std::int64_t step = 0;   ///< steps done
  double loss = 0;         ///< mean of the losses of the steps since the last report
  double lr = 0;           ///< learning rate of its last step
  Scores scores = {};      ///< of `validate`
  bool best = false;       ///< better than all before it
};

/// Which scores are better.
enum class Goal {
  least,    ///< of errors, losses
  greatest  ///< of accuracies, BLEU
};

/// Callbacks: to validate the model after each epoch, and for reports of steps and epochs.
using Validation = std::function<Scores()>;
using StepCallback = std::function<void(const StepReport&)>;
using EpochCallback = std::function<void(const EpochReport&)>;

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
  Validation validate = {};         ///< called after each epoch, without dropout and without a graph
  std::int64_t validate_every = 0;  ///< after so many steps instead; 0: after each epoch
  Goal goal = Goal::least;          ///< of the first score; without validation the least loss is the best
  std::int64_t patience = 0;        ///< ends after so many reports that are not the best; 0: never
  std::filesystem::path folder =
      {};                      ///< for checkpoint.safetensors, best.safetensors, log.csv, curves.svg; empty: none
  bool resume = false;         ///< goes on from the checkpoint in the folder, if there is one
  /// Of the run, on which results depend: a checkpoint with other attributes is refused, as is one with another
  /// `schedule`, `max_norm`, `accumulate`, `ema` or `goal`.
  NamedFields attributes = {};
  bool interruptible = false;  ///< Ctrl-C ends the training after a step, which is saved, with an Interrupted
  StepCallback on_step = {};
  EpochCallback on_epoch = {};
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

/// A scope in which a module is in training; its end restores evaluation mode. Threads: as nn::Eval.
class InTraining {
 public:
  explicit InTraining(const nn::Module& module) : module_(module), switched_(!module.training()) {
    if (switched_) module.train();
  }
  ~InTraining() {
    if (switched_) module_.eval();
  }
  InTraining(const InTraining&) = delete;
  InTraining& operator=(const InTraining&) = delete;

 private:
  const nn::Module& module_;
  const bool switched_;
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

  /// Trains up to the end by the options, or until it is stopped; a module that was switched to eval() is in training
  /// meanwhile. `batches` is a DataLoader or something with the same functions; the loss is a function
  /// of a batch, or of its parts: `loss(x, y)` of a batch that is a tuple. It returns the mean over the samples, or, if
  /// the mean is over something else, such as tokens, a WeightedLoss of the mean and their number. A batch of weight 0
  /// is left out, and so is a step of such batches alone. Throws NumericError for a loss or a gradient that is not
  /// finite, FormatError for a checkpoint that does not fit or has other attributes (then nothing has changed),
  /// ValueError for weights that are negative, not finite or 0 in a whole epoch, Interrupted, and what the functions
  /// and the files throw. An error drops the batches of an unfinished step.
  template <class Batches, class Loss>
  const std::vector<EpochReport>& fit(Batches& batches, const Loss& loss_of) & {
    return loop(batches, [&](const auto& batch) {
      gather([&] { return weighted(detail::applied(loss_of, batch), batches.samples()); });
      const bool last = gathered_.batches == options_.accumulate || batches.position() == batches.size();
      return last ? step() : std::nullopt;
    });
  }

  /// The same with a step of your own: a function of a batch, or of its parts, that changes the parameters and returns
  /// the loss, a Tensor or a number.
  ///
  ///     trainer.run(batches, [&](const Tensor& x, const Index& y) {
  ///       const Tensor loss = cross_entropy(net(x), y);
  ///       adam.step(grad(loss, net.parameters()));
  ///       return loss;
  ///     });
  ///
  /// Throws as fit(), and ValueError if `accumulate` or `max_norm` is set, which such a step does itself.
  template <class Batches, class Step>
  const std::vector<EpochReport>& run(Batches& batches, const Step& own) & {
    refuse_options_of_fit();
    return loop(batches, [&](const auto& batch) {
      lr_ = optimizer_.lr();
      return stepped(checked(detail::number_of(detail::applied(own, batch))));
    });
  }

  /// Ends fit() or run() after the current step or epoch; for the callbacks. Another call goes on.
  void stop() { stopped_ = true; }

  /// The reports so far.
  const std::vector<EpochReport>& history() const { return history_; }
  /// The number of steps done.
  std::int64_t steps() const { return step_; }
  /// The best report so far. Throws ValueError before the first.
  const EpochReport& best() const;
  /// Gives the module the parameters and buffers that it had at the best report; with `ema` the averages. Throws as
  /// best().
  void restore_best() const;

 private:
  template <class Batches, class Step>
  const std::vector<EpochReport>& loop(Batches& batches, const Step& step_of) {
    const detail::InTraining training(module_);
    std::optional<Interrupt> interrupt;
    if (options_.interruptible) interrupt.emplace();
    begin([&](const StateFile& state) { batches.load_state_dict(state); });
    save(batches.state_dict(), true);  // so that problems show before the training rather than after hours
    std::optional<ProgressBar> bar;
    while (!finished()) {
      const std::int64_t before = batches.position() == 0 ? step_ : -1;
      for (const auto& batch : batches) {
        const std::optional<double> loss = step_of(batch);
        if (!loss) continue;
        show(bar, batches.size());
        if (options_.on_step) options_.on_step({.step = step_, .loss = *loss});
        if (interrupt && interrupt->exit_code() != 0) {
          exit_code_ = interrupt->exit_code();
          stop();
        }
        if (options_.validate_every > 0 && step_ % options_.validate_every == 0) {
          report(bar);
          save(batches.state_dict(), false);
        }
        if (finished()) break;
      }
      if (at_last_step()) {
        if (summed_ > 0) report(bar);
      } else if (!finished()) {
        if (step_ == before) fail<ValueError>("trainer", "no loss of epoch ", epochs_ + 1, " has a weight above 0");
        end_epoch(bar);
      }
      const StateFile place = batches.state_dict();
      save(place, finished());
      if (stopped_) batches.load_state_dict(place);  // another call goes on with the very next batch
    }
    bar.reset();
    throw_if_interrupted();
    return history_;
  }

  // A loss with its weight in the mean over the batches of a step.
  static WeightedLoss weighted(const Tensor& loss, std::int64_t samples) { return {loss, samples}; }
  static WeightedLoss weighted(const WeightedLoss& loss, std::int64_t) { return loss; }

  void begin(const std::function<void(const StateFile&)>& load_batches);
  bool at_last_step() const { return options_.steps > 0 && step_ >= options_.steps; }
  bool finished() const;
  void show(std::optional<ProgressBar>& bar, std::int64_t batches) const;
  double checked(double loss) const;
  double mean_loss() const { return sum_ / static_cast<double>(summed_); }
  NamedFields fields() const;
  void refuse_options_of_fit() const;
  LossGradients differentiated(const WeightedLoss& given);
  void gather(const std::function<WeightedLoss()>& loss_of);
  std::optional<double> step();
  double stepped(double loss);
  void report(std::optional<ProgressBar>& bar);
  void end_epoch(std::optional<ProgressBar>& bar);
  bool is_better(const EpochReport& a, const EpochReport& b) const;
  void write_rows(std::size_t first) const;
  std::string curves() const;
  Metadata attributes() const;
  void save(const StateFile& batches, bool at_once);
  void load(const std::function<void(const StateFile&)>& load_batches);
  void throw_if_interrupted() const;

  const nn::Module& module_;
  optim::Optimizer& optimizer_;
  const Options options_;
  const Tensors parameters_;
  std::optional<optim::Scheduler> scheduler_;
  std::optional<optim::ExponentialMovingAverage> average_;
  std::vector<EpochReport> history_;
  NamedArrays best_state_;
  // The batches of the step in progress: means by their weights.
  struct Gathered : LossGradients {
    std::int64_t batches = 0;
  };
  Gathered gathered_;
  std::int64_t epochs_ = 0;             // that are done
  std::int64_t step_ = 0, summed_ = 0;  // summed_ losses since the last report are sum_
  double sum_ = 0, lr_ = 0;
  std::chrono::steady_clock::time_point since_, saved_;  // of the last line that was printed, of the last checkpoint
  bool stopped_ = false, begun_ = false, audited_ = false;
  int exit_code_ = 0;  // of a signal
};

}  // namespace xgrad::kit
