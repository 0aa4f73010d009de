// Two models translate English to French: one writes word by word, each from those before it; the other writes all
// words at once. What does the second gain, and what does it lose?
//
//   examples/run non_autoregressive [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER] ...
//
// Read in this order: model.h, and this file.
#include <chrono>
#include <functional>
#include <iostream>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/xgrad.h>

#include "model.h"

namespace {

using namespace non_autoregressive;

struct Config {
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  nn::TransformerOptions model{.dim = 32, .ffn = 64, .heads = 4, .layers = 2};  // those of examples/translate
  std::int64_t epochs = 200;
};

/// Source sentences to translations, (B, S) (B) -> (B, L).
using Translate = std::function<Index(const Index& source, const Index& lengths)>;

/// The results of a model.
struct Result {
  kit::Series losses;                     // with the name of the model
  std::vector<kit::Tokens> guesses = {};  // for the sentences held out
  double bleu = 0;                        // of these
  double milliseconds = 0;                // for all of them in one batch
  double alone = 0;                       // for one sentence alone
};

double milliseconds_of(const Translate& translate, const kit::CorpusBatch& batch) {
  constexpr int times = 20;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) (void)translate(batch.source, batch.source_lengths);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / times;
}

/// Trains a model with this loss of a batch, the same way for both. The loss of each epoch:
template <class Loss>
std::vector<double> trained(const Config& config, const kit::Corpus& corpus, Seed seed, const nn::Module& model,
                            const Loss& loss) {
  kit::reset_to_xavier(model);
  optim::Adam adam{model.parameters(), {.lr = 0.005}};
  kit::DataLoader batches{corpus, {.batch_size = 64, .shuffle = true, .seed = seed}};
  kit::Trainer trainer{model, adam, {.epochs = config.epochs, .max_norm = 1}};
  std::vector<double> losses;
  for (const kit::Report& report : trainer.fit(batches, loss)) losses.push_back(report.loss);
  return losses;
}

Result judged(const char* name, const std::vector<double>& losses, const Translate& translate,
              const kit::Corpus& corpus) {
  Result result{.losses = {.name = name, .y = losses}};
  const std::vector<kit::Tokens> asked = corpus.held_out_sources();
  if (asked.empty()) return result;
  const kit::CorpusBatch batch = corpus.sources(asked);
  result.guesses = corpus.sentences(translate(batch.source, batch.source_lengths));
  result.bleu = kit::mean_bleu(result.guesses, corpus.held_out(), 2);
  result.milliseconds = milliseconds_of(translate, batch);
  result.alone = milliseconds_of(translate, corpus.sources({asked.front()}));
  return result;
}

// A step for every word: the decoder is shown the words before.
Result word_by_word(const Config& config, const kit::Corpus& corpus, Seed seed) {
  const nn::EncoderDecoder model{nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(), config.model};
  const auto losses = trained(config, corpus, seed, model, [&](const kit::CorpusBatch& batch) {
    return kit::translation_loss(model, corpus, batch);
  });
  const Translate translate = [&](const Index& source, const Index& lengths) {
    auto writing = model.start(source, lengths);
    return nn::greedy(writing, {.bos = corpus.bos(), .eos = corpus.eos(), .max_length = config.corpus.steps}).tokens;
  };
  return judged("word by word", losses, translate, corpus);
}

// The self-attention of the decoder: to positions before and after.
void draw_attention(const std::filesystem::path& path, const kit::Corpus& corpus, const ParallelTranslator& model) {
  const kit::CorpusBatch batch = corpus.sources({kit::words(kit::known_pairs.back().source)});
  nn::AttentionRecorder recorder;
  kit::Tokens written = corpus.sentences(model.translate(batch.source, batch.source_lengths)).front();
  written.resize(model.steps, "<eos>");
  const Array weights = kit::attention_weights(recorder, ".self_attn");  // (layers, H, T, T)
  kit::HeatMaps maps =
      kit::cross_maps(written, written, {.title = "Self-attention of a decoder that writes all words at once"});
  maps.key_caption = "key (the token that it predicts)";
  kit::save(path, kit::attention_svg(weights, maps));
}

// One step: every position says its word without knowing those of the others. Words after the first <eos> do not count.
Result all_at_once(const Config& config, const kit::Corpus& corpus, Seed seed, const std::filesystem::path& out) {
  const ParallelTranslator model{nn::root, corpus, config.corpus.steps, config.model};
  const auto losses = trained(config, corpus, seed, model, [&](const kit::CorpusBatch& batch) {
    return cross_entropy(model(batch.source, batch.source_lengths), batch.target, {.ignore_index = corpus.pad()});
  });
  draw_attention(out / "attention.svg", corpus, model);
  const Translate translate = [&](const Index& source, const Index& lengths) {
    return model.translate(source, lengths);
  };
  return judged("all at once", losses, translate, corpus);
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  std::cout << corpus.size() << " pairs, " << corpus.held_out().size() << " sentences held out\n";
  const Result one = word_by_word(config, corpus, example.seed);
  const Result all = all_at_once(config, corpus, example.seed, example.out);

  kit::Table table({"", "held-out BLEU", "ms for all", "ms for one alone"});
  for (const Result& r : {one, all}) {
    table.row({r.losses.name, kit::fixed(r.bleu, 3), kit::fixed(r.milliseconds, 2), kit::fixed(r.alone, 2)});
  }
  std::cout << "\n" << table.text();
  for (std::size_t i = 0; i < std::min<std::size_t>(4, one.guesses.size()); ++i) {
    const kit::Question& question = corpus.held_out()[i];
    std::cout << "\n" << kit::joined(question.source) << "  (" << kit::joined(question.answers.front()) << ")\n";
    for (const Result& r : {one, all}) std::cout << "  " << r.losses.name << ": " << kit::joined(r.guesses[i]) << "\n";
  }
  kit::save(example.out / "loss.svg",
            kit::line_plot({one.losses, all.losses}, {.title = "Word by word and all at once",
                                                      .x_label = "epoch",
                                                      .y_label = "loss per target token (nats)",
                                                      .y_scale = kit::Scale::log}));
  example.result.add("bleu_word_by_word", kit::fixed(one.bleu, 3)).add("bleu_all_at_once", kit::fixed(all.bleu, 3));
  if (all.milliseconds > 0) example.result.add("times_faster", kit::fixed(one.milliseconds / all.milliseconds, 2));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
  };
  return kit::main<Config>(argc, argv, "non_autoregressive", "English to French, word by word and all words at once.",
                           options, run);
}
