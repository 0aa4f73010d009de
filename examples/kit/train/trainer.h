// Trainer: the usual training loop. It is one function, Trainer::fit, that can be read in a minute.
//
//     Net net;
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
#include <xgrad/nn/module.h>
#include <xgrad/optim/clip.h>
#include <xgrad/optim/loss.h>
#include <xgrad/optim/optimizers/moving_average.h>
#include <xgrad/optim/schedules/schedule.h>

namespace xgrad::kit {

/// What a validation measures, by name; the first decides which epoch is the best. A single number is called
/// "validation".
///
/// Threads: like a std::vector.
struct Scores {
  Scores() = default;
  Scores(double value) : values{{"validation", value}} {}
  Scores(std::initializer_list<std::pair<std::string, double>> values) : values(values) {}

  std::vector<std::pair<std::string, double>> values = {};
};

/// What is known behind a step.
struct StepReport {
  std::int64_t step = 0;  ///< steps done, in all epochs
  double loss = 0;        ///< of the batch, or the mean of those that the step was made of
};

/// What is known behind an epoch, or with validate_every behind so many steps.
struct EpochReport {
  std::int64_t epoch = 0;  ///< its number, from 1 on
  std::int64_t step = 0;   ///< steps done
  double loss = 0;         ///< mean of the losses of the batches since the last report
  double lr = 0;           ///< learning rate of its last step
  Scores scores = {};      ///< what `validate` measured
  bool best = false;       ///< better than all before it
};

/// Which scores are better.
enum class Goal {
  least,    ///< of errors, losses
  greatest  ///< of accuracies, BLEU
};

/// What is called after each epoch to measure how good the model is, and what is told of steps and epochs.
using Validation = std::function<Scores()>;
using StepCallback = std::function<void(const StepReport&)>;
using EpochCallback = std::function<void(const EpochReport&)>;

struct TrainerOptions {
  std::int64_t epochs = 10;
  std::optional<optim::Schedule> schedule = {};  ///< rate of every step; without one, as the optimizer has it
  double max_norm = 0;                           ///< of all gradients together; 0: they are not clipped
  std::int64_t accumulate = 1;                   ///< batches whose mean gradient makes a step
  double ema = 0;                   ///< decay of the moving average of the weights that is validated and kept; 0: none
  Validation validate = {};         ///< called after each epoch, without dropout and without a graph
  std::int64_t validate_every = 0;  ///< after so many steps instead; 0: after each epoch
  Goal goal = Goal::least;          ///< of the first score; without validation the least loss is the best
  std::int64_t patience = 0;        ///< ends after so many reports that are not the best; 0: never
  std::filesystem::path folder =
      {};               ///< for checkpoint.safetensors, best.safetensors, log.csv, curves.svg; empty: none
  bool resume = false;  ///< goes on from the checkpoint in the folder, if there is one
  StepCallback on_step = {};
  EpochCallback on_epoch = {};
  /// For a progress bar; where a line cannot be drawn over, one line for each report; without a stream nothing. In the
  /// first step, what optim::audit finds that the loss depends on and the optimizer does not train is said there, too.
  Terminal terminal = Terminal::standard_error();
};

namespace detail {
/// f(batch), or f of the batch's parts.
template <class F, class Batch>
Tensor loss_of(const F& f, const Batch& batch) {
  if constexpr (std::is_invocable_v<const F&, const Batch&>) {
    return f(batch);
  } else {
    return std::apply(f, batch);
  }
}

/// While it lives, a module that is in eval() is in training. One that is in training is left as it is, with those of
/// its parts that are in eval(). Threads: as nn::Eval.
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

/// Trains the parameters of an optimizer. Module and optimizer must outlive it. Parameters that are frozen stay as they
/// are, for those that a loss does not depend on the gradient is 0.
///
/// A checkpoint has the model, the optimizer, the schedule, the moving average, the position in the data, the random
/// state, and what was measured, so that a resumed training goes on bit for bit, also in the middle of an epoch.
///
/// Threads: one at a time.
class Trainer {
 public:
  using Options = TrainerOptions;

