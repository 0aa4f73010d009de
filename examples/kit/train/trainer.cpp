// The training loop's surroundings: scores, files, and a checkpoint that loses nothing.
#include <xgrad/kit/train/trainer.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <ostream>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/from_text.h>
#include <xgrad/core/base/text.h>
#include <xgrad/core/files/safetensors.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/optim/diagnostics/audit.h>

namespace xgrad::kit {
namespace {

constexpr const char* op = "trainer";

/// The numbers of a text, which commas separate. Throws FormatError for anything else.
template <class Number>
std::vector<Number> numbers_of(const StateFile& file, std::string_view key) {
  const std::string& text = file.text(key);
  std::vector<Number> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const auto [next, error] = xgrad::detail::from_text(at, end, numbers.emplace_back());
    if (error != std::errc() || (next != end && *next != ',')) {
      fail<FormatError>(op, "the checkpoint's ", key, " is not numbers but ", escaped(text));
    }
    at = next + (next != end);
  }
  return numbers;
}

template <class Number>
Number number_of(const StateFile& file, std::string_view key) {
  const std::vector<Number> numbers = numbers_of<Number>(file, key);
  if (numbers.size() != 1) fail<FormatError>(op, "the checkpoint's ", key, " is not one number");
  return numbers.front();
}

template <class Number>
std::string text_of(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) append(text, str(text.empty() ? "" : ",", number));
  return text;
}

std::vector<std::string> columns_of(const EpochReport& report) {
  std::vector<std::string> columns{"epoch", "step", "train_loss", "lr"};
  for (const auto& [name, value] : report.scores.values) columns.push_back(name);
  return columns;
}

}  // namespace

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

void Trainer::begin(const std::function<void(const StateFile&)>& load_batches) {
  stopped_ = false;
  exit_code_ = 0;
  gathered_ = {};  // of a step that an error has ended
  if (!begun_ && options_.resume) {
    const bool found = std::filesystem::exists(options_.folder / "checkpoint.safetensors");
    if (found) load(load_batches);
    if (options_.terminal.out) {
      *options_.terminal.out << (found ? str("going on after step ", step_, ", in epoch ", epochs_ + 1)
                                       : str("no checkpoint in ", options_.folder.string(), ": starting anew"))
                             << "\n";
    }
  }
  begun_ = true;
  since_ = std::chrono::steady_clock::now();
}

bool Trainer::finished() const {
  if (stopped_ || (options_.steps > 0 ? at_last_step() : epochs_ >= options_.epochs)) return true;
  if (options_.patience == 0 || history_.empty()) return false;
  return &history_.back() - &best() >= options_.patience;
}

// One bar for the whole training, which begins anew after output of on_epoch.
void Trainer::show(std::optional<ProgressBar>& bar, std::int64_t batches) const {
  if (options_.terminal.out == nullptr || !options_.terminal.redraws) return;
  const std::int64_t each = (batches + options_.accumulate - 1) / options_.accumulate;
  const std::int64_t all = options_.steps > 0 ? options_.steps : options_.epochs * each;
  if (!bar) {
    bar.emplace(ProgressOptions{.total = all, .title = "training", .start = step_ - 1, .terminal = options_.terminal});
  }
  NamedFields shown = fields();
  if (options_.steps == 0) shown.insert(shown.begin(), {"epoch", str(epochs_ + 1, "/", options_.epochs)});
  bar->update(step_, std::move(shown));
}

double Trainer::checked(double loss) const {
  if (!std::isfinite(loss)) fail<NumericError>(op, "the loss of step ", step_ + 1, " is ", loss);
  return loss;
}

void Trainer::refuse_options_of_fit() const {
  if (options_.accumulate > 1) fail<ValueError>(op, "accumulate is for fit(): a step of your own adds up itself");
  if (options_.max_norm > 0) fail<ValueError>(op, "max_norm is for fit(): a step of your own clips itself");
}

