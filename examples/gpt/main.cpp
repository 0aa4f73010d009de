// A GPT learns to write: each character of a text from those before it.
//
//   examples/run gpt [--data FILE] [--steps N] [--prompt TEXT] [--resume] [--seed N] [--out FOLDER] ...
//   examples/run gpt --weights FOLDER --prompt TEXT           the published GPT-2 in the folder goes on writing
//
// Read this file from top to bottom. The model, nn::Gpt, is in nn/models/gpt.h.
#include <bit>
#include <chrono>
#include <iostream>

#include <CLI/CLI.hpp>

#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/signal.h>
#include <xgrad/kit/text/published_tokenizer.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

// -- settings ---------------------------------------------------------------------------------------------------------

struct Config {
  std::string data = XGRAD_EXAMPLES_DIR "/data/pride_and_prejudice.txt";
  double held_out = 0.1;  // of the text, its end

  // model
  std::int64_t context = 64;  // T
  std::int64_t dim = 128;     // C
  std::int64_t heads = 4;     // H
  std::int64_t layers = 4;
  double dropout = 0;

  // training
  std::int64_t steps = 2000;
  std::int64_t batch = 12;  // B
  std::int64_t warmup = 100;
  double learning_rate = 1e-3, least_rate = 1e-4;
  double clip = 1;                  // the norm of all gradients together is at most this
  std::int64_t report_every = 250;  // steps; then the held-out loss, a sample and a checkpoint

  // writing
  std::string weights;  // the folder of a published GPT-2
  std::string prompt = "\n";
  std::int64_t length = 200;  // tokens
  double temperature = 0.8;
  std::int64_t top_k = 50;
  bool resume = false;
};

// -- data -------------------------------------------------------------------------------------------------------------

struct Text {
  kit::CharacterTokenizer tokenizer;
  std::uint64_t fingerprint;
  Index train, held_out;  // ids one after the other

  Text(const Config& config, const std::string& text) : tokenizer(text), fingerprint(kit::fingerprint(text)) {
    const Index ids = tokenizer.encode(text);
    const auto count = static_cast<std::int64_t>((1 - config.held_out) * static_cast<double>(ids.size()));
    train = ids[{slice(0, count)}];
    held_out = ids[{slice(count, ids.size())}];
    if (held_out.size() <= config.context) {
      fail<ValueError>("gpt", config.data, " has ", ids.size(), " characters, which leaves ", held_out.size(),
                       " to be held out; more than ", config.context, " are needed");
    }
  }
};

// Windows of T characters, and for each of these the one behind it: both (B, T).
struct Batch {
  Index ids, next;
};
Batch windows(const Index& text, const Index& starts, std::int64_t T) {
  Batch batch{Index(Shape{starts.size(), T}), Index(Shape{starts.size(), T})};
  std::int64_t *ids = batch.ids.mutable_data(), *next = batch.next.mutable_data();
  for (const std::int64_t start : starts) {
    ids = std::copy_n(text.data() + start, T, ids);
    next = std::copy_n(text.data() + start + 1, T, next);
  }
  return batch;
}

// -- training ---------------------------------------------------------------------------------------------------------

Tensor loss_of(const nn::Gpt& model, const Batch& batch) { return cross_entropy(model(batch.ids), batch.next); }

// The mean over all windows of the text that do not overlap.
double mean_loss(const nn::Gpt& model, const Index& text, std::int64_t T) {
  const NoGrad off;
  const nn::Eval eval(model);
  const Index starts = arange(0, text.size() - T, T);
  double sum = 0;
  for (std::int64_t first = 0; first < starts.size(); first += 64) {
    const Index some = starts[{slice(first, std::min(first + 64, starts.size()))}];
    sum += static_cast<double>(loss_of(model, windows(text, some, T)).item()) * static_cast<double>(some.size());
  }
  return sum / static_cast<double>(starts.size());
}

std::string write(const nn::LanguageModel& model, const kit::Tokenizer& tokenizer, const Config& config,
                  std::uint64_t seed) {
  const nn::Eval eval(model);
  const Index prompt = tokenizer.encode(config.prompt);
  const nn::Decoded text = model.generate(
      prompt.reshaped({1, prompt.size()}),
      {.max_length = config.length, .temperature = config.temperature, .top_k = config.top_k, .seed = seed});
  return config.prompt + tokenizer.decode(text.tokens.reshaped({text.tokens.size()}));
}

// How far the training is.
struct Progress {
  std::int64_t step = 0;
  double sum = 0;  // of the losses since the last report
  std::int64_t summed = 0;
};

