// Reading the corpus and cutting batches out of it.
#include <kit/corpus.h>

#include <algorithm>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include <kit/bleu.h>
#include <kit/cli.h>
#include <kit/error.h>

namespace kit {
namespace {

Split read(const CorpusOptions& options) {
  const std::vector<SentencePair> pairs = read_pairs(options.file);
  if (pairs.empty()) throw DataError(options.file, 1, "no sentence pair");
  return split_at(pairs, static_cast<std::size_t>(options.pairs));
}

std::vector<Tokens> side(const std::vector<SentencePair>& pairs, std::string SentencePair::*which) {
  std::vector<Tokens> sentences;
  for (const SentencePair& pair : pairs) sentences.push_back(words(preprocess(pair.*which)));
  return sentences;
}

Vocab count(const std::vector<SentencePair>& pairs, std::string SentencePair::*which, int min_freq) {
  return Vocab(side(pairs, which), {.min_freq = min_freq});
}

xgrad::Index index(std::initializer_list<std::int64_t> sizes, const std::vector<std::int64_t>& ids) {
  return xgrad::Index(xgrad::Shape(sizes), ids);
}

}  // namespace

void add_corpus_options(CLI::App& app, CorpusOptions& options) {
  app.add_option("--data", options.file, "sentence pairs, english<TAB>french, perhaps gzipped");
  add_number(app, "--pairs", options.pairs, "learn the first so many pairs", 1, 1'000'000'000);
  add_number(app, "--held-out", options.held_out, "judge by so many of the pairs behind them", 0, 1'000'000'000);
}

Corpus::Corpus(const CorpusOptions& options) : Corpus(options, read(options)) {}

Corpus::Corpus(const CorpusOptions& options, const Split& split)
    : steps_(static_cast<std::size_t>(options.steps)),
      source_vocab_(count(split.train, &SentencePair::source, options.min_freq)),
      target_vocab_(count(split.train, &SentencePair::target, options.min_freq)),
      source_(to_array(side(split.train, &SentencePair::source), source_vocab_, steps_)),
      target_(to_array(side(split.train, &SentencePair::target), target_vocab_, steps_)) {
  const auto sources = side(split.held_out, &SentencePair::source);
  const auto targets = side(split.held_out, &SentencePair::target);
  for (std::size_t i = 0; i < std::min(sources.size(), static_cast<std::size_t>(options.held_out)); ++i) {
    const auto same = [&](const Question& question) { return question.source == sources[i]; };
    const auto found = std::ranges::find_if(held_out_, same);
    if (found == held_out_.end()) {
      held_out_.push_back({sources[i], {targets[i]}});
    } else {
      found->answers.push_back(targets[i]);
    }
  }
}

CorpusBatch Corpus::batch(std::span<const std::size_t> rows) const {
  const SentenceArray source = source_.take(rows), target = target_.take(rows);
  const auto B = static_cast<std::int64_t>(rows.size()), T = static_cast<std::int64_t>(steps_);
  CorpusBatch batch{.source = index({B, T}, source.ids),
                    .source_lengths = index({B}, source.lengths),
                    .target_in = index({B, T}, target.shifted(bos())),
                    .target_out = index({B, T}, target.ids)};
  for (const std::int64_t length : target.lengths) batch.tokens += length;
  return batch;
}

CorpusBatch Corpus::sources(const std::vector<Tokens>& sentences) const {
  const SentenceArray source = to_array(sentences, source_vocab_, steps_);
  const auto N = static_cast<std::int64_t>(sentences.size());
  CorpusBatch batch;
  batch.source = index({N, static_cast<std::int64_t>(steps_)}, source.ids);
  batch.source_lengths = index({N}, source.lengths);
  return batch;
}

std::uint64_t Corpus::fingerprint() const {
  const auto bytes = [](const std::vector<std::int64_t>& ids) {
    return std::string_view(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(std::int64_t));
  };
  return kit::fingerprint(bytes(target_.ids), kit::fingerprint(bytes(source_.ids)));
}

Tokens Corpus::words(std::span<const std::int64_t> target_ids) const {
  Tokens words;
  for (const std::int64_t id : target_ids) {
    if (id == eos()) break;
    words.push_back(target_vocab_.token(id));
  }
  return words;
}

double mean_bleu(std::span<const Tokens> guesses, std::span<const Question> questions, int k) {
  if (guesses.size() != questions.size()) throw std::invalid_argument("mean_bleu: one guess for each question");
  double sum = 0;
  for (std::size_t i = 0; i < guesses.size(); ++i) sum += best_bleu(guesses[i], questions[i].answers, k);
  return guesses.empty() ? 0 : sum / static_cast<double>(guesses.size());
}

}  // namespace kit
