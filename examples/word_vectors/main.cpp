// Word vectors, learnt from words that occur near each other, and used as the embedding of a translation model.
//
//   word_vectors [--text FILE] [--steps N] [--dim D] [--words WORD ...] [--seed N] [--out FOLDER] ...
//
// Read in this order: text.h, model.h, and this file.
#include <iomanip>
#include <iostream>
#include <span>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/draw/vectors.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/xgrad.h>

#include "model.h"
#include "text.h"

namespace {

using namespace word_vectors;

/// The loss, as a mean over every 20 steps.
kit::Series train(const Config& config, const Text& text, const SkipGram& model, Seed seed) {
  std::mt19937_64 generator(seed);
  optim::Adam adam{model.parameters(), {.lr = config.learning_rate}};
  kit::Trainer trainer{
      model, adam, {.schedule = optim::schedule::cosine({.steps = config.steps}), .validate_every = 20}};
  trainer.fit(config.steps, [&] {
    const Batch batch = text.batch(generator);
    return model.loss(batch.centers, batch.others);
  });
  kit::Series curve{.name = "skip-gram"};
  for (const kit::Report& report : trainer.history()) {
    curve.x.push_back(report.step);
    curve.y.push_back(report.loss);
  }
  return curve;
}

void print_neighbours(const Config& config, const kit::Vocab& vocab, const Array& vectors) {
  std::vector<std::string> words = config.words;
  // Ranks apart by a third: frequent words, and some that are less so.
  for (std::int64_t rank = 4; words.size() < 10 && rank < vocab.size(); rank += 1 + rank / 3) {
    words.push_back(vocab.token(rank));
  }
  std::cout << "nearest neighbours\n";
  for (const std::string& word : words) {
    std::cout << "  " << std::left << std::setw(14) << word << std::right;
    if (vocab.id(word) == 0) {
      std::cout << "not in the text often enough\n";
      continue;
    }
    for (const kit::Neighbour& near : kit::nearest_rows(vectors, vocab.id(word), 5)) {
      std::cout << "  " << vocab.token(near.row) << " " << kit::fixed(near.cosine, 2);
    }
    std::cout << "\n";
  }
}

void draw(const Config& config, const kit::Vocab& vocab, const Array& vectors, const std::filesystem::path& path) {
  const std::int64_t count = std::min(config.shown, vocab.size() - 1);  // the most frequent, <unk> left out
  const auto words = std::span(vocab.tokens()).subspan(1, count);
  const Array axes = kit::principal_axes(vectors[{slice(1, 1 + count)}], 2);
  kit::save(path, kit::word_map_svg("Words by the first two principal axes of their vectors", words, axes));
}

/// The encoder's embedding table with the vectors of the words that have one: less their mean, which all words share,
/// and at the scale of the others.
Array with_vectors(const Array& table, const kit::Vocab& of_table, const kit::Vocab& of_vectors, const Array& vectors) {
  const Tensor centred = Tensor(vectors) - mean(Tensor(vectors), 0, {.keepdim = true});
  const Array scaled = (centred / sqrt(mean(square(centred)))).value();  // (V, d), deviation 1
  const std::int64_t d = vectors.dim(1);
  Array result = table;
  for (std::int64_t id = 0; id < of_table.size(); ++id) {
    const std::int64_t from = of_vectors.id(of_table.token(id));
    if (from > 0) std::copy_n(scaled.data() + from * d, d, result.mutable_data() + id * d);
  }
  return result;
}

enum class Embeddings { random, frozen, trained };

/// The translation example in short: only the encoder's embedding differs.
kit::Series translate(const Config& config, const kit::Corpus& corpus, const char* name, Embeddings embeddings,
                      const kit::Vocab& vocab, const Array& vectors, Seed seed) {
  manual_seed(seed);
  const nn::EncoderDecoder model{nn::root,
                                 corpus.source_vocab().size(),
                                 corpus.target_vocab().size(),
                                 {.dim = config.dim, .ffn = 2 * config.dim, .heads = 4, .layers = 2}};
  kit::reset_to_xavier(model);
  const Tensor& table = model.encoder.embedding.weight;
  if (embeddings != Embeddings::random) {
    table.assign(with_vectors(table.value(), corpus.source_vocab(), vocab, vectors));
  }
  if (embeddings == Embeddings::frozen) table.set_requires_grad(false);
  optim::Adam adam{model.parameters(), {.lr = config.translation_rate}};
  kit::DataLoader batches{corpus, {.batch_size = config.translation_batch, .shuffle = true, .seed = seed}};
  kit::Trainer trainer{model, adam, {.epochs = config.epochs, .max_norm = 1}};
  trainer.fit(batches, [&](const kit::CorpusBatch& batch) { return kit::translation_loss(model, corpus, batch); });
  kit::Series curve{.name = name};
  for (const kit::Report& report : trainer.history()) curve.y.push_back(report.loss);

  const nn::Eval eval(model);
  const double bleu = kit::mean_bleu(kit::translations(model, corpus, corpus.held_out_sources()), corpus.held_out(), 2);
  std::cout << "  " << std::left << std::setw(26) << name << std::right << "loss " << kit::fixed(curve.y.back(), 3)
            << "   held-out BLEU " << kit::fixed(bleu, 3) << "\n";
  return curve;
}

void run(const Config& config, kit::Example& example) {
  if (config.dim % 4 != 0) throw kit::OptionError("--dim", str(config.dim, " is no multiple of 4"));
  const std::filesystem::path& out = example.out;
  const Text text(config);
  const SkipGram model(text.vocab().size(), config.dim);
  std::cout << config.text.filename().string() << ": " << text.words() << " words in " << text.sentences()
            << " sentences, " << text.vocab().size() << " different ones; vectors of " << config.dim << " numbers\n";
  const kit::Series curve = train(config, text, model, example.seed);

  const kit::Vocab& vocab = text.vocab();
  const Array vectors = model.center.weight.value();
  save_safetensors((out / "vectors.safetensors").string(),
                   {.arrays = model.center.state_dict(), .metadata = {{"words", kit::joined(vocab.tokens())}}});
  print_neighbours(config, vocab, vectors);
  draw(config, vocab, vectors, out / "words.svg");
  kit::save(
      out / "loss.svg",
      kit::line_plot({curve}, {.title = "Skip-gram with negative sampling", .x_label = "step", .y_label = "loss"}));

  const kit::Corpus corpus(config.corpus);
  std::cout << "translation after " << config.epochs << " epochs\n";
  std::vector<kit::Series> curves;
  for (const auto& [name, embeddings] : {std::pair{"random embedding", Embeddings::random},
                                         {"word vectors, frozen", Embeddings::frozen},
                                         {"word vectors, trained on", Embeddings::trained}}) {
    curves.push_back(translate(config, corpus, name, embeddings, vocab, vectors, example.seed));
  }
  kit::save(out / "translation.svg", kit::line_plot(curves, {.title = "Translation with word vectors",
                                                             .x_label = "epoch",
                                                             .y_label = "loss per target token (nats)",
                                                             .y_scale = kit::Scale::log}));
  example.result.add("loss", kit::fixed(curve.y.back(), 3));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--text", c.text, "a text, one sentence per line");
    o.integer("--min-freq", c.min_freq, "rarer words are left out", 1, 1'000'000);
    o.integer("--window", c.window, "how far away a neighbour may be", 1, 1000);
    o.real("--subsample", c.subsample, "frequency above which words are passed over", 1e-6, 1);
    o.integer("--dim", c.dim, "numbers of a vector, a multiple of 4 for the heads of the translation model", 4, 10'000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000);
    o.texts("--words", c.words, "words to print the neighbours of");
  };
  return kit::main<Config>(argc, argv, "word_vectors", "Vectors of words by skip-gram with negative sampling.", options,
                           run);
}
