// English to French: the library's transformer, nn::EncoderDecoder, learns to translate short sentences.
//
//   examples/quickstart [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER] [--resume] ...
//
// Read in this order: config.h, this file, training.h, report.h. The model is in nn/models/transformer.h, and its
// attention in nn/attention/multi_head_attention.h.
#include <chrono>
#include <cmath>
#include <iostream>

#include <CLI/CLI.hpp>

#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/signal.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

#include "config.h"
#include "report.h"
#include "training.h"

namespace {

using namespace translate;

struct Arguments {
  Config config;
  bool resume = false;
  bool rate_given = false, seed_given = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  Config& c = arguments.config;
  kit::add_corpus_options(app, c.corpus);
  kit::add_number(app, "--epochs", c.epochs, "times that every pair is seen", 0, most_epochs);
  kit::add_number(app, "--batch", c.batch, "sentences per step", 1, 1'000'000);
  kit::add_number(app, "--lr", c.learning_rate, "learning rate", 1e-9, 1000);
  kit::add_number(app, "--checkpoint-every", c.checkpoint_every, "epochs from one checkpoint to the next", 1,
                  most_epochs);
  kit::add_choice(app, "--cross-attention", cross_attention_names, "encoder layers that a decoder block attends to",
                  [&c](std::size_t i) { c.cross_attention = static_cast<nn::CrossAttention>(i); });
  app.add_flag("--resume", arguments.resume, "go on from the checkpoint in the folder");
}

/// Takes up the checkpoint, and says what of the command line counts.
void go_on(const Arguments& arguments, std::uint64_t seed, Trainer& trainer, const std::filesystem::path& checkpoint) {
  const Config& config = arguments.config;
  trainer.load(checkpoint);
  std::cout << "going on after epoch " << trainer.epoch() << " of " << config.epochs << " with seed " << trainer.seed()
            << " and learning rate " << kit::number(trainer.learning_rate()) << "\n";
  if (arguments.seed_given && seed != trainer.seed()) {
    std::cout << "--seed " << seed << " is ignored: the checkpoint has its own\n";
  }
  if (arguments.rate_given && config.learning_rate != trainer.learning_rate()) {
    std::cout << "--lr " << kit::number(config.learning_rate) << " is the learning rate from here on\n";
    trainer.set_learning_rate(config.learning_rate);
  }
  if (trainer.epoch() > config.epochs) std::cout << "there is nothing left to train\n";
}

void run(const Arguments& arguments, kit::Example& example) {
  const Config& config = arguments.config;
  const kit::Corpus data(config.corpus);
  const nn::EncoderDecoder model{nn::root, data.source_vocab().size(), data.target_vocab().size(),
                                 transformer_options(config)};
  // The book's first weights: uniform in +-sqrt(6 / (in + out)) for every linear map (Glorot, Bengio 2010).
  model.apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
  Trainer trainer(config, data, model, example.seed);
  std::cout << introduction(config, data, model);

  const std::filesystem::path checkpoint = example.out / "checkpoint.safetensors", table = example.out / "loss.csv";
  const bool resuming = arguments.resume && std::filesystem::exists(checkpoint);
  if (resuming) {
    go_on(arguments, example.seed, trainer, checkpoint);
  } else if (arguments.resume) {
    std::cout << "no checkpoint in " << example.out.string() << ": starting anew\n";
  }
  trainer.save(checkpoint);  // now rather than after hours: whatever is in its way is found before the training
  kit::CsvLogger log = resuming ? kit::CsvLogger::resume(table, log_columns, static_cast<std::size_t>(trainer.epoch()))
                                : kit::CsvLogger(table, log_columns);

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
      if (trainer.epoch() % config.checkpoint_every == 0) trainer.save(checkpoint);
      bar.update(trainer.epoch(), {{"loss", kit::fixed(epoch.loss, 4)}, {"tok/s", kit::compact(rate)}});
    }
  }
  trainer.save(checkpoint);
  if (interrupt) {
    std::cout << "stopped after epoch " << trainer.epoch() << "; --resume goes on from " << checkpoint.string() << "\n";
    example.status = interrupt.exit_code();
    return;
  }
  summary.loss = trainer.epoch() > 0 ? trainer.loss() : std::nan("");
  report(config, data, model, summary, example);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("English to French: trains a small transformer and shows what it learnt.", "translate");
  Arguments arguments;
  declare(app, arguments);
  return kit::run_example(app, argc, argv, [&](kit::Example& example) {
    arguments.rate_given = app.count("--lr") > 0;
    arguments.seed_given = app.count("--seed") > 0;
    run(arguments, example);
  });
} catch (...) {
  return kit::report_error();
}
