// A translator at work: the words that its decoder reads are those that it wrote, one at a time; it goes on for ever
// unless it may write <eos>.
//
//   docs/tools/run own_words [--epochs N] [--out FOLDER] ...
#include <algorithm>
#include <iostream>
#include <numeric>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  std::int64_t epochs = 100;
  std::string sentence = "i'm home .";
};

constexpr std::int64_t longest = 8;

/// One step of a decoder: what it has read, and the most probable next words.
struct Step {
  kit::Tokens read;
  std::vector<std::pair<std::string, double>> best;
};

// Greedy decoding, step by step. Without an end, <eos> has no chance.
std::vector<Step> write(const nn::EncoderDecoder& model, const kit::Corpus& corpus, const kit::Tokens& source,
                        bool with_end) {
  const kit::CorpusBatch batch = corpus.sources({source});
  auto writing = model.start(batch.source, batch.source_lengths);
  std::vector<Step> steps;
  kit::Tokens read{"<bos>"};
  for (std::int64_t token = corpus.bos(); std::ssize(steps) < longest && token != corpus.eos();) {
    Array logits = writing.step(Index(Shape{1}, token)).value();
    if (!with_end) logits.mutable_data()[corpus.eos()] = -infinity;
    const Array p = softmax(logits, -1).value();
    std::vector<std::int64_t> ids(static_cast<std::size_t>(p.size()));
    std::iota(ids.begin(), ids.end(), 0);
    std::ranges::stable_sort(ids, std::greater(), [&](std::int64_t id) { return p.data()[id]; });
    Step& step = steps.emplace_back(Step{.read = read, .best = {}});
    for (std::size_t i = 0; i < 3; ++i) step.best.emplace_back(corpus.target_vocab().token(ids[i]), p.data()[ids[i]]);
    token = ids[0];
    read.push_back(step.best.front().first);
  }
  return steps;
}

// A line for each step: the words read, an arrow, and bars of the next word's probability.
std::string strip(const std::string& title, const std::vector<Step>& steps) {
  constexpr double line = 30, words = 400, bar = 90, margin = 20;
  kit::Svg svg(760, 60 + line * static_cast<double>(steps.size()) + margin, title);
  svg.heading(margin, 28, title, 16, 720);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double y = 70 + line * static_cast<double>(i);
    svg.text(words, y, kit::joined(steps[i].read), {{"text-anchor", "end"}, {"font-size", 14}});
    double x = words + 14;
    svg.text(x, y, "→", {{"font-size", 14}, {"fill", kit::quiet_ink}});
    x += 22;
    for (std::size_t k = 0; k < steps[i].best.size(); ++k, x += bar + 12) {
      const auto& [word, p] = steps[i].best[k];
      svg.rect(x, y - 15, bar * p, 20, {{"fill", kit::series_inks[k == 0 ? 0 : 4]}, {"fill-opacity", 0.35}},
               str(word, " ", kit::fixed(p, 3)));
      svg.text(x + 4, y, word,
               {{"font-size", 14}, {"font-weight", k == 0 ? "bold" : "normal"}});
    }
  }
  return svg.str();
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  manual_seed(example.seed);
  const nn::EncoderDecoder model{nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                                 {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  kit::reset_to_xavier(model);
  optim::Adam adam{model.parameters(), {.lr = 0.005}};
  kit::DataLoader batches{corpus, {.batch_size = 64, .shuffle = true, .seed = example.seed}};
  kit::Trainer trainer{model, adam, {.epochs = config.epochs, .max_norm = 1}};
  trainer.fit(batches, [&](const kit::CorpusBatch& batch) { return kit::translation_loss(model, corpus, batch); });
  const nn::Eval eval(model);
  const NoGrad off;
  const kit::Tokens source = kit::words(config.sentence);
  for (const bool with_end : {true, false}) {
    const std::vector<Step> steps = write(model, corpus, source, with_end);
    std::cout << (with_end ? "with <eos>:" : "without:") << "\n";
    for (const Step& step : steps) {
      std::cout << "  " << kit::joined(step.read) << " ->";
      for (const auto& [next, p] : step.best) std::cout << " " << next << " " << kit::fixed(p, 2);
      std::cout << "\n";
    }
    const auto title = str("\"", config.sentence, "\": the decoder reads its own words",
                           with_end ? "" : "; without <eos> it never stops");
    kit::save(example.out / (with_end ? "own_words.svg" : "without_end.svg"), strip(title, steps));
    example.result.add(with_end ? "steps" : "steps_without_end", str(steps.size()));
  }
}

}  // namespace

int experiments::own_words(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
    o.text("--sentence", c.sentence, "to translate");
  };
  return kit::main<Config>(argc, argv, "own_words", "A translator at work, step by step.", options,
                           run);
}