  /// Throws ValueError for numbers out of their range and for `resume` without a folder; IoError if the folder cannot
  /// be made.
  Trainer(const nn::Module& module, optim::Optimizer& optimizer, const Options& options = {});

  /// Trains up to the last epoch that the options ask for, or until it is stopped; a module that was switched to eval()
  /// is in training meanwhile. `batches` is a DataLoader, a StreamLoader, or something with the same functions; the
  /// loss is a function of a batch, or of its parts: `loss(x, y)` of a batch that is a tuple. Throws NumericError for a
  /// loss or a gradient that is not finite, FormatError for a checkpoint that does not fit (then nothing has changed),
  /// and what the functions and the files throw.
  template <class Batches, class Loss>
  const std::vector<EpochReport>& fit(Batches& batches, const Loss& loss_of) & {
    const detail::InTraining training(module_);
    begin([&](const StateFile& state) { batches.load_state_dict(state); });
    while (!finished()) {
      std::optional<ProgressBar> bar = progress(batches.position(), batches.size());
      for (const auto& batch : batches) {
        const Tensor loss = checked(detail::loss_of(loss_of, batch));
        gather(loss);
        if (gathered_ < options_.accumulate && batches.position() != batches.size()) continue;
        const double mean = step();
        if (bar) bar->update(batches.position(), fields());
        if (options_.on_step) options_.on_step({.step = step_, .loss = mean});
        if (options_.validate_every > 0 && step_ % options_.validate_every == 0) report();
        if (stopped_) break;
      }
      if (bar) bar->finish();
      if (!stopped_) end_epoch();
      const StateFile place = batches.state_dict();
      save(place);
      if (stopped_) batches.load_state_dict(place);  // another fit() goes on with the very next batch
    }
    return history_;
  }

  /// Of a temporary, whose reports would go with it.
  template <class Batches, class Loss>
  std::vector<EpochReport> fit(Batches& batches, const Loss& loss_of) && {
    return fit(batches, loss_of);
  }

  /// Ends fit() behind the step or the epoch that is going on; for the callbacks. Another fit() goes on.
  void stop() { stopped_ = true; }

  /// What was measured, report by report.
  const std::vector<EpochReport>& history() const { return history_; }
  /// The number of steps done.
  std::int64_t steps() const { return step_; }
  /// The best report so far. Throws ValueError before the first.
  const EpochReport& best() const;
  /// Gives the module the parameters and buffers that it had at the best report; with `ema` the averages. Throws as
  /// best().
  void restore_best() const;

 private:
  void begin(const std::function<void(const StateFile&)>& load_batches);
  bool finished() const;
  std::optional<ProgressBar> progress(std::int64_t done, std::int64_t total) const;
  const Tensor& checked(const Tensor& loss) const;
  double mean_loss() const { return sum_ / static_cast<double>(summed_); }
  NamedFields fields() const;
  void gather(const Tensor& loss);
  double step();
  void report();
  void end_epoch();
  bool is_better(const EpochReport& a, const EpochReport& b) const;
  void write_log() const;
  void save(const StateFile& batches) const;
  void load(const std::function<void(const StateFile&)>& load_batches);

  const nn::Module& module_;
  optim::Optimizer& optimizer_;
  const Options options_;
  const Tensors parameters_;
  std::optional<optim::Scheduler> scheduler_;
  std::optional<optim::ExponentialMovingAverage> average_;
  std::vector<EpochReport> history_;
  NamedArrays best_state_;
  Tensors gradients_;                       // the sum of `gathered_` batches, which have the losses gathered_sum_
  std::int64_t gathered_ = 0, epochs_ = 0;  // epochs_ are done
  std::int64_t step_ = 0, summed_ = 0;      // summed_ losses since the last report are sum_
  double gathered_sum_ = 0, sum_ = 0, lr_ = 0;
  std::chrono::steady_clock::time_point since_;  // of the last report
  bool stopped_ = false, begun_ = false, audited_ = false;
};

}  // namespace xgrad::kit