NamedFields Trainer::fields() const {
  NamedFields all{{"loss", fixed(mean_loss(), 4)}};
  if (history_.empty()) return all;
  for (const auto& [name, value] : history_.back().scores.values) all.emplace_back(name, fixed(value, 4));
  return all;
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
  const std::int64_t number = step_ * options_.accumulate + gathered_.batches++;
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

// Makes a step of the gathered batches, and returns their loss; nothing of batches without weight.
std::optional<double> Trainer::step() {
  auto [loss, weight, gradients] = static_cast<LossGradients>(std::exchange(gathered_, {}));
  if (weight == 0) return std::nullopt;
  if (options_.max_norm > 0) {
    gradients = optim::clip_grad_norm(std::move(gradients), parameters_, options_.max_norm).gradients;
  }
  lr_ = optimizer_.lr();
  optimizer_.step(gradients);
  return stepped(loss);
}

// The bookkeeping after an update by this loss.
double Trainer::stepped(double loss) {
  if (scheduler_) scheduler_->step();
  if (average_) average_->update();
  ++step_;
  sum_ += loss;
  ++summed_;
  return loss;
}

void Trainer::report(std::optional<ProgressBar>& bar) {
  EpochReport report{.epoch = epochs_ + 1, .step = step_, .loss = mean_loss(), .lr = lr_};
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
  if (!history_.empty() && columns_of(report) != columns_of(history_.front())) {
    fail<ValueError>(op, "validate must measure the same scores after each epoch: ", columns_of(history_.front()),
                     ", now ", columns_of(report));
  }
  report.best = history_.empty() || is_better(report, best());
  if (report.best) best_state_ = module_.state_dict();
  averaged.reset();
  history_.push_back(report);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - since_;
  const bool last = options_.steps > 0 ? at_last_step() : report.epoch == options_.epochs;
  const bool due = history_.size() == 1 || last || spent.count() >= 1;
  if (options_.terminal.out && !options_.terminal.redraws && due) {
    std::string line = options_.steps > 0 ? "" : str("epoch ", report.epoch, "/", options_.epochs);
    if (options_.steps > 0 || options_.validate_every > 0) line += str(line.empty() ? "" : "  ", "step ", step_);
    for (const auto& [name, value] : fields()) line += str("  ", name, " ", value.text());
    *options_.terminal.out << line + "  " + duration(spent.count()) + "\n" << std::flush;
    since_ = std::chrono::steady_clock::now();
  }
  sum_ = 0;
  summed_ = 0;
  if (!options_.folder.empty()) write_rows(history_.size() - 1);
  if (options_.on_epoch) {
    bar.reset();
    options_.on_epoch(report);
  }
}

void Trainer::end_epoch(std::optional<ProgressBar>& bar) {
  if (options_.validate_every == 0 || (options_.steps == 0 && epochs_ + 1 == options_.epochs && summed_ > 0)) {
    report(bar);
  }
  ++epochs_;
}

bool Trainer::is_better(const EpochReport& a, const EpochReport& b) const {
  if (a.scores.values.empty()) return a.loss < b.loss;
  const double x = a.scores.values.front().second, y = b.scores.values.front().second;
  return options_.goal == Goal::least ? x < y : x > y;
}

const EpochReport& Trainer::best() const {
  for (auto report = history_.rbegin(); report != history_.rend(); ++report) {
    if (report->best) return *report;
  }
  fail<ValueError>(op, "no epoch is done yet");
}

void Trainer::restore_best() const {
  best();
  module_.load_state_dict(best_state_);
}

// Writes the reports from this one on to log.csv, behind as many rows.
void Trainer::write_rows(std::size_t first) const {
  const std::filesystem::path path = options_.folder / "log.csv";
  const std::vector<std::string> columns = columns_of(history_.front());
  CsvLogger log = first == 0 ? CsvLogger(path, columns) : CsvLogger::resume(path, columns, first);
  for (std::size_t i = first; i < history_.size(); ++i) {
    const EpochReport& report = history_[i];
    std::vector<Field> row{report.epoch, report.step, report.loss, report.lr};
    for (const auto& [name, value] : report.scores.values) row.emplace_back(value);
    log.row(row);
  }
}

// The curves of the measurements. Those that fall by orders of magnitude are logarithmic.
std::string Trainer::curves() const {
  std::vector<std::vector<double>> columns(1 + history_.front().scores.values.size());
  std::vector<double> steps;
  for (const EpochReport& report : history_) {
    steps.push_back(static_cast<double>(options_.validate_every > 0 ? report.step : report.epoch));
    columns[0].push_back(report.loss);
    for (std::size_t i = 1; i < columns.size(); ++i) columns[i].push_back(report.scores.values[i - 1].second);
  }
  const Series::Style style = steps.size() < 30 ? Series::Style::marked : Series::Style::line;
  std::vector<PlotPanel> panels;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto [least, most] = std::ranges::minmax(columns[i]);
    panels.push_back({.series = {{.x = steps, .y = columns[i], .style = style}},
                      .title = i == 0 ? "training loss" : history_.front().scores.values[i - 1].first,
                      .x_label = options_.validate_every > 0 ? "step" : "epoch",
                      .y_scale = least > 0 && most > 10 * least ? Scale::log : Scale::linear});
  }
  return panel_plot(panels);
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

void Trainer::throw_if_interrupted() const {
  if (exit_code_ == 0) return;
  std::string text = str("stopped after step ", step_);
  if (!options_.folder.empty()) text += str(", to be resumed from ", options_.folder.string());
  throw Interrupted(text, exit_code_);
}

void Trainer::save(const StateFile& batches, bool at_once) {
  const auto now = std::chrono::steady_clock::now();
  if (options_.folder.empty()) return;
  if (!at_once && now - saved_ < std::chrono::seconds(1)) return;
  saved_ = now;
  if (!history_.empty()) {
    save_text(options_.folder / "curves.svg", curves());
    save_safetensors((options_.folder / "best.safetensors").string(), {.arrays = best_state_});
  }
  std::vector<double> history;
  std::vector<std::int64_t> epochs;
  for (const EpochReport& report : history_) {
    epochs.push_back(report.epoch);
    history.insert(history.end(), {static_cast<double>(report.step), report.loss, report.lr, double(report.best)});
    for (const auto& [name, value] : report.scores.values) history.push_back(value);
  }
  StateFile file{.metadata = {{"step", str(step_)},
                              {"sum", str(sum_)},
                              {"summed", str(summed_)},
                              {"lr", str(lr_)},
                              {"random.seed", str(random_state().seed)},
                              {"random.draws", str(random_state().draws)},
                              {"epoch", str(epochs_)},
                              {"epochs", text_of(epochs)},
                              {"history", text_of(history)},
                              {"scores", history_.empty() ? "0" : str(history_.front().scores.values.size())}}};
  for (std::size_t i = 0; !history_.empty() && i < history_.front().scores.values.size(); ++i) {
    file.metadata[str("score ", i)] = history_.front().scores.values[i].first;
  }
  file.add("model", {.arrays = module_.state_dict()});
  file.add("best", {.arrays = best_state_});
  file.add("optimizer", optimizer_.state_dict());
  file.add("batches", batches);
  file.add("settings", {.metadata = attributes()});
  if (scheduler_) file.add("schedule", scheduler_->state_dict());
  if (average_) file.add("average", average_->state_dict());
  save_safetensors((options_.folder / "checkpoint.safetensors").string(), file);
}

void Trainer::load(const std::function<void(const StateFile&)>& load_batches) {
  const std::string path = (options_.folder / "checkpoint.safetensors").string();
  const StateFile file = load_safetensors(path);
  const Metadata found = file.part("settings").metadata, expected = attributes();
  Metadata all = found;
  all.insert(expected.begin(), expected.end());
  std::string differences;
  const auto in = [](const Metadata& of, const std::string& name) {
    return of.contains(name) ? of.find(name)->second : "nothing";
  };
  for (const auto& [name, value] : all) {
    const std::string was = in(found, name), is = in(expected, name);
    if (was != is) append(differences, str(differences.empty() ? "" : "; ", name, ": found ", was, ", expected ", is));
  }
  if (!differences.empty()) fail<FormatError>(op, path, " is of another run: ", differences);
  const auto step = number_of<std::int64_t>(file, "step"), summed = number_of<std::int64_t>(file, "summed");
  const auto sum = number_of<double>(file, "sum"), lr = number_of<double>(file, "lr");
  const RandomState random{.seed = number_of<std::uint64_t>(file, "random.seed"),
                           .draws = number_of<std::uint64_t>(file, "random.draws")};
  const auto scores = number_of<std::size_t>(file, "scores");
  const std::vector<double> numbers = numbers_of<double>(file, "history");
  if (step < 0 || summed < 0 || scores > numbers.size() || numbers.size() % (4 + scores) != 0) {
    fail<FormatError>(op, path, " counts steps and epochs as no trainer does");
  }
  // A trainer of version 0.1 made a report after each epoch.
  std::vector<std::int64_t> epochs(numbers.size() / (4 + scores));
  std::iota(epochs.begin(), epochs.end(), 1);
  std::int64_t done = std::ssize(epochs);
  if (file.metadata.contains("epochs")) {
    const std::size_t reports = epochs.size();
    epochs = numbers_of<std::int64_t>(file, "epochs");
    done = number_of<std::int64_t>(file, "epoch");
    if (epochs.size() != reports || done < 0) {
      fail<FormatError>(op, path, " counts steps and epochs as no trainer does");
    }
  }
  std::vector<EpochReport> history;
  for (const double* at = numbers.data(); at != numbers.data() + numbers.size(); at += 4 + scores) {
    history.push_back({.epoch = epochs[history.size()],
                       .step = static_cast<std::int64_t>(at[0]),
                       .loss = at[1],
                       .lr = at[2],
                       .best = at[3] != 0});
    for (std::size_t i = 0; i < scores; ++i) {
      history.back().scores.values.emplace_back(file.text(str("score ", i)), at[4 + i]);
    }
  }
  const NamedArrays best = file.part("best").arrays;
  if (!history.empty()) {
    if (!history.front().best) fail<FormatError>(op, path, " has no best report");
    CsvLogger::resume(options_.folder / "log.csv", columns_of(history.front()));  // refuses other scores
  }
  const NamedArrays module_before = module_.state_dict();
  const StateFile optimizer_before = optimizer_.state_dict();
  const StateFile schedule_before = scheduler_ ? scheduler_->state_dict() : StateFile();
  const StateFile average_before = average_ ? average_->state_dict() : StateFile();
  try {
    if (!history.empty()) module_.load_state_dict(best, {.source = path});  // as restore_best() will
    module_.load_state_dict(file.part("model").arrays, {.source = path});
    optimizer_.load_state_dict(file.part("optimizer"));
    if (scheduler_) {
      const double was = optimizer_.lr();
      scheduler_->load_state_dict(file.part("schedule"));
      const double is = optimizer_.lr();
      if (std::abs(is - was) > 1e-9 * was) {
        fail<FormatError>(op, path, " is of another run: .schedule: found the rate ", was, " for step ", step + 1,
                          ", expected ", is);
      }
    }
    if (average_) average_->load_state_dict(file.part("average"));
    load_batches(file.part("batches"));
  } catch (...) {
    module_.load_state_dict(module_before);
    optimizer_.load_state_dict(optimizer_before);
    if (scheduler_) scheduler_->load_state_dict(schedule_before);
    if (average_) average_->load_state_dict(average_before);
    throw;
  }
  set_random_state(random);
  best_state_ = best;
  history_ = std::move(history);
  epochs_ = done;
  step_ = step;
  summed_ = summed;
  sum_ = sum;
  lr_ = lr;
  if (!history_.empty()) write_rows(0);  // some may be missing, or there may be more
}

}  // namespace xgrad::kit
