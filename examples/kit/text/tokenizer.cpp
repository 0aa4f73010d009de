// Characters and words. Pairs of bytes are in bpe.cpp.
#include <xgrad/kit/text/tokenizer.h>

#include <algorithm>

#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {

void Tokenizer::check_ids(const Index& ids) const {
  if (ids.rank() != 1) fail<ShapeError>("decode", "needs ids (N), got ", ids.shape());
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= size()) fail<ValueError>("decode", "id ", id, " is not in [0, ", size(), ")");
  }
}

CharacterTokenizer::CharacterTokenizer(std::string_view text) {
  require_utf8("CharacterTokenizer", text);
  characters_ = decode_utf8(text);
  std::ranges::sort(characters_);
  characters_.erase(std::unique(characters_.begin(), characters_.end()), characters_.end());
}

Index CharacterTokenizer::encode(std::string_view text) const {
  require_utf8("encode", text);
  const std::u32string characters = decode_utf8(text);
  Index ids(Shape{std::ssize(characters)});
  std::int64_t* id = ids.mutable_data();
  for (const char32_t c : characters) {
    const auto found = std::ranges::lower_bound(characters_, c);
    if (found == characters_.end() || *found != c) {
      fail<ValueError>("encode", "the character '", encode_utf8({&c, 1}), "' is not among the ", size(), " known ones");
    }
    *id++ = found - characters_.begin();
  }
  return ids;
}

std::string CharacterTokenizer::decode(const Index& ids) const {
  check_ids(ids);
  std::u32string characters;
  for (const std::int64_t id : ids) characters.push_back(characters_[static_cast<std::size_t>(id)]);
  return encode_utf8(characters);
}

Tokens running_words(std::string_view text) {
  require_utf8("running_words", text);
  const std::u32string characters = decode_utf8(text);
  const auto in_word = [&](std::size_t i) { return i < characters.size() && is_word_character(characters[i]); };
  Tokens words;
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(encode_utf8(std::exchange(word, {})));
  };
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i];
    if (in_word(i) || ((c == U'\'' || c == U'’') && !word.empty() && in_word(i + 1))) {
      word += lower_case(c);
    } else {
      end_word();
      if (!is_space(c)) words.push_back(encode_utf8({&c, 1}));
    }
  }
  end_word();
  return words;
}

WordTokenizer::WordTokenizer(std::string_view text, const Options& options)
    : vocab_(std::vector<Tokens>{running_words(text)}, {.min_freq = options.min_freq, .reserved = options.reserved}) {}

Index WordTokenizer::encode(std::string_view text) const {
  const Tokens words = running_words(text);
  Index ids(Shape{std::ssize(words)});
  std::ranges::transform(words, ids.mutable_data(), [&](const std::string& word) { return vocab_.id(word); });
  return ids;
}

std::string WordTokenizer::decode(const Index& ids) const {
  check_ids(ids);
  Tokens words;
  for (const std::int64_t id : ids) words.push_back(vocab_.token(id));
  return joined(words);
}

}  // namespace xgrad::kit
