// Reading the corpus and cutting batches out of it.
#include "data.h"

#include <algorithm>

#include <kit/error.h>

namespace translate {
namespace {

using kit::SentencePair;

kit::Split read(const Config& config) {
  const std::vector<SentencePair> pairs = kit::read_pairs(config.data);
  if (pairs.empty()) throw kit::DataError(config.data, 1, "no sentence pair");
  return kit::split_at(pairs, static_cast<std::size_t>(config.pairs));
}

std::vector<kit::Tokens> side(const std::vector<SentencePair>& pairs, std::string SentencePair::*which) {
  std::vector<kit::Tokens> sentences;
  for (const SentencePair& pair : pairs) sentences.push_back(kit::words(kit::preprocess(pair.*which)));
  return sentences;
}

kit::Vocab count(const std::vector<SentencePair>& pairs, std::string SentencePair::*which, int min_freq) {
  return kit::Vocab(side(pairs, which), {.min_freq = min_freq});
}

xgrad::Index index(std::initializer_list<std::int64_t> sizes, const std::vector<std::int64_t>& ids) {
  return xgrad::Index(xgrad::Shape(sizes), ids);
}

}  // namespace

Data::Data(const Config& config) : Data(config, read(config)) {}

Data::Data(const Config& config, const kit::Split& split)
    : steps_(static_cast<std::size_t>(config.steps)),
      source_vocab_(count(split.train, &SentencePair::source, config.min_freq)),
      target_vocab_(count(split.train, &SentencePair::target, config.min_freq)),
      source_(kit::to_array(side(split.train, &SentencePair::source), source_vocab_, steps_)),
      target_(kit::to_array(side(split.train, &SentencePair::target), target_vocab_, steps_)) {
  const auto sources = side(split.held_out, &SentencePair::source);
  const auto targets = side(split.held_out, &SentencePair::target);
  for (std::size_t i = 0; i < std::min(sources.size(), static_cast<std::size_t>(config.held_out)); ++i) {
    const auto same = [&](const Question& question) { return question.source == sources[i]; };
    const auto found = std::ranges::find_if(held_out_, same);
    if (found == held_out_.end()) {
      held_out_.push_back({sources[i], {targets[i]}});
    } else {
      found->answers.push_back(targets[i]);
    }
  }
}

Batch Data::batch(std::span<const std::size_t> rows) const {
  const kit::SentenceArray source = source_.take(rows), target = target_.take(rows);
  const auto B = static_cast<std::int64_t>(rows.size()), T = static_cast<std::int64_t>(steps_);
  Batch batch{.source = index({B, T}, source.ids),
              .source_lengths = index({B}, source.lengths),
              .target_in = index({B, T}, target.shifted(bos())),
              .target_out = index({B, T}, target.ids)};
  for (const std::int64_t length : target.lengths) batch.tokens += length;
  return batch;
}

Batch Data::sources(const std::vector<kit::Tokens>& sentences) const {
  const kit::SentenceArray source = kit::to_array(sentences, source_vocab_, steps_);
  const auto N = static_cast<std::int64_t>(sentences.size());
  Batch batch;
  batch.source = index({N, static_cast<std::int64_t>(steps_)}, source.ids);
  batch.source_lengths = index({N}, source.lengths);
  return batch;
}

kit::Tokens Data::words(std::span<const std::int64_t> target_ids) const {
  kit::Tokens words;
  for (const std::int64_t id : target_ids) {
    if (id == eos()) break;
    words.push_back(target_vocab_.token(id));
  }
  return words;
}

}  // namespace translate
