// Reading pairs of sentences, and cutting batches out of them.
#include <xgrad/kit/text/corpus.h>

#include <algorithm>
#include <set>

#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/program/fingerprint.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/unicode/unicode.h>
#include <xgrad/ops/elementwise/compare.h>
#include <xgrad/ops/indexing/index.h>

namespace xgrad::kit {
namespace {

using detail::SentencePair;

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

/// The pair on one line; throws DataError.
SentencePair parsed(const std::string& line, const std::filesystem::path& path, std::size_t number) {
  const auto refuse = [&](const std::string& why) -> DataError {
    return DataError(path, number, "expected source<TAB>target, found " + why);
  };
  const std::size_t tab = line.find('\t');
  if (tab == std::string::npos) throw refuse("no tab in " + in_quotes(line));
  const std::size_t end = std::min(line.find('\t', tab + 1), line.size());
  SentencePair pair{trimmed(plain_spaces(line.substr(0, tab))),
                    trimmed(plain_spaces(line.substr(tab + 1, end - tab - 1)))};
  if (pair.source.empty()) throw refuse("an empty source");
  if (pair.target.empty()) throw refuse("an empty target");
  return pair;
}

detail::Split read(const CorpusOptions& options) {
  if (options.pairs < 0 || options.held_out < 0) {
    fail<ValueError>("corpus", options.pairs, " pairs to learn and ", options.held_out, " to judge by");
  }
  const std::vector<SentencePair> pairs = detail::read_pairs(options.file);
  if (pairs.empty()) throw DataError(options.file, 1, "no sentence pair");
  return detail::split_at(pairs, static_cast<std::size_t>(options.pairs));
}

std::vector<Tokens> side(const std::vector<SentencePair>& pairs, std::string SentencePair::*which) {
  std::vector<Tokens> sentences;
  for (const SentencePair& pair : pairs) sentences.push_back(words(preprocess(pair.*which)));
  return sentences;
}

}  // namespace

std::vector<detail::SentencePair> detail::read_pairs(const std::filesystem::path& path) {
  std::vector<SentencePair> pairs;
  std::size_t number = 0;
  for (const std::string& line : read_lines(path)) {
    ++number;
    if (line.find_first_not_of(" \t") != line.npos) pairs.push_back(parsed(line, path, number));
  }
  return pairs;
}

detail::Split detail::split_at(std::span<const SentencePair> pairs, std::size_t count) {
  Split split;
  std::set<std::string> seen;
  for (const SentencePair& pair : pairs) {
    const std::string source = preprocess(pair.source);
    if (split.train.size() < count) {
      split.train.push_back(pair);
      seen.insert(source);
    } else if (!seen.contains(source)) {
      split.held_out.push_back(pair);
    }
  }
  return split;
}

void add_corpus_options(Options& options, CorpusOptions& config) {
  options.text("--data", config.file, "sentence pairs, english<TAB>french, perhaps gzipped");
  options.integer("--pairs", config.pairs, "number of pairs to learn, the first of the file", 1, 1'000'000'000);
  options.integer("--held-out", config.held_out, "number of later pairs to judge by", 0, 1'000'000'000);
}

Corpus::Corpus(const CorpusOptions& options) : Corpus(options, read(options)) {}

Corpus::Corpus(const CorpusOptions& options, const detail::Split& split)
    : steps_(options.steps),
      source_vocab_(side(split.train, &SentencePair::source), {.min_freq = options.min_freq}),
      target_vocab_(side(split.train, &SentencePair::target), {.min_freq = options.min_freq}),
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

CorpusBatch Corpus::batch(const Index& rows) const {
  CorpusBatch batch{.source = index_select(source_.ids, 0, rows),
                    .source_lengths = index_select(source_.lengths, 0, rows),
                    .target = index_select(target_.ids, 0, rows),
                    .target_lengths = index_select(target_.lengths, 0, rows)};
  for (const std::int64_t length : batch.target_lengths) batch.tokens += length;
  return batch;
}

CorpusBatch Corpus::sources(const std::vector<Tokens>& sentences) const {
  const SentenceArray array = to_array(sentences, source_vocab_, steps_);
  return {.source = array.ids, .source_lengths = array.lengths, .target = {}, .target_lengths = {}};
}

std::uint64_t Corpus::fingerprint() const {
  const auto bytes = [](const Index& ids) {
    return std::string_view(reinterpret_cast<const char*>(ids.data()),
                            static_cast<std::size_t>(ids.size()) * sizeof(std::int64_t));
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

std::vector<Tokens> Corpus::sentences(const Index& target_ids) const {
  if (target_ids.rank() != 2) fail<ShapeError>("sentences", "needs (N, L), got ", target_ids.shape());
  const auto L = static_cast<std::size_t>(target_ids.dim(1));
  std::vector<Tokens> sentences;
  for (std::int64_t i = 0; i < target_ids.dim(0); ++i) {
    sentences.push_back(words({target_ids.data() + static_cast<std::size_t>(i) * L, L}));
  }
  return sentences;
}

std::vector<Tokens> Corpus::held_out_sources() const {
  std::vector<Tokens> sources;
  for (const Question& question : held_out_) sources.push_back(question.source);
  return sources;
}

double mean_bleu(std::span<const Tokens> guesses, std::span<const Question> questions, int k) {
  if (guesses.size() != questions.size()) {
    fail<ValueError>("mean_bleu", guesses.size(), " guesses for ", questions.size(), " questions");
  }
  double sum = 0;
  for (std::size_t i = 0; i < guesses.size(); ++i) sum += best_bleu(guesses[i], questions[i].answers, k);
  return guesses.empty() ? 0 : sum / static_cast<double>(guesses.size());
}

}  // namespace xgrad::kit
