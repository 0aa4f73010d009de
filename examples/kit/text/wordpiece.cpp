// The steps of BERT: special tokens, clean text, words, parts of words.
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/text/wordpiece.h>

#include <algorithm>
#include <array>
#include <set>

#include <xgrad/kit/program/error.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

constexpr std::array<std::string_view, 5> special_tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

Vocab read_vocab(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::is_directory(path, ignored) ? path / "vocab.txt" : path;
  Tokens tokens = read_lines(file);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!seen.insert(tokens[i]).second) throw DataError(file, i + 1, in_quotes(tokens[i]) + " is given twice");
  }
  for (const char* token : {"[UNK]", "[CLS]", "[SEP]"}) {
    if (!seen.contains(token)) fail<FormatError>("WordPieceTokenizer", file.string(), ": has no ", token);
  }
  return Vocab(std::move(tokens));
}

bool is_chinese(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  return within(0x4E00, 0x9FFF) || within(0x3400, 0x4DBF) || within(0x20000, 0x2A6DF) || within(0x2A700, 0x2B73F) ||
         within(0x2B740, 0x2B81F) || within(0x2B920, 0x2CEAF) || within(0xF900, 0xFAFF) || within(0x2F800, 0x2FA1F);
}

/// White space becomes spaces, controls and codes that are no characters go, Chinese characters get spaces around them.
std::string cleaned(std::string_view text) {
  std::u32string result;
  for (const char32_t c : decode_utf8(text)) {
    const std::string_view category = character_category(c);
    const bool blank = c == U'\t' || c == U'\n' || c == U'\r';
    if (blank || (is_space(c) && category != "Cc")) {
      result += U' ';
    } else if (is_chinese(c)) {
      result += {U' ', c, U' '};
    } else if (c != 0xFFFD && category != "Cc" && category != "Cf" && category != "Co") {
      result += c;
    }
  }
  return encode_utf8(result);
}

/// Without marks over and under letters, in lower case.
std::string uncased(const std::string& text) {
  std::u32string result;
  for (const char32_t c : decode_utf8(decomposed_form(text))) {
    if (character_category(c) != "Mn") result += lower_case(c);
  }
  return encode_utf8(result);
}

bool begins_character(std::string_view word, std::size_t at) {
  return at == word.size() || (static_cast<unsigned char>(word[at]) & 0xC0) != 0x80;
}

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(const std::filesystem::path& path, const Options& options)
    : vocab_(read_vocab(path)), options_(options) {
  for (const std::string& token : vocab_.tokens()) longest_ = std::max(longest_, token.size());
}

Index WordPieceTokenizer::encode(std::string_view text) const {
  std::vector<std::int64_t> ids{vocab_.id("[CLS]")};
  put(text, ids);
  ids.push_back(vocab_.id("[SEP]"));
  return Index(ids);
}

EncodedPair WordPieceTokenizer::encode_pair(std::string_view first, std::string_view second) const {
  const Index begin = encode(first);
  std::vector<std::int64_t> ids(begin.begin(), begin.end()), segments(ids.size(), 0);
  put(second, ids);
  ids.push_back(vocab_.id("[SEP]"));
  segments.resize(ids.size(), 1);
  return {Index(ids), Index(segments)};
}

std::string WordPieceTokenizer::decode(const Index& ids) const {
  check_ids(ids);
  std::string text;
  for (const std::int64_t id : ids) {
    const std::string& token = vocab_.token(id);
    if (std::ranges::count(special_tokens, token) > 0) continue;
    const bool mark = token == "." || token == "?" || token == "!" || token == ",";
    if (text.empty() || mark) {
      text += token;
    } else {
      text += token.starts_with("##") ? token.substr(2) : " " + token;
    }
  }
  return text;
}

void WordPieceTokenizer::put(std::string_view text, std::vector<std::int64_t>& ids) const {
  require_utf8("encode", text);
  std::size_t done = 0;
  for (std::size_t at = text.find('['); at != text.npos; at = text.find('[', at + 1)) {
    const auto token = std::ranges::find_if(
        special_tokens, [&](std::string_view one) { return text.substr(at).starts_with(one) && vocab_.contains(one); });
    if (token == special_tokens.end()) continue;
    put_words(text.substr(done, at - done), ids);
    ids.push_back(vocab_.id(*token));
    done = at + token->size();
  }
  put_words(text.substr(done), ids);
}

void WordPieceTokenizer::put_words(std::string_view text, std::vector<std::int64_t>& ids) const {
  std::u32string word;
  const auto end_word = [&] {
    if (!word.empty()) put_word(encode_utf8(word), ids);
    word.clear();
  };
  const std::string clean = cleaned(text);
  for (const char32_t c : decode_utf8(options_.lower_case ? uncased(clean) : clean)) {
    if (is_space(c) || is_punctuation(c)) end_word();
    if (is_punctuation(c)) {
      put_word(encode_utf8({&c, 1}), ids);
    } else if (!is_space(c)) {
      word += c;
    }
  }
  end_word();
}

void WordPieceTokenizer::put_word(std::string_view word, std::vector<std::int64_t>& ids) const {
  constexpr std::int64_t most_characters = 100;
  std::int64_t characters = 0;
  for (std::size_t i = 0; i < word.size(); ++i) characters += begins_character(word, i) ? 1 : 0;
  std::vector<std::int64_t> parts;
  for (std::size_t at = 0; at < word.size() && characters <= most_characters;) {
    const std::string mark = at > 0 ? "##" : "";
    std::size_t length = std::min(longest_, word.size() - at);
    const auto is_token = [&] {
      return begins_character(word, at + length) && vocab_.contains(mark + std::string(word.substr(at, length)));
    };
    while (length > 0 && !is_token()) --length;
    if (length == 0) break;
    parts.push_back(vocab_.id(mark + std::string(word.substr(at, length))));
    at += length;
    if (at == word.size()) {
      ids.insert(ids.end(), parts.begin(), parts.end());
      return;
    }
  }
  ids.push_back(vocab_.id("[UNK]"));
}

}  // namespace xgrad::kit
