// Writing all words at once: non-autoregressive transformers beside the autoregressive one, on English to French.
//
//   non_autoregressive [--epochs N] [--data FILE] [--pairs N] [--seed N] [--out FOLDER] ...
//
// Read in this order: config.h, model.h, and this file.
#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>

#include <CLI/CLI.hpp>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

#include "config.h"
#include "model.h"

namespace {

using namespace non_autoregressive;

constexpr int bleu_order = 2;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Source sentences to translations, (B, S) (B) -> (B, L).
using Translate = std::function<Index(const Index& source, const Index& lengths)>;
/// Training pairs to their loss: summed over words, a scalar.
using Loss = std::function<Tensor(const Index& rows)>;

/// One line of the table.
struct Result {
  std::string name;
  std::int64_t parameters = 0;
  double training_seconds = 0;
  kit::Series curve = {};
  double known = 0, held_out = 0;  // mean BLEU
  double tokens_per_second = 0;    // of all held-out sentences at once
  double milliseconds = 0;         // for one sentence alone
  std::vector<kit::Tokens> guesses = {};
};

// The book's training: Xavier's first weights, Adam, clipped gradients.
void train(const Config& config, const kit::Corpus& corpus, std::uint64_t seed, const nn::Module& model,
           const Loss& loss, Result& result) {
  model.apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
  const Tensors parameters = model.parameters();
  optim::Adam adam{parameters, {.lr = config.learning_rate}};
  kit::ProgressBar bar({.total = config.epochs, .title = result.name});
  result.parameters = model.num_parameters();
  result.curve.name = result.name;
  result.training_seconds = seconds_of([&] {
    for (std::int64_t epoch = 0; epoch < config.epochs; ++epoch) {
      const Index order = random_permutation(corpus.size(), {.seed = seed, .draw = static_cast<std::uint64_t>(epoch)});
      double total = 0;
      for (std::int64_t begin = 0; begin < order.size(); begin += config.batch) {
        const Tensor of_batch = loss(order[{slice(begin, begin + config.batch)}]);
        const Tensor step = of_batch / static_cast<Real>(config.corpus.steps);
        adam.step(optim::clip_grad_norm(grad(step, parameters), parameters, config.clip).gradients);
        total += of_batch.item();
      }
      result.curve.y.push_back(total / static_cast<double>(corpus.size()));
      bar.update(epoch + 1, {{"loss", kit::fixed(result.curve.y.back(), 3)}});
    }
  });
}

void judge(const Config& config, const kit::Corpus& corpus, const Translate& translate, Result& result) {
  std::vector<kit::Tokens> known;
  for (const kit::KnownPair& pair : kit::known_pairs) known.push_back(kit::words(pair.source));
  const std::vector<kit::Tokens> asked = corpus.held_out_sources();
  const auto answer = [&](const std::vector<kit::Tokens>& sentences) {
    const kit::CorpusBatch batch = corpus.sources(sentences);
    return corpus.sentences(translate(batch.source, batch.source_lengths));
  };
  const std::vector<kit::Tokens> learnt = answer(known);
  result.known = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    result.known += kit::bleu(learnt[i], kit::words(kit::known_pairs[i].target), bleu_order) / std::ssize(known);
  }
  if (asked.empty()) return;
  result.guesses = answer(asked);
  result.held_out = kit::mean_bleu(result.guesses, corpus.held_out(), bleu_order);

  std::size_t tokens = 0;
  for (const kit::Tokens& guess : result.guesses) tokens += guess.size() + 1;  // with <eos>
  const kit::CorpusBatch batch = corpus.sources(asked), one = corpus.sources({asked.front()});
  const auto n = static_cast<double>(config.repetitions);
  const auto repeat = [&](const kit::CorpusBatch& sources) {
    return seconds_of([&] {
      for (std::int64_t i = 0; i < config.repetitions; ++i) translate(sources.source, sources.source_lengths);
    });
  };
  result.tokens_per_second = n * static_cast<double>(tokens) / repeat(batch);
  result.milliseconds = 1000 * repeat(one) / n;
}

void print(const std::vector<Result>& results, const kit::Corpus& corpus) {
  kit::Table table({"", "parameters", "training s", "known BLEU", "held-out BLEU", "tokens/s", "ms alone"});
  for (const Result& r : results) {
    table.row({r.name, r.parameters, kit::fixed(r.training_seconds, 1), kit::fixed(r.known, 3),
               kit::fixed(r.held_out, 3), kit::compact(r.tokens_per_second), kit::fixed(r.milliseconds, 2)});
  }
  std::cout << "\n" << table.text();
  for (std::size_t i = 0; i < std::min<std::size_t>(4, corpus.held_out().size()); ++i) {
    const kit::Question& question = corpus.held_out()[i];
    std::cout << "\n" << kit::joined(question.source) << "  (" << kit::joined(question.answers.front()) << ")\n";
    for (const Result& r : results) {
      std::cout << "  " << std::left << std::setw(34) << r.name << kit::joined(r.guesses[i]) << "\n";
    }
  }
  std::cout << std::right;
}

