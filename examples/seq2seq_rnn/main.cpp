// English to French with recurrent networks: four ways in which a decoder can see the source, and a transformer.
//
//   every_step     the encoder's last state is part of every input of the decoder            (Cho et al. 2014)
//   mean           the mean of the encoder's states is part of every input of the decoder
//   initial_state  the encoder's last state is the decoder's first; the source is reversed   (Sutskever et al. 2014)
//   attention      additive attention gives each word its own context                        (Bahdanau et al. 2015)
//
//   examples/run seq2seq_rnn [--data FILE] [--pairs N] [--epochs N] [--seeds N] [--out FOLDER] ...
//
// Read in this order: contest.h, and this file.
#include <algorithm>
#include <iomanip>
#include <iostream>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trials.h>
#include <xgrad/xgrad.h>

#include "contest.h"

namespace {

using namespace seq2seq_rnn;

// ---- Alignment ------------------------------------------------------------------------------------------------------

/// The longest sentence among those that were translated best.
std::size_t shown_question(const kit::Corpus& corpus, const std::vector<kit::Tokens>& guesses) {
  std::vector<std::pair<double, std::size_t>> values;  // BLEU, then words
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    const kit::Question& question = corpus.held_out()[i];
    values.emplace_back(kit::best_bleu(guesses[i], question.answers, bleu_order), question.source.size());
  }
  return std::ranges::max_element(values) - values.begin();
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
  target.resize(T);
  kit::save(path, kit::attention_svg(weights[{_, _, slice(0, T), slice(0, S)}],
                                     kit::cross_maps(target, source, {.title = "Attention of each French word"})));
}

// ---- All models -----------------------------------------------------------------------------------------------------

/// Trains contestant number i; of the one with attention, draws an alignment if there is a path for it.
Trial compete(const Config& config, const kit::Corpus& corpus, std::size_t i, Seed seed,
              const std::filesystem::path& alignment) {
  const std::int64_t source = corpus.source_vocab().size(), target = corpus.target_vocab().size();
  if (i == 4) {
    const nn::EncoderDecoder model{nn::root, source, target, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
    kit::reset_to_xavier(model);
    return train(config, corpus, model, seed);
  }
  const nn::Seq2Seq model(nn::root, source, target, recurrent_options(config, i));
  const Trial trial = train(config, corpus, model, seed);
  if (model.decoder.attention && !alignment.empty() && !trial.guesses.empty()) {
    const kit::Tokens source = corpus.held_out()[shown_question(corpus, trial.guesses)].source;
    draw_alignment(corpus, model, source, alignment);
  }
  return trial;
}

using Results = std::vector<kit::Trials<Trial>>;  // of the contestants

double last_loss(const Trial& trial) { return trial.losses.back(); }

void print_table(const Results& all) {
  kit::Table table({"", "parameters", "seconds", "loss", "held-out BLEU", "of each seed"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    table.row({str(contestants[i].name, ", ", contestants[i].what), all[i].results.front().parameters,
               kit::fixed(all[i].mean(&Trial::seconds), 1), kit::fixed(all[i].mean(last_loss), 4),
               kit::fixed(all[i].mean(&Trial::bleu), 3), all[i].each(&Trial::bleu)});
  }
  std::cout << "\n" << table.text();
}

void print_guesses(const kit::Corpus& corpus, const Results& all) {
  std::cout << "\nnever seen\n";
  for (std::size_t q = 0; q < std::min<std::size_t>(4, corpus.held_out().size()); ++q) {
    const kit::Question& question = corpus.held_out()[q];
    std::cout << "  " << kit::joined(question.source) << "   (" << kit::joined(question.answers.front()) << ")\n";
    for (const kit::Trials<Trial>& one : all) {
      std::cout << "    " << std::left << std::setw(15) << one.name << kit::joined(one.results.front().guesses[q])
                << "\n";
    }
  }
}

void draw_losses(const Results& all, const std::filesystem::path& path) {
  std::vector<kit::Series> curves;
  for (const kit::Trials<Trial>& one : all) curves.push_back(one.curve(&Trial::losses));
  kit::save(path, kit::line_plot(curves, {.title = "Training loss, mean of all seeds",
                                          .x_label = "epoch",
                                          .y_label = "loss per target token",
                                          .y_scale = kit::Scale::log}));
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  std::cout << config.corpus.file.filename().string() << ": " << corpus.size() << " pairs, vocabularies of "
            << corpus.source_vocab().size() << " and " << corpus.target_vocab().size() << " words; "
            << corpus.held_out().size() << " sentences held out\n";

  std::vector<std::string> names;
  for (const Contestant& contestant : contestants) names.push_back(contestant.name);
  const Results all = kit::trials(names, {example.seed, config.seeds}, [&](std::size_t i, Seed seed) {
    const auto alignment = seed == example.seed ? example.out / "alignment.svg" : std::filesystem::path();
    return compete(config, corpus, i, seed, alignment);
  });

  print_table(all);
  print_guesses(corpus, all);
  draw_losses(all, example.out / "loss.svg");
  for (const kit::Trials<Trial>& one : all) {
    example.result.add("loss_" + one.name, kit::fixed(one.mean(last_loss), 4));
    example.result.add("bleu_" + one.name, kit::fixed(one.mean(&Trial::bleu), 3));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train every model so many times", 1, 1000);
    o.integer("--hidden", c.recurrent.hidden, "width of the recurrent states", 1, 10'000);
    o.integer("--layers", c.recurrent.layers, "of the recurrent encoder, and of the decoder", 1, 100);
    o.integer("--batch", c.batch, "sentences per step", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "seq2seq_rnn",
                           "English to French with recurrent networks, without and with attention, and a transformer.",
                           options, run);
}
