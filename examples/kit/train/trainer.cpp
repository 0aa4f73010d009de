// The training loop, what it makes of a loss, and what it shows.
#include <xgrad/kit/train/trainer.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <ostream>

#include <xgrad/core/base/text.h>
#include <xgrad/core/files/safetensors.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/csv.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/optim/diagnostics/audit.h>

namespace xgrad::kit {
namespace {

constexpr const char* op = "trainer";

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

/// The names of a report's numbers in log.csv.
std::vector<std::string> columns_of(const Report& report) {
  std::vector<std::string> columns{"epoch", "step", "train_loss", "lr"};
  for (const auto& [name, value] : report.scores.values) columns.push_back(name);
  return columns;
}

}  // namespace

/// What a training shows: a bar or lines, log.csv, curves.svg. The options and the numbers must outlive it.
///
/// Threads: one at a time.
class detail::Reports {
 public:
  /// `steps` end the training, or its epochs; an epoch has `batches`, or there are none. The reports so far are written
  /// to log.csv anew: it may lack some of them, or have more.
  Reports(const TrainerOptions& options, const TrainingState& now, std::optional<std::int64_t> steps,
          std::int64_t batches)
      : options_(options),
        now_(now),
        steps_(steps),
        batches_(batches),
        by_steps_(batches == 0 || options.validate_every > 0) {
    for (const Report& report : now.reports) write_row(report);
  }

  /// Draws the bar after a step. There is one for the whole training.
  void show() {
    if (options_.terminal.out == nullptr || !options_.terminal.redraws) return;
    if (!bar_) {
      const std::int64_t of_epoch = (batches_ + options_.accumulate - 1) / options_.accumulate;
      bar_.emplace(ProgressOptions{.total = steps_.value_or(options_.epochs * of_epoch),
                                   .title = "training",
                                   .start = now_.step - 1,
                                   .terminal = options_.terminal});
    }
    NamedFields shown = fields(now_.mean_loss());
    if (!steps_) shown.insert(shown.begin(), {"epoch", str(now_.epochs + 1, "/", options_.epochs)});
    bar_->update(now_.step, std::move(shown));
  }

  /// Writes the last report to log.csv and, if there is no bar, as a line.
  void add() {
    write_row(now_.reports.back());
    if (options_.terminal.out && !options_.terminal.redraws) print_line();
  }

  /// Ends the bar before other output; the next step begins it anew.
  void pause() { bar_.reset(); }

  /// Draws curves.svg. Curves that fall by orders of magnitude are logarithmic.
  void draw() const {
    const std::vector<Report>& reports = now_.reports;
    const auto& scores = reports.front().scores.values;
    std::vector<PlotPanel> panels;
    for (std::size_t i = 0; i <= scores.size(); ++i) {  // the loss, then the scores
      Series series{.style = reports.size() < 30 ? Series::Style::marked : Series::Style::line};
      for (const Report& report : reports) {
        series.x.push_back(static_cast<double>(by_steps_ ? report.step : report.epoch));
        series.y.push_back(i == 0 ? report.loss : report.scores.values[i - 1].second);
      }
      const auto [least, most] = std::ranges::minmax(series.y);
      panels.push_back({.series = {std::move(series)},
                        .title = i == 0 ? "training loss" : scores[i - 1].first,
                        .x_label = by_steps_ ? "step" : "epoch",
                        .y_scale = least > 0 && most > 10 * least ? Scale::log : Scale::linear});
    }
    kit::save(options_.folder / "curves.svg", panel_plot(panels));
  }

 private:
  NamedFields fields(double loss) const {
    NamedFields all{{"loss", fixed(loss, 4)}};
    if (now_.reports.empty()) return all;
    for (const auto& [name, value] : now_.reports.back().scores.values) all.emplace_back(name, fixed(value, 4));
    return all;
  }

  // One line at most in a second, but the first and the last report have theirs.
  void print_line() {
    const Report& report = now_.reports.back();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - since_;
    const bool last = steps_ ? report.step >= *steps_ : report.epoch == options_.epochs;
    if (now_.reports.size() > 1 && !last && spent.count() < 1) return;
    std::string line = steps_ ? "" : str("epoch ", report.epoch, "/", options_.epochs);
    if (steps_ || by_steps_) line += str(line.empty() ? "" : "  ", "step ", report.step);
    for (const auto& [name, value] : fields(report.loss)) line += str("  ", name, " ", value.text());
    *options_.terminal.out << line + "  " + duration(spent.count()) + "\n" << std::flush;
    since_ = std::chrono::steady_clock::now();
  }

