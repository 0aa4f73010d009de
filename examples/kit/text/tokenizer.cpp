// Characters, words, and the pattern of GPT-2. Pairs of bytes are in bpe.cpp.
#include <xgrad/kit/text/tokenizer.h>

#include <algorithm>

#include <xgrad/kit/text/unicode.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

void require_utf8(const char* op, std::string_view text) {
  if (const std::size_t at = utf8_prefix(text); at < text.size()) {
    fail<ValueError>(op, "the text is not UTF-8 at byte ", at);
  }
}

void require_list(const char* op, const Index& ids) {
  if (ids.rank() != 1) fail<ShapeError>(op, "needs ids (N), got ", ids.shape());
}

/// The first character of a text; a byte that is not UTF-8 is one, too.
DecodedCharacter first(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x80) return {byte, 1};
  const DecodedCharacter decoded = decode_first(text);
  return decoded.length > 0 ? decoded : DecodedCharacter{decoded.value, 1};
}

/// The classes that GPT-2's pattern tells apart: marks are among the others.
CharacterClass gpt2_class(char32_t c) {
  const CharacterClass found = character_class(c);
  return found == CharacterClass::mark ? CharacterClass::other : found;
}

/// The bytes at the beginning of a text whose characters are of one class.
std::size_t run(std::string_view text, CharacterClass wanted) {
  std::size_t end = 0;
  while (end < text.size()) {
    const DecodedCharacter next = first(text.substr(end));
    if (gpt2_class(next.value) != wanted) break;
    end += next.length;
  }
  return end;
}

/// The bytes of the first word of a text that is not empty.
std::size_t gpt2_word(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  const std::size_t space = text[0] == ' ' ? 1 : 0;
  if (text.size() > space) {
    const CharacterClass wanted = gpt2_class(first(text.substr(space)).value);
    if (wanted != CharacterClass::space) return space + run(text.substr(space), wanted);
  }
  // White space leaves its last character to the word after it, if there is more than one.
  const std::size_t end = run(text, CharacterClass::space);
  if (end == text.size()) return end;
  std::size_t last = end - 1;
  while ((static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
  return last > 0 ? last : end;
}

}  // namespace

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
  require_list("decode", ids);
  std::u32string characters;
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= size()) fail<ValueError>("decode", "id ", id, " is not in [0, ", size(), ")");
    characters.push_back(characters_[static_cast<std::size_t>(id)]);
  }
  return encode_utf8(characters);
}

std::string CharacterTokenizer::characters() const { return encode_utf8(characters_); }

Tokens running_words(std::string_view text) {
  require_utf8("running_words", text);
  const std::u32string characters = decode_utf8(text);
  const auto in_word = [&](std::size_t i) {
    if (i >= characters.size()) return false;
    const CharacterClass found = character_class(characters[i]);
    return found != CharacterClass::space && found != CharacterClass::other;
  };
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
      if (character_class(c) != CharacterClass::space) words.push_back(encode_utf8({&c, 1}));
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
  require_list("decode", ids);
  Tokens words;
  for (const std::int64_t id : ids) words.push_back(vocab_.token(id));
  return joined(words);
}

std::vector<std::string_view> gpt2_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t length = gpt2_word(text);
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

}  // namespace xgrad::kit
