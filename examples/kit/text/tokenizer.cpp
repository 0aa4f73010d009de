// Characters, words, and the pattern of GPT-2. Pairs of bytes are in bpe.cpp.
#include <xgrad/kit/text/tokenizer.h>

#include <algorithm>

#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

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

/// The bytes at the beginning of a text whose characters are of one class, of `most` characters at most.
std::size_t run(std::string_view text, CharacterClass wanted, std::size_t most = std::string_view::npos) {
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size() && count < most; ++count) {
    const DecodedCharacter next = first(text.substr(end));
    if (gpt2_class(next.value) != wanted) break;
    end += next.length;
  }
  return end;
}

/// The bytes of the white space at the beginning of a text, which leaves its last character to the word after it, if
/// there is more than one.
std::size_t white_space(std::string_view text) {
  const std::size_t end = run(text, CharacterClass::space);
  if (end == text.size()) return end;
  std::size_t last = end - 1;
  while ((static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
  return last > 0 ? last : end;
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
  return white_space(text);
}

/// The bytes of (?i:'s|'t|'re|'ve|'m|'ll|'d) at the beginning of a text, or 0.
std::size_t contraction(std::string_view text) {
  if (text[0] != '\'') return 0;
  const auto letter = [&](std::size_t at) {
    if (at >= text.size()) return DecodedCharacter{};
    const DecodedCharacter next = first(text.substr(at));
    // The long s is an s where expressions do not tell small letters from capitals.
    return DecodedCharacter{next.value == U'ſ' ? U's' : lower_case(next.value), next.length};
  };
  const DecodedCharacter one = letter(1), two = letter(1 + one.length);
  const auto is = [](const DecodedCharacter& c, char32_t wanted) { return c.value == wanted; };
  if (is(one, U's') || is(one, U't') || is(one, U'm') || is(one, U'd')) return 1 + one.length;
  const bool pair = is(two, U'e') ? is(one, U'r') || is(one, U'v') : is(one, U'l') && is(two, U'l');
  return pair ? 1 + one.length + two.length : 0;
}

/// The bytes of the first word of a text that is not empty, by the pattern of Llama 3 with numbers of `digits` digits.
std::size_t llama_word(std::string_view text, std::size_t digits) {
  if (const std::size_t end = contraction(text); end > 0) return end;
  const DecodedCharacter begin = first(text);
  const CharacterClass own = gpt2_class(begin.value);
  if (own == CharacterClass::number) return run(text, own, digits);
  const bool line_end = begin.value == U'\r' || begin.value == U'\n';
  const std::size_t before = own == CharacterClass::letter || line_end ? 0 : begin.length;
  const std::size_t letters = run(text.substr(before), CharacterClass::letter);
  if (letters > 0) return before + letters;
  const std::size_t space = begin.value == U' ' ? 1 : 0;
  if (const std::size_t others = run(text.substr(space), CharacterClass::other); others > 0) {
    return std::min(text.find_first_not_of("\r\n", space + others), text.size());
  }
  const std::size_t line = text.substr(0, run(text, CharacterClass::space)).find_last_of("\r\n");
  return line == text.npos ? white_space(text) : line + 1;
}

/// Words one after the other, the first of the rest by `word`.
template <class Word>
std::vector<std::string_view> all_words(std::string_view text, const Word& word) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, word(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
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

std::vector<std::string_view> gpt2_words(std::string_view text) { return all_words(text, gpt2_word); }

std::vector<std::string_view> llama3_words(std::string_view text) {
  return all_words(text, [](std::string_view from) { return llama_word(from, 3); });
}

std::vector<std::string_view> qwen2_words(std::string_view text) {
  return all_words(text, [](std::string_view from) { return llama_word(from, 1); });
}

}  // namespace xgrad::kit