  void write_row(const Report& report) {
    if (options_.folder.empty()) return;
    if (!log_) log_.emplace(options_.folder / "log.csv", columns_of(report));
    std::vector<Field> row{report.epoch, report.step, report.loss, report.lr};
    for (const auto& [name, value] : report.scores.values) row.emplace_back(value);
    log_->row(row);
  }

  const TrainerOptions& options_;
  const TrainingState& now_;
  const std::optional<std::int64_t> steps_;
  const std::int64_t batches_;
  const bool by_steps_;  // and not by epochs
  std::optional<CsvLogger> log_;
  std::optional<ProgressBar> bar_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();  // the last line
};

Trainer::Trainer(const nn::Module& module, optim::Optimizer& optimizer, const Options& options)
    : module_(module), optimizer_(optimizer), options_(options), parameters_(optimizer.parameters()) {
  if (options.epochs < 0) fail<ValueError>(op, "epochs must be at least 0, got ", options.epochs);
  if (options.steps < 0) fail<ValueError>(op, "steps must be at least 0, got ", options.steps);
  if (options.patience < 0) fail<ValueError>(op, "patience must be at least 0, got ", options.patience);
  if (options.accumulate < 1) fail<ValueError>(op, "accumulate ", options.accumulate, " is not positive");
  if (options.validate_every < 0) fail<ValueError>(op, "validate_every ", options.validate_every, " is negative");
  if (!(options.ema >= 0 && options.ema < 1)) fail<ValueError>(op, "ema ", options.ema, " is not in [0, 1)");
  if (!(options.max_norm >= 0)) fail<ValueError>(op, "max_norm must be at least 0, got ", options.max_norm);
  if (options.folder.empty()) {
    if (options.resume) fail<ValueError>(op, "nothing to resume from without a folder");
  } else {
    output_folder(op, options.folder);
  }
  (void)attributes();  // refuses two of the same name
  if (options.schedule) scheduler_.emplace(optimizer, *options.schedule);
  if (options.ema > 0) {
    Tensors averaged = parameters_;
    std::ranges::copy(module.buffers(), std::back_inserter(averaged));
    average_.emplace(averaged, optim::MovingAverageOptions{.decay = options.ema});
  }
}

const std::vector<Report>& Trainer::loop(const detail::Batches& batches, std::optional<std::int64_t> steps) {
  if (steps && *steps < 0) fail<ValueError>(op, "steps must be at least 0, got ", *steps);
  const InTraining training(module_);
  std::optional<Interrupt> interrupt;
  if (options_.interruptible) interrupt.emplace();
  steps_ = steps;
  stopped_ = false;
  gathered_ = {};  // of a step that an error has ended
  const detail::Checkpoint checkpoint{options_.folder / "checkpoint.safetensors", attributes(), parts(batches)};
  begin(checkpoint, batches.size > 0);
  detail::Reports reports(options_, state_, steps, batches.size);
  std::chrono::steady_clock::time_point saved;
  const auto save = [&](bool at_once) {
    const auto now = std::chrono::steady_clock::now();
    if (options_.folder.empty() || (!at_once && now - saved < std::chrono::seconds(1))) return;
    saved = now;
    if (!state_.reports.empty()) {
      reports.draw();
      save_safetensors((options_.folder / "best.safetensors").string(), {.arrays = best_});
    }
    checkpoint.save(state_);
  };
  save(true);  // so that problems show before the training rather than after hours
  int exit_code = 0;
  while (!finished()) {
    const std::size_t before = state_.reports.size();
    if (!batches.next()) {
      end_epoch(reports);
    } else if (const std::optional<double> loss = batches.train()) {
      reports.show();
      if (options_.on_step) options_.on_step({.step = state_.step, .loss = *loss});
      if (interrupt && *interrupt) {
        exit_code = interrupt->exit_code();
        stop();
      }
      const bool due = options_.validate_every > 0 && state_.step % options_.validate_every == 0;
      if (due || at_last_step()) report(reports);
    }
    if (state_.reports.size() > before || finished()) save(finished());
  }
  if (stopped_) batches.load(batches.state());  // another call goes on with the very next batch
  if (exit_code != 0) {
    std::string text = str("stopped after step ", state_.step);
    if (!options_.folder.empty()) text += str(", to be resumed from ", options_.folder.string());
    throw Interrupted(text, exit_code);
  }
  return state_.reports;
}

void Trainer::begin(const detail::Checkpoint& checkpoint, bool epochs) {
  if (!begun_ && options_.resume) {
    const bool found = std::filesystem::exists(checkpoint.path);
    if (found) checkpoint.load(state_);
    if (options_.terminal.out) {
      *options_.terminal.out << (found ? str("going on after step ", state_.step,
                                             epochs ? str(", in epoch ", state_.epochs + 1) : "")
                                       : str("no checkpoint in ", options_.folder.string(), ": starting anew"))
                             << "\n";
    }
  }
  begun_ = true;
}

bool Trainer::finished() const {
  if (stopped_ || (steps_ ? at_last_step() : state_.epochs >= options_.epochs)) return true;
  return options_.patience > 0 && !state_.reports.empty() && &state_.reports.back() - &best() >= options_.patience;
}

double Trainer::checked(double loss) const {
  if (!std::isfinite(loss)) fail<NumericError>(op, "the loss of step ", state_.step + 1, " is ", loss);
  return loss;
}

void Trainer::refuse_options_of_fit() const {
  if (options_.accumulate > 1) fail<ValueError>(op, "accumulate is for fit(): a step of your own adds up itself");
  if (options_.max_norm > 0) fail<ValueError>(op, "max_norm is for fit(): a step of your own clips itself");
  if (options_.gradients) fail<ValueError>(op, "gradients is for fit(): a step of your own calls the function itself");
}

LossGradients Trainer::differentiated(const WeightedLoss& given) {
  const auto& [loss, amount] = given;
  const double weight = amount.value;
  if (!(weight >= 0) || std::isinf(weight)) fail<ValueError>(op, "a loss of weight ", weight);
  if (weight == 0) return {};
  if (loss.size() == 1) checked(static_cast<double>(loss.item()));
  if (!audited_ && options_.terminal.out && loss.requires_grad()) {
    for (const auto& [name, shape, why] : optim::audit(loss, optimizer_).untrained) {
      *options_.terminal.out << str("trainer: the optimizer does not train ", name.empty() ? "(no name)" : name, " ",
                                    shape, ": ", why, "\n");
    }
  }
  audited_ = true;
  Tensors gradients = optim::detail::gradients_of(loss, parameters_);
  return {.loss = static_cast<double>(loss.item()), .weight = weight, .gradients = std::move(gradients)};
}

// Adds a batch to those before.
void Trainer::gather(const std::function<WeightedLoss()>& loss_of) {
  const std::int64_t number = state_.step * options_.accumulate + gathered_.batches++;
  LossGradients made = options_.gradients ? options_.gradients(number, loss_of) : differentiated(loss_of());
  if (made.weight == 0) return;
  const NoGrad off;
  const double fraction = made.weight / (gathered_.weight + made.weight);
  for (std::size_t i = 0; gathered_.weight > 0 && i < made.gradients.size(); ++i) {
    Tensor& mean = made.gradients[i];
    const Tensor& before = gathered_.gradients[i];
    if (mean.defined()) mean = mean * fraction;
    if (before.defined()) mean = mean.defined() ? before * (1 - fraction) + mean : before * (1 - fraction);
  }
  gathered_.gradients = std::move(made.gradients);
  gathered_.loss += fraction * (checked(made.loss) - gathered_.loss);
  gathered_.weight += made.weight;
}

// Without epochs nothing else would end a training whose losses have no weight.
void Trainer::refuse_nothing_gathered() const {
  if (gathered_.weight > 0) return;
  fail<ValueError>(op, "no loss of step ", state_.step + 1, " has a weight above 0");
}

// Makes a step of the gathered batches, and returns their loss; nothing of batches without weight.
std::optional<double> Trainer::step() {
  auto [loss, weight, gradients] = static_cast<LossGradients>(std::exchange(gathered_, {}));
  if (weight == 0) return std::nullopt;
  if (options_.max_norm > 0) {
    gradients = optim::clip_grad_norm(std::move(gradients), parameters_, options_.max_norm).gradients;
  }
  state_.lr = optimizer_.lr();
  optimizer_.step(gradients);
  return stepped(loss);
}

// The bookkeeping after an update by this loss.
double Trainer::stepped(double loss) {
  if (scheduler_) scheduler_->step();
  if (average_) average_->update();
  ++state_.step;
  state_.sum += loss;
  ++state_.summed;
  return loss;
}

void Trainer::report(detail::Reports& reports) {
  Report report{.epoch = state_.epochs + 1, .step = state_.step, .loss = state_.mean_loss(), .lr = state_.lr};
  {
    std::optional<optim::AveragedWeights> averaged;
    if (average_ && average_->updates() > 0) averaged.emplace(*average_);
    if (options_.validate) {
      const nn::Eval eval(module_);
      const NoGrad off;
      report.scores = options_.validate();
    }
    for (const auto& [name, value] : report.scores.values) {
      if (!std::isfinite(value)) fail<NumericError>(op, "the score ", name, " is ", value);
    }
    const auto now = columns_of(report);
    const auto earlier = state_.reports.empty() ? now : columns_of(state_.reports.front());
    if (now != earlier) {
      fail<ValueError>(op, "validate must measure the same scores each time: ", earlier, ", now ", now);
    }
    report.best = state_.reports.empty() || is_better(report, best());
    state_.reports.push_back(std::move(report));
    if (state_.reports.back().best) best_ = module_.state_dict();
  }
  reports.add();
  state_.sum = 0;
  state_.summed = 0;
  if (options_.on_report) {
    reports.pause();
    options_.on_report(state_.reports.back());
  }
}

void Trainer::end_epoch(detail::Reports& reports) {
  if (state_.step == state_.began) {
    fail<ValueError>(op, "no loss of epoch ", state_.epochs + 1, " has a weight above 0");
  }
  const bool last = !steps_ && state_.epochs + 1 == options_.epochs;
  if (state_.summed > 0 && (options_.validate_every == 0 || last)) report(reports);
  ++state_.epochs;
  state_.began = state_.step;
}

bool Trainer::is_better(const Report& a, const Report& b) const {
  if (a.scores.values.empty()) return a.loss < b.loss;
  const double x = a.scores.values.front().second, y = b.scores.values.front().second;
  return options_.goal == Goal::least ? x < y : x > y;
}

const Report& Trainer::best() const {
  const auto last = std::find_if(state_.reports.rbegin(), state_.reports.rend(), std::mem_fn(&Report::best));
  if (last == state_.reports.rend()) fail<ValueError>(op, "no epoch is done yet");
  return *last;
}

void Trainer::restore_best() const {
  best();
  module_.load_state_dict(best_);
}

// Of the run, and those of its options on which results depend, under the names that a program gives them.
Metadata Trainer::attributes() const {
  Metadata attributes;
  if (options_.schedule) attributes[".schedule"] = "a schedule";
  if (options_.max_norm > 0) attributes[".max_norm"] = str(options_.max_norm);
  if (options_.accumulate > 1) attributes[".accumulate"] = str(options_.accumulate);
  if (options_.ema > 0) attributes[".ema"] = str(options_.ema);
  if (options_.goal == Goal::greatest) attributes[".goal"] = "greatest";
  for (const auto& [name, value] : options_.attributes) {
    if (!attributes.emplace(name, value.text()).second) fail<ValueError>(op, "two attributes have the same name");
  }
  return attributes;
}

// In the order in which they are loaded: the best state fits if the module takes it.
std::vector<detail::CheckpointPart> Trainer::parts(const detail::Batches& batches) {
  using detail::TrainingState;
  const auto whole = [](const char* name, auto& part) -> detail::CheckpointPart {
    return {name, [&part] { return part.state_dict(); },
            [&part](const StateFile& state, const TrainingState&) { part.load_state_dict(state); }};
  };
  const auto load_model = [this](const StateFile& part) {
    module_.load_state_dict(part.arrays, {.source = part.source});
  };
  const auto load_best = [=, this](const StateFile& part, const TrainingState& now) {
    if (!now.reports.empty()) load_model(part);
    best_ = part.arrays;
  };
  std::vector<detail::CheckpointPart> all{{"best", [this] { return StateFile{.arrays = best_}; }, load_best},
                                          {"model", [this] { return StateFile{.arrays = module_.state_dict()}; },
                                           [=](const StateFile& part, const TrainingState&) { load_model(part); }},
                                          whole("optimizer", optimizer_)};
  if (scheduler_) {
    all.push_back({"schedule", [this] { return scheduler_->state_dict(); },
                   [this](const StateFile& part, const TrainingState& now) {
                     const double was = optimizer_.lr();
                     scheduler_->load_state_dict(part);
                     const double is = optimizer_.lr();
                     if (std::abs(is - was) > 1e-9 * was) {
                       fail<FormatError>(op, part.source, " is of another run: .schedule: found the rate ", was,
                                         " for step ", now.step + 1, ", expected ", is);
                     }
                   }});
  }
  if (average_) all.push_back(whole("average", *average_));
  if (batches.size > 0) {
    all.push_back(
        {"batches", batches.state, [load = batches.load](const StateFile& part, const TrainingState&) { load(part); }});
  }
  return all;
}

}  // namespace xgrad::kit
