// English to French: a transformer written in the library's own words learns to translate short sentences.
//
//   examples/quickstart [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER] [--resume] ...
//
// Read in this order: config.h, kit/corpus.h, model.h, training.h, report.h, and this file.
#include <chrono>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include <kit/cli.h>
#include <kit/corpus.h>
#include <kit/csv.h>
#include <kit/output.h>
#include <kit/progress.h>
#include <kit/signal.h>
#include <xgrad/xgrad.h>

#include "config.h"
#include "model.h"
#include "report.h"
#include "training.h"

namespace {

using namespace translate;

struct Arguments {
  Config config;
  kit::CommonOptions common;
};

void declare(CLI::App& app, Arguments& arguments) {
  Config& c = arguments.config;
  kit::add_common_options(app, arguments.common);
  kit::add_resume_option(app, arguments.common);
  kit::add_corpus_options(app, c.corpus);
  app.add_option("--epochs", c.epochs, "times that every pair is seen")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--batch", c.batch, "sentences per step")->check(CLI::PositiveNumber)->capture_default_str();
  const std::map<std::string, nn::CrossAttention> choices{{"last", nn::CrossAttention::last},
                                                          {"same-depth", nn::CrossAttention::same_depth},
                                                          {"all", nn::CrossAttention::all}};
  app.add_option("--cross-attention", c.cross_attention, "encoder layers that a decoder block attends to")
      ->transform(CLI::CheckedTransformer(choices));
  app.add_option("--lr", c.learning_rate, "learning rate")->check(CLI::PositiveNumber)->capture_default_str();
}

int run(const Arguments& arguments) {
  const Config& config = arguments.config;
  const std::filesystem::path out = kit::output_folder("translate", arguments.common.out);
  const std::filesystem::path checkpoint = out / "checkpoint.safetensors";
  if (arguments.common.threads > 0) xgrad::set_threads(arguments.common.threads);
  xgrad::manual_seed(arguments.common.seed);

  const kit::Corpus data(config.corpus);
  Translator model(config, data.source_vocab().size(), data.target_vocab().size());
  xavier_uniform(model);
  Trainer trainer(config, data, model, arguments.common.seed);
  std::cout << introduction(config, data, model);

  const bool resuming = arguments.common.resume && std::filesystem::exists(checkpoint);
  if (resuming) {
    trainer.load(checkpoint);
    std::cout << "going on after epoch " << trainer.epoch() << " of " << config.epochs << "\n";
  } else if (arguments.common.resume) {
    std::cout << "no checkpoint in " << out.string() << ": starting anew\n";
  }
  const std::vector<std::string> columns{"epoch", "loss", "tokens_per_second"};
  kit::CsvLogger log =
      resuming ? kit::CsvLogger::resume(out / "loss.csv", columns, static_cast<std::size_t>(trainer.epoch()))
               : kit::CsvLogger(out / "loss.csv", columns);

  kit::Interrupt interrupt;
  Summary summary;
  {
    kit::ProgressBar bar({.total = config.epochs, .title = "training", .start = trainer.epoch()});
    while (trainer.epoch() < config.epochs && !interrupt) {
      const auto begin = std::chrono::steady_clock::now();
      const Epoch epoch = trainer.run_epoch();
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      const double rate = static_cast<double>(epoch.tokens) / seconds.count();
      summary.tokens += epoch.tokens;
      summary.seconds += seconds.count();
      log.row({trainer.epoch(), epoch.loss, rate});
      bar.update(trainer.epoch(), {{"loss", kit::fixed(epoch.loss, 4)}, {"tok/s", kit::compact(rate)}});
    }
  }
  trainer.save(checkpoint);
  if (interrupt) {
    std::cout << "stopped after epoch " << trainer.epoch() << "; --resume goes on from " << checkpoint.string() << "\n";
    return interrupt.exit_code();
  }
  summary.loss = trainer.loss();
  report(config, data, model, out, summary);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("English to French: trains a small transformer and shows what it learnt.");
  Arguments arguments;
  declare(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "translate: " << error.what() << "\n";
    return 1;
  }
}
