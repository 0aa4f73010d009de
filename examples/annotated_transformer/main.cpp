// The transformer of docs/learn/annotated_transformer.md: written from primitive operations, trained on sentences in English
// and French, and drawn. The options are those of examples/translate, which uses the library's model.
//
//   examples/run annotated_transformer [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER]
//
// Read the page, or model.h, training.h, and then this file. pictures.h draws the figures of the page.
#include <chrono>
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>

#include "pictures.h"
#include "training.h"

namespace {

using namespace annotated;

struct Config {
  // The first 600 pairs of the file, 10 tokens each; words seen once are unknown.
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  Training training;
};

std::vector<kit::Tokens> translated(const Transformer& model, const kit::Corpus& data,
                                    const std::vector<kit::Tokens>& sentences) {
  if (sentences.empty()) return {};
  const kit::CorpusBatch batch = data.sources(sentences);
  return data.sentences(model.translate(batch.source, batch.source_lengths, data.bos(), batch.source.dim(1)));
}

/// Translates four training sentences and the held-out sentences, and prints their BLEU.
void report(const Transformer& model, const kit::Corpus& data, kit::ResultLine& result) {
  std::vector<kit::Tokens> sources;
  for (const kit::KnownPair& pair : kit::known_pairs) sources.push_back(kit::words(pair.source));
  const std::vector<kit::Tokens> learnt = translated(model, data, sources);
  for (std::size_t i = 0; i < learnt.size(); ++i) {
    const std::string score = kit::fixed(kit::bleu(learnt[i], kit::words(kit::known_pairs[i].target), 2), 3);
    std::cout << kit::joined(sources[i]) << " => " << kit::joined(learnt[i]) << "   BLEU " << score << "\n";
    result.add(str("bleu", i + 1), score);
  }
  const std::vector<kit::Tokens> guessed = translated(model, data, data.held_out_sources());
  const std::string score = kit::fixed(kit::mean_bleu(guessed, data.held_out(), 2), 3);
  std::cout << "mean BLEU of " << guessed.size() << " held-out sentences: " << score << "\n";
  result.add("held_out_bleu", score);
}

void run(Config& config, kit::Example& example) {
  const kit::Corpus data(config.corpus);
  const Transformer model{nn::root,
                          {.source_words = data.source_vocab().size(), .target_words = data.target_vocab().size()}};
  std::cout << data.size() << " pairs, vocabularies of " << data.source_vocab().size() << " and "
            << data.target_vocab().size() << " words, " << model.num_parameters() << " parameters\n";

  config.training.seed = example.seed;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<double> losses;
  {
    kit::ProgressBar bar{{.total = config.training.epochs, .title = "training"}};
    config.training.on_epoch = [&](std::int64_t epoch, double loss) {
      bar.update(epoch, {{"loss", kit::fixed(loss, 4)}});
    };
    losses = train(model, data, config.training);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  example.result.add("loss", kit::fixed(losses.back(), 4));
  report(model, data, example.result);
  example.result.add("seconds", kit::fixed(seconds.count(), 1));

  nn::AttentionRecorder recorder;
  const kit::Tokens source = kit::words(kit::known_pairs.back().source);
  const kit::Tokens written = translated(model, data, {source}).front();
  draw_attention(example.out, recorder, source, written);
  draw_training(example.out, model, data, losses);
  manual_seed(1);
  draw_scores(example.out);
  draw_heads(example.out);
  draw_positions(example.out);
  draw_sublayers(example.out);
  draw_blocks(example.out);
  draw_model(example.out);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.training.epochs, "times that every pair is seen", 1, 1'000'000);
    o.integer("--batch", c.training.batch, "sentences per step", 1, 1'000'000);
    o.real("--lr", c.training.learning_rate, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "annotated_transformer",
                           "A transformer written from primitive operations: learns to translate, and draws its parts.",
                           options, run);
}