// Everything that the steps to come depend on, and what tells whether it fits.
class Checkpoint {
 public:
  Checkpoint(const Config& c, const Text& text, const nn::Gpt& model, optim::Optimizer& adam)
      : model_(model), adam_(adam) {
    settings_ = cat("context ", c.context, ", width ", c.dim, ", heads ", c.heads, ", layers ", c.layers, ", dropout ",
                    c.dropout, ", batch ", c.batch, ", steps ", c.steps, ", text ", text.fingerprint);
  }

  void save(const std::filesystem::path& path, const Progress& at) const {
    StateFile file{.metadata = {{"settings", settings_}}};
    file.add("model", {.arrays = model_.state_dict()});
    file.add("optimizer", adam_.state_dict());
    const auto [seed, draws] = random_state();
    file.arrays["position"] = Index({5}, {at.step, static_cast<std::int64_t>(seed), static_cast<std::int64_t>(draws),
                                          std::bit_cast<std::int64_t>(at.sum), at.summed});
    save_safetensors(path.string(), file);
  }
  Progress load(const std::filesystem::path& path) const {
    const StateFile file = load_safetensors(path.string(), {.checksum = Checksum::required});
    if (file.text("settings") != settings_) {
      fail<FormatError>("checkpoint", path.string(), " is of another run: ", file.text("settings"), "; expected ",
                        settings_);
    }
    const Index& position = file.get<Index>("position");
    if (position.shape() != Shape{5} || position.at({0}) < 0) {
      fail<FormatError>("checkpoint", path.string(), ": no position in the training but ", position);
    }
    adam_.load_state_dict(file.part("optimizer"));
    model_.load_state_dict(file.part("model").arrays, {.source = path.string()});
    set_random_state(
        {.seed = static_cast<std::uint64_t>(position.at({1})), .draws = static_cast<std::uint64_t>(position.at({2}))});
    return {position.at({0}), std::bit_cast<double>(position.at({3})), position.at({4})};
  }

 private:
  std::string settings_;
  const nn::Gpt& model_;
  optim::Optimizer& adam_;
};

// The losses that were reported, in a file that is written line by line and in a picture.
class Report {
 public:
  // Goes on behind what was reported up to a step, or begins anew.
  Report(const std::filesystem::path& folder, std::int64_t step)
      : folder_(folder),
        log_(step == 0 ? kit::CsvLogger(folder / "loss.csv", columns_)
                       : kit::CsvLogger::resume(folder / "loss.csv", columns_)) {
    const auto before = kit::read_csv(log_.path(), columns_);
    for (std::size_t i = 0; i < before[0].size() && before[0][i] <= static_cast<double>(step); ++i) {
      add(before[0][i], before[1][i], before[2][i]);
    }
    log_ = kit::CsvLogger::resume(log_.path(), columns_, trained_.x.size());
  }

  void row(std::int64_t step, double trained, double held_out) {
    log_.row({step, trained, held_out});
    add(static_cast<double>(step), trained, held_out);
  }
  void draw() const {
    kit::save_text(folder_ / "loss.svg",
                   kit::line_plot({trained_, held_out_},
                                  {.title = "Characters from those before", .x_label = "step", .y_label = "loss"}));
  }

 private:
  void add(double step, double trained, double held_out) {
    trained_.x.push_back(step);
    trained_.y.push_back(trained);
    held_out_.x.push_back(step);
    held_out_.y.push_back(held_out);
  }

  std::filesystem::path folder_;
  std::vector<std::string> columns_{"step", "loss", "held_out_loss"};
  kit::CsvLogger log_;
  kit::Series trained_{.name = "training"}, held_out_{.name = "held out"};
};

