// The steps from sentences to ids.
#include <xgrad/kit/text/text.h>

#include <algorithm>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {

std::string lower_case(std::string_view text) {
  std::u32string characters = decode_utf8(text);
  for (char32_t& c : characters) c = lower_case(c);
  return encode_utf8(characters);
}

std::string preprocess(std::string_view sentence) {
  const std::string text = lower_case(plain_spaces(sentence));
  std::string spaced;
  for (const char c : text) {
    const bool mark = c == ',' || c == '.' || c == '!' || c == '?';
    if (mark && !spaced.empty() && spaced.back() != ' ') spaced += ' ';
    spaced += c;
  }
  return spaced;
}

Tokens words(std::string_view text) {
  Tokens tokens;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (!word.empty()) tokens.emplace_back(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return tokens;
}

std::string joined(std::span<const std::string> tokens) {
  std::string text;
  for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
  return text;
}

Vocab::Vocab(std::span<const Tokens> sentences, const Options& options) {
  std::map<std::string, std::int64_t> counts;
  for (const Tokens& sentence : sentences) {
    for (const std::string& token : sentence) ++counts[token];
  }
  for (const std::string& token : options.reserved) counts.erase(token);

  std::vector<std::pair<std::string, std::int64_t>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Tokens tokens = options.reserved;
  for (const auto& [token, count] : ranked) {
    if (count >= options.min_freq) tokens.push_back(token);
  }
  *this = Vocab(std::move(tokens));
}

Vocab::Vocab(Tokens tokens_by_id) : tokens_(std::move(tokens_by_id)) {
  for (const std::string& token : tokens_) {
    const auto id = static_cast<std::int64_t>(ids_.size());
    if (!ids_.emplace(token, id).second) fail<ValueError>("vocab", "token '", token, "' is given twice");
  }
}

std::int64_t Vocab::id(std::string_view token) const {
  auto found = ids_.find(token);
  if (found == ids_.end()) found = ids_.find("<unk>");
  if (found == ids_.end()) fail<ValueError>("vocab", "unknown token '", token, "' and no <unk>");
  return found->second;
}

std::string Vocab::token(std::int64_t id) const {
  if (id < 0 || id >= size()) fail<ValueError>("vocab", "id ", id, " is not in [0, ", size(), ")");
  return tokens_[static_cast<std::size_t>(id)];
}

SentenceArray to_array(std::span<const Tokens> sentences, const Vocab& vocab, std::int64_t steps) {
  if (steps < 1) fail<ValueError>("to_array", "needs at least one step, got ", steps);
  const auto reserved = [&vocab](std::string_view token) {
    if (!vocab.contains(token)) fail<ValueError>("to_array", "the vocabulary has no ", token);
    return vocab.id(token);
  };
  const std::int64_t padding = reserved("<pad>"), eos = reserved("<eos>");

  const std::int64_t N = std::ssize(sentences);
  SentenceArray array{.ids = Index({N, steps}, padding), .lengths = Index(Shape{N})};
  std::int64_t* row = array.ids.mutable_data();
  for (std::int64_t i = 0; i < N; ++i, row += steps) {
    const Tokens& sentence = sentences[static_cast<std::size_t>(i)];
    const std::int64_t words = std::ssize(sentence);
    for (std::int64_t t = 0; t < std::min(words, steps); ++t) row[t] = vocab.id(sentence[static_cast<std::size_t>(t)]);
    if (words < steps) row[words] = eos;
    array.lengths.mutable_data()[i] = std::min(words + 1, steps);
  }
  return array;
}

}  // namespace xgrad::kit
