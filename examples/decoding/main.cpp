// Ways to write: greedy, exhaustive and beam search, and sampling. First on the book's table of probabilities, then
// with a transformer that has learnt to translate.
//
//   decoding [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER] ...
//
// Read in this order: table.h, pictures.h, and this file.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/xgrad.h>

#include "pictures.h"
#include "table.h"

namespace {

using namespace decoding;
using namespace xgrad;

struct Config {
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  std::int64_t epochs = 60;
};

// -- the table --------------------------------------------------------------------------------------------------------

std::string letters_of(std::span<const std::int64_t> tokens) {
  std::string text;
  for (const std::int64_t token : tokens) text += str(letters[token], " ");
  return text;
}

void search_the_table(const std::filesystem::path& out) {
  std::cout << "the table\n";
  Table greedy_table;
  const nn::Decoded one = nn::greedy(greedy_table, {.bos = table_bos, .eos = table_eos, .max_length = 4});
  std::cout << "  greedy      " << letters_of(one.tokens) << " p = " << kit::fixed(std::exp(one.scores.item()), 3)
            << "\n";
  const auto print = [](const char* name, const nn::Hypothesis& best) {
    std::cout << "  " << std::left << std::setw(12) << name << std::right << letters_of(best.tokens)
              << (best.ended ? ". " : "") << " p = " << kit::fixed(std::exp(best.log_p), 3) << ", score "
              << kit::fixed(best.score, 3) << "\n";
  };
  Table all;
  print("exhaustive", nn::exhaustive_search(
                          all, {.bos = table_bos, .eos = table_eos, .max_length = 4, .length_penalty = 0.75})[0][0]);
  Table beam;
  const nn::Hypotheses found =
      nn::beam_search(beam, {.bos = table_bos, .eos = table_eos, .max_length = 4, .num_beams = 2, .num_best = 9})[0];
  print("beam of 2", found[0]);
  std::cout << "  rows given to the table: greedy " << greedy_table.rows() << ", beam of 2 " << beam.rows()
            << ", exhaustive " << all.rows() << "\n";
  kit::save(out / "beam.svg", beam_svg(beam.steps(), found));
}

// -- a transformer ----------------------------------------------------------------------------------------------------

/// Searches with more and more beams for translations of the held-out sentences.
void compare_beams(const kit::Corpus& corpus, const nn::EncoderDecoder& model, std::int64_t max_length) {
  const std::vector<kit::Tokens> asked = corpus.held_out_sources();
  const kit::CorpusBatch batch = corpus.sources(asked);
  kit::Table table({"beams", "alpha", "mean ln p", "mean length", "BLEU", "seconds"});
  for (const double alpha : {0.0, 0.75, 1.5}) {
    for (const std::int64_t beams : {1, 2, 4, 8}) {
      auto writing = model.start(batch.source, batch.source_lengths);
      const auto begin = std::chrono::steady_clock::now();
      const nn::Decoded best = nn::best_of(nn::beam_search(writing, {.bos = corpus.bos(),
                                                                     .eos = corpus.eos(),
                                                                     .max_length = max_length,
                                                                     .num_beams = beams,
                                                                     .length_penalty = alpha,
                                                                     .stopping = nn::Stopping::impossible}),
                                           corpus.eos());
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      double log_p = 0, length = 0;
      for (const double score : best.scores) log_p += score / asked.size();
      for (const double n : best.lengths) length += n / asked.size();
      const double bleu = kit::mean_bleu(corpus.sentences(best.tokens), corpus.held_out(), 2);
      table.row({beams, alpha, kit::fixed(log_p, 3), kit::fixed(length, 2), kit::fixed(bleu, 3),
                 kit::fixed(seconds.count(), 3)});
    }
  }
  std::cout << "beams on " << asked.size() << " held-out sentences\n" << table.text();
}

struct Setting {
  const char* name;
  nn::SamplingOptions options;
};
const std::vector<Setting> settings{{"temperature 1", {}},
                                    {"temperature 0.5", {.temperature = 0.5}},
                                    {"temperature 2", {.temperature = 2}},
                                    {"2, top_k 3", {.temperature = 2, .top_k = 3}},
                                    {"2, top_p 0.5", {.temperature = 2, .top_p = 0.5}}};

/// Draws translations of one sentence, and the probabilities from which their first word is drawn.
void sample_translations(const kit::Corpus& corpus, const nn::EncoderDecoder& model, const kit::Tokens& source,
                         std::int64_t max_length, const std::filesystem::path& path) {
  const kit::CorpusBatch batch = corpus.sources({source});
  std::cout << "samples of " << kit::joined(source) << "\n";
  for (const Setting& setting : settings) {
    auto writing = model.start(batch.source, batch.source_lengths);
    writing.select(Index({5}, 0));  // five of the same
    nn::SamplingOptions options = setting.options;
    options.bos = corpus.bos();
    options.eos = corpus.eos();
    options.max_length = max_length;
    options.seed = 1;
    std::cout << "  " << setting.name << "\n";
    for (const kit::Tokens& drawn : corpus.sentences(nn::sample(writing, options).tokens)) {
      std::cout << "    " << kit::joined(drawn) << "\n";
    }
  }

  auto writing = model.start(batch.source, batch.source_lengths);
  const NoGrad off;
  const Array logits = writing.step(Index({1}, corpus.bos())).value();  // (1, V)
  const Index likeliest = topk(logits, std::min<std::int64_t>(12, logits.dim(1))).indices;
  kit::HeatMaps maps{.title = str("Distribution of the first word of the translation: ", kit::joined(source)),
                     .panels = {{}},
                     .scale = kit::HeatScale::shares,
                     .query_caption = "",
                     .key_caption = "the twelve most probable words"};
  for (const std::int64_t id : likeliest) maps.keys.push_back(corpus.target_vocab().token(id));
  for (const Setting& setting : settings) {
    maps.queries.push_back(setting.name);
    const Array p = nn::sampling_probabilities(logits, setting.options);
    for (const std::int64_t id : likeliest) maps.panels[0].values.push_back(p.at({0, id}));
  }
  kit::save(path, kit::heat_map_svg(maps));
}

/// The best hypotheses for one sentence, and the attention of the first of them, step by step in its row then.
void show_hypotheses(const kit::Corpus& corpus, const nn::EncoderDecoder& model, kit::Tokens source,
                     std::int64_t max_length, const std::filesystem::path& path) {
  const kit::CorpusBatch batch = corpus.sources({source});
  nn::AttentionRecorder recorder;
  auto writing = model.start(batch.source, batch.source_lengths);
  const nn::Hypotheses found = nn::beam_search(
      writing, {.bos = corpus.bos(), .eos = corpus.eos(), .max_length = max_length, .num_beams = 4, .num_best = 4})[0];
  std::cout << "four beams on " << kit::joined(source) << "\n";
  for (const nn::Hypothesis& one : found) {
    std::cout << "  " << std::setw(8) << kit::fixed(one.score, 3) << "  " << kit::joined(corpus.words(one.tokens))
              << "   rows " << str(one.rows) << "\n";
  }
  kit::Tokens written = corpus.words(found[0].tokens);
  written.resize(found[0].rows.size(), "<eos>");
  source.push_back("<eos>");
  const Array weights = kit::attention_weights(recorder, ".cross_attn", {.rows = found[0].rows});
  kit::save(path, kit::attention_svg(weights[{_, _, _, slice(0, std::ssize(source))}],
                                     kit::cross_maps(written, source,
                                                     {.title = "Attention of the best of four beams to the source"})));
}

void run(const Config& config, const kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  search_the_table(example.out);

  const nn::EncoderDecoder model{nn::root,
                                 corpus.source_vocab().size(),
                                 corpus.target_vocab().size(),
                                 {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  kit::reset_to_xavier(model);
  optim::Adam adam{model.parameters(), {.lr = 0.005}};
  kit::DataLoader batches{corpus, {.batch_size = 64, .shuffle = true, .seed = example.seed}};
  kit::Trainer trainer{model, adam, {.epochs = config.epochs, .max_norm = 1}};
  trainer.fit(batches, [&](const kit::CorpusBatch& batch) { return kit::translation_loss(model, corpus, batch); });
  const nn::Eval eval(model);
  const std::int64_t max_length = config.corpus.steps;
  const kit::Tokens sentence = kit::words("they're very rich .");
  show_hypotheses(corpus, model, sentence, max_length, example.out / "attention.svg");
  sample_translations(corpus, model, sentence, max_length, example.out / "sampling.svg");
  if (!corpus.held_out().empty()) compare_beams(corpus, model, max_length);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
  };
  return kit::main<Config>(argc, argv, "decoding", "Greedy, exhaustive and beam search, and sampling.", options, run);
}