// Where the positions of the decoder look: at those before them and at those behind.
void draw_attention(const std::filesystem::path& path, const kit::Corpus& corpus, const ParallelTranslator& model) {
  const kit::CorpusBatch batch = corpus.sources({kit::words(kit::known_pairs.back().source)});
  nn::AttentionRecorder recorder;
  kit::Tokens written = corpus.sentences(model.translate(batch.source, batch.source_lengths)).front();
  written.resize(static_cast<std::size_t>(model.steps), "<eos>");
  const Array weights = kit::attention_weights(recorder, ".self_attn");  // (layers, H, T, T)
  kit::HeatMaps maps =
      kit::cross_maps(written, written, {.title = "Self-attention of a decoder that writes all words at once"});
  maps.key_caption = "key (the token that it predicts)";
  kit::save_text(path, kit::attention_svg(weights, maps));
}

// Sentences (N, L) as targets (N, steps): behind the first <eos> stands <pad>.
Index up_to_end(const Index& ids, const kit::Corpus& corpus, std::int64_t steps) {
  Index targets({ids.dim(0), steps}, corpus.pad());
  for (std::int64_t i = 0; i < ids.dim(0); ++i) {
    for (std::int64_t t = 0; t < ids.dim(1); ++t) {
      targets.mutable_data()[i * steps + t] = ids.at({i, t});
      if (ids.at({i, t}) == corpus.eos()) break;
    }
  }
  return targets;
}

void run(const Config& config, kit::Example& example) {
  const std::uint64_t seed = example.seed;
  const kit::Corpus corpus(config.corpus);
  std::cout << corpus.size() << " pairs, " << corpus.held_out().size() << " sentences held out\n";
  std::vector<Result> results;

  // Word by word.
  const nn::EncoderDecoder teacher{nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                                   transformer_options(config)};
  const Translate word_by_word = [&](const Index& source, const Index& lengths) {
    const nn::Eval eval(teacher);
    auto decoding = teacher.start(source, lengths);
    return nn::greedy(decoding, {.bos = corpus.bos(), .eos = corpus.eos(), .max_length = config.corpus.steps}).tokens;
  };
  results.push_back({.name = "word by word"});
  train(
      config, corpus, seed, teacher,
      [&](const Index& rows) {
        const kit::CorpusBatch batch = corpus.batch(rows);
        const Index before = nn::shift_right(batch.target, corpus.bos());
        return cross_entropy(teacher(batch.source, batch.source_lengths, before), batch.target,
                             {.ignore_index = corpus.pad(), .reduction = Reduction::sum});
      },
      results.back());
  judge(config, corpus, word_by_word, results.back());

  const Translate with_beams = [&](const Index& source, const Index& lengths) {
    const nn::Eval eval(teacher);
    auto decoding = teacher.start(source, lengths);
    const nn::BeamOptions options{.bos = corpus.bos(), .eos = corpus.eos(), .max_length = config.corpus.steps};
    return nn::best_of(nn::beam_search(decoding, options), corpus.eos()).tokens;
  };
  results.push_back(results.front());
  results.back().name = "the same with 4 beams";
  results.back().curve = {};
  judge(config, corpus, with_beams, results.back());

  // All at once, from the corpus and from what the first model says (sequence-level distillation: Kim, Rush 2016).
  const kit::CorpusBatch everything = corpus.batch(arange(corpus.size()));
  const Index taught =
      up_to_end(word_by_word(everything.source, everything.source_lengths), corpus, config.corpus.steps);
  struct Variant {
    const char* name;
    Ending ending;
    bool taught;
  };
  for (const Variant& variant : {Variant{"at once, length predicted", Ending::predicted, false},
                                 Variant{"at once, cut at <eos>", Ending::cut, false},
                                 Variant{"at once, predicted, distilled", Ending::predicted, true},
                                 Variant{"at once, cut at <eos>, distilled", Ending::cut, true}}) {
    const ParallelTranslator model(config, corpus, variant.ending);
    results.push_back({.name = variant.name});
    train(
        config, corpus, seed, model,
        [&](const Index& rows) {
          kit::CorpusBatch batch = corpus.batch(rows);
          if (variant.taught) batch.target = index_select(taught, 0, rows);
          return model.loss(batch, corpus.pad());
        },
        results.back());
    judge(
        config, corpus, [&](const Index& source, const Index& lengths) { return model.translate(source, lengths); },
        results.back());
    if (variant.ending == Ending::cut) draw_attention(example.out / "attention.svg", corpus, model);
  }

  print(results, corpus);
  std::vector<kit::Series> curves;
  for (const Result& result : results) {
    if (!result.curve.y.empty()) curves.push_back(result.curve);
  }
  kit::save_text(example.out / "loss.svg", kit::line_plot(curves, {.title = "Word by word and all at once",
                                                                   .x_label = "epoch",
                                                                   .y_label = "loss per sentence (nats)",
                                                                   .y_scale = kit::Scale::log}));
  for (std::size_t i = 0; i < results.size(); ++i) {
    example.result.add(cat("held_out_bleu", i + 1), kit::fixed(results[i].held_out, 3))
        .add(cat("tokens_per_second", i + 1), kit::fixed(results[i].tokens_per_second, 0));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("English to French, word by word and all words at once.", "non_autoregressive");
  Config config;
  kit::add_corpus_options(app, config.corpus);
  kit::add_number(app, "--epochs", config.epochs, "times that every pair is seen", 1, 1'000'000);
  kit::add_number(app, "--lr", config.learning_rate, "learning rate", 1e-9, 1000);
  return kit::run_example(app, argc, argv, [&](kit::Example& example) { run(config, example); });
} catch (...) {
  return kit::report_error();
}