void train(const Config& config, kit::Example& example) {
  const Text text(config, kit::load_text(config.data));
  const nn::Gpt model{nn::root,
                      {.vocabulary = text.tokenizer.size(),
                       .context = config.context,
                       .dim = config.dim,
                       .heads = config.heads,
                       .layers = config.layers,
                       .dropout = config.dropout}};
  std::cout << text.train.size() << " characters to train on, " << text.held_out.size() << " held out, "
            << text.tokenizer.size() << " different ones\n"
            << model << "before training:\n"
            << write(model, text.tokenizer, config, example.seed) << "\n";

  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
      model.parameters(), {{nn::without_weight_decay(model), {.betas = {0.9, 0.99}, .weight_decay = 0}}},
      {.betas = {0.9, 0.99}, .weight_decay = 0.1})};
  const Tensors parameters = adam.parameters();
  const optim::Schedule schedule = optim::schedule::warmup(
      config.warmup, optim::schedule::cosine({.min_lr = config.least_rate,
                                              .steps = std::max<std::int64_t>(config.steps - config.warmup, 1)}));

  const std::filesystem::path saved = example.out / "checkpoint.safetensors";
  const Checkpoint checkpoint(config, text, model, adam);
  const bool resuming = config.resume && std::filesystem::exists(saved);
  Progress at = resuming ? checkpoint.load(saved) : Progress{};
  auto& [step, sum, summed] = at;
  if (resuming) std::cout << "going on after step " << step << "\n";
  checkpoint.save(saved, at);  // now rather than after minutes: whatever is in its way is found before the training
  Report report(example.out, step);
  kit::Interrupt interrupt;
  double seconds = 0;
  while (step < config.steps && !interrupt) {
    kit::ProgressBar bar({.total = config.steps, .title = "training", .start = step});
    do {
      const auto begin = std::chrono::steady_clock::now();
      const Index starts = randint(0, text.train.size() - config.context, {config.batch});
      const Tensor loss = loss_of(model, windows(text.train, starts, config.context));
      adam.set_lr(schedule.lr(step, config.learning_rate));
      adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, config.clip).gradients);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      sum += loss.item();
      bar.update(++step, {{"loss", kit::fixed(sum / static_cast<double>(++summed), 3)}});
    } while (step < config.steps && step % config.report_every != 0 && !interrupt);
    bar.finish();
    if (step == config.steps || step % config.report_every == 0) {
      const double trained = std::exchange(sum, 0) / static_cast<double>(std::exchange(summed, 0));
      const double held_out = mean_loss(model, text.held_out, config.context);
      report.row(step, trained, held_out);
      std::cout << "\nstep " << step << ": loss " << kit::fixed(trained, 3) << ", held out " << kit::fixed(held_out, 3)
                << "\n"
                << write(model, text.tokenizer, config, example.seed) << "\n";
    }
    checkpoint.save(saved, at);  // behind the report: what is resumed lacks no row, and drops those of steps done anew
  }
  if (interrupt) {
    std::cout << "stopped after step " << step << "; --resume goes on\n";
    example.status = interrupt.exit_code();
    return;
  }
  report.draw();
  example.result.add("steps", step).add("seconds", seconds);
  example.result.add("validation_loss", mean_loss(model, text.held_out, config.context));
}

void write_on(const Config& config, const kit::Example& example) {
  const nn::Gpt model{nn::root, nn::gpt2_options(config.weights)};
  nn::load_gpt2(model, config.weights);
  std::cout << write(model, kit::load_tokenizer(config.weights), config, example.seed) << "\n";
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("A GPT that learns to write, character by character, or writes with published weights.", "gpt");
  Config c;
  app.add_option("--data", c.data, "text file, UTF-8, plain or gzip");
  app.add_option("--weights", c.weights, "folder of a published GPT-2, which writes instead of being trained");
  app.add_option("--prompt", c.prompt, "what samples begin with");
  kit::add_number(app, "--steps", c.steps, "training steps", 1, 1'000'000'000);
  kit::add_number(app, "--batch", c.batch, "windows per step", 1, 100'000);
  kit::add_number(app, "--context", c.context, "characters of a window", 1, 100'000);
  kit::add_number(app, "--dim", c.dim, "width of the model", 1, 100'000);
  kit::add_number(app, "--heads", c.heads, "heads of attention", 1, 1000);
  kit::add_number(app, "--layers", c.layers, "blocks", 1, 1000);
  kit::add_number(app, "--dropout", c.dropout, "probability of dropout", 0, 1);
  kit::add_number(app, "--lr", c.learning_rate, "largest learning rate", 1e-9, 1000);
  kit::add_number(app, "--report-every", c.report_every, "steps from one report to the next", 1, 1'000'000'000);
  kit::add_number(app, "--length", c.length, "tokens of a sample", 1, 1'000'000);
  kit::add_number(app, "--temperature", c.temperature, "below 1 samples are more probable", 0.01, 100);
  kit::add_number(app, "--top-k", c.top_k, "so many tokens are drawn from", 1, 1'000'000'000);
  app.add_flag("--resume", c.resume, "go on from the checkpoint in the folder");
  return kit::run_example(app, argc, argv,
                          [&](kit::Example& example) { c.weights.empty() ? train(c, example) : write_on(c, example); });
} catch (...) {
  return kit::report_error();
}
