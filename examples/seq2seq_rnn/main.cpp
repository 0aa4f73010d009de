// English to French with recurrent networks: three ways in which a decoder can see the source, and a transformer.
//
//   every_step     the encoder's last state is part of every input of the decoder            (Cho et al. 2014)
//   initial_state  the encoder's last state is the decoder's first; the source is reversed   (Sutskever et al. 2014)
//   attention      additive attention gives each word its own context                        (Bahdanau et al. 2015)
//
//   examples/run seq2seq_rnn [--data FILE] [--pairs N] [--epochs N] [--seeds N] [--out FOLDER] ...
//
// Read in this order: contest.h, and this file.
#include <array>
#include <functional>
#include <iomanip>
#include <iostream>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

#include "contest.h"

namespace {

using namespace seq2seq_rnn;

// ---- Alignment ------------------------------------------------------------------------------------------------------

/// The longest sentence among those that were translated best.
std::size_t shown_question(const kit::Corpus& corpus, const std::vector<kit::Tokens>& guesses) {
  const auto value = [&](std::size_t i) {
    const kit::Question& question = corpus.held_out()[i];
    return std::pair(kit::best_bleu(guesses[i], question.answers, bleu_order), question.source.size());
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < guesses.size(); ++i) {
    if (value(i) > value(best)) best = i;
  }
  return best;
}

/// The attention while the model translated a sentence, word by word.
void draw_alignment(const kit::Corpus& corpus, const nn::Seq2Seq& model, kit::Tokens source,
                    const std::filesystem::path& path) {
  nn::AttentionRecorder recorder;
  kit::Tokens target = kit::translations(model, corpus, {source}).front();
  const Array weights = kit::attention_weights(recorder, ".attention");  // (1, 1, T, S)
  source.push_back("<eos>");
  target.push_back("<eos>");
  const std::int64_t T = std::min<std::int64_t>(std::ssize(target), weights.dim(2)), S = std::ssize(source);
  target.resize(static_cast<std::size_t>(T));
  kit::save_text(path, kit::attention_svg(weights[{_, _, slice(0, T), slice(0, S)}],
                                          kit::cross_maps(target, source, {.title = "Attention of each French word"})));
}

// ---- All models -----------------------------------------------------------------------------------------------------

/// Trains contestant number i; of the one with attention, draws an alignment if there is a path for it.
Trial compete(const Config& config, const kit::Corpus& corpus, std::size_t i, Seed seed,
              const kit::EpochCallback& after_epoch, const std::filesystem::path& alignment) {
  manual_seed(seed);
  const std::int64_t source = corpus.source_vocab().size(), target = corpus.target_vocab().size();
  if (i == 3) {
    const nn::EncoderDecoder model{nn::root, source, target, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
    kit::reset_to_xavier(model);
    return train(config, corpus, model, seed, after_epoch);
  }
  const nn::Seq2Seq model(nn::root, source, target, recurrent_options(config, i));
  const Trial trial = train(config, corpus, model, seed, after_epoch);
  if (model.decoder.attention && !alignment.empty() && !trial.guesses.empty()) {
    const kit::Tokens source = corpus.held_out()[shown_question(corpus, trial.guesses)].source;
    draw_alignment(corpus, model, source, alignment);
  }
  return trial;
}

double mean(const std::vector<Trial>& trials, const std::function<double(const Trial&)>& value) {
  double sum = 0;
  for (const Trial& trial : trials) sum += value(trial);
  return sum / static_cast<double>(trials.size());
}

double last_loss(const Trial& trial) { return trial.losses.back(); }

void print_table(const std::array<std::vector<Trial>, 4>& all) {
  kit::Table table({"", "parameters", "seconds", "loss", "held-out BLEU", "of each seed"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string of_each_seed;
    for (const Trial& trial : all[i]) of_each_seed += (of_each_seed.empty() ? "" : " ") + kit::fixed(trial.bleu, 3);
    table.row({str(contestants[i].name, ", ", contestants[i].what), all[i].front().parameters,
               kit::fixed(mean(all[i], [](const Trial& t) { return t.seconds; }), 1),
               kit::fixed(mean(all[i], last_loss), 4),
               kit::fixed(mean(all[i], [](const Trial& t) { return t.bleu; }), 3), of_each_seed});
  }
  std::cout << "\n" << table.text();
}

void print_guesses(const kit::Corpus& corpus, const std::array<std::vector<Trial>, 4>& all) {
  std::cout << "\nnever seen\n";
  for (std::size_t q = 0; q < std::min<std::size_t>(4, corpus.held_out().size()); ++q) {
    const kit::Question& question = corpus.held_out()[q];
    std::cout << "  " << kit::joined(question.source) << "   (" << kit::joined(question.answers.front()) << ")\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::cout << "    " << std::left << std::setw(15) << contestants[i].name << kit::joined(all[i].front().guesses[q])
                << "\n";
    }
  }
}

void draw_losses(const std::array<std::vector<Trial>, 4>& all, const std::filesystem::path& path) {
  std::vector<kit::Series> curves;
  for (std::size_t i = 0; i < all.size(); ++i) {
    kit::Series& curve = curves.emplace_back(kit::Series{.name = contestants[i].name});
    for (std::size_t epoch = 0; epoch < all[i].front().losses.size(); ++epoch) {
      curve.y.push_back(mean(all[i], [=](const Trial& t) { return t.losses[epoch]; }));
    }
  }
  kit::save_text(path, kit::line_plot(curves, {.title = "Training loss, mean of all seeds",
                                               .x_label = "epoch",
                                               .y_label = "loss per target token",
                                               .y_scale = kit::Scale::log}));
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  std::cout << config.corpus.file.filename().string() << ": " << corpus.size() << " pairs, vocabularies of "
            << corpus.source_vocab().size() << " and " << corpus.target_vocab().size() << " words; "
            << corpus.held_out().size() << " sentences held out\n";

  std::array<std::vector<Trial>, 4> all;
  {
    kit::ProgressBar bar({.total = config.seeds * config.epochs * std::ssize(all), .title = "training"});
    std::int64_t done = 0;
    for (std::int64_t n = 0; n < config.seeds; ++n) {
      const Seed seed = example.seed + static_cast<std::uint64_t>(n);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto after_epoch = [&](const kit::EpochReport& epoch) {
          bar.update(++done, {{"model", contestants[i].name}, {"loss", kit::fixed(epoch.loss, 4)}});
        };
        const auto alignment = seed == example.seed ? example.out / "alignment.svg" : std::filesystem::path();
        all[i].push_back(compete(config, corpus, i, seed, after_epoch, alignment));
      }
    }
  }

  print_table(all);
  print_guesses(corpus, all);
  draw_losses(all, example.out / "loss.svg");
  for (std::size_t i = 0; i < all.size(); ++i) {
    example.result.add(str("loss_", contestants[i].name), kit::fixed(mean(all[i], last_loss), 4));
    example.result.add(str("bleu_", contestants[i].name),
                       kit::fixed(mean(all[i], [](const Trial& t) { return t.bleu; }), 3));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train every model so many times", 1, 1000);
    o.integer("--hidden", c.hidden, "width of the recurrent states", 1, 10'000);
    o.integer("--layers", c.layers, "of the recurrent encoder, and of the decoder", 1, 100);
    o.integer("--batch", c.batch, "sentences per step", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "seq2seq_rnn",
                           "English to French with recurrent networks, without and with attention, and a transformer.",
                           options, run);
}
