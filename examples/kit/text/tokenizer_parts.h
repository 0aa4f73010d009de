// The parts of tokenizer.json, each as a function of the kind that the file asks for. Each read_... throws FormatError,
// with the way to the field, for kinds that it does not know. Not installed: published_tokenizer.h is.
//
//     text -> normalizer -> pieces -> splitter -> words -> model -> ids -> template -> ids
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <xgrad/kit/text/json_field.h>
#include <xgrad/kit/text/text.h>

namespace xgrad::kit {

// ---- normalizers.cpp, charsmap.cpp ----------------------------------------------------------------------------------

/// Text in UTF-8 -> text in UTF-8.
using Normalizer = std::function<std::string(std::string text)>;
Normalizer read_normalizer(const JsonField& field);
/// The normalizer `Precompiled`: a table that SentencePiece made.
Normalizer read_charsmap(const JsonField& field);

// ---- pattern.cpp, spans.cpp -----------------------------------------------------------------------------------------

/// A part of a text, and whether it is a match.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool match = false;
};
/// The consecutive parts of a text, which cover all of it.
using Finder = std::function<std::vector<Span>(std::string_view text)>;
/// Finds a text, {"String": "..."}, or the matches of a regular expression, {"Regex": "..."}.
Finder read_pattern(const JsonField& field);
/// Finds the matches of a regular expression of the library's own.
Finder pattern_finder(std::string_view regex);
/// Finds single characters.
Finder character_finder(std::function<bool(char32_t)> is_match);

/// The treatment of matches.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
Behavior read_behavior(const JsonField& field, Behavior otherwise);
/// The spans that a text is split into; `match` says which are left out.
std::vector<Span> split_spans(std::vector<Span> found, Behavior behavior);

// ---- splitters.cpp --------------------------------------------------------------------------------------------------

/// A piece of a text, and whether it is its beginning.
struct Piece {
  std::string text;
  bool first = false;
};
using Pieces = std::vector<Piece>;
/// A piece -> several.
using Splitter = std::function<void(Piece piece, Pieces& pieces)>;
/// The field "pre_tokenizer".
Splitter read_splitter(const JsonField& field);

// ---- bpe_model.cpp, wordpiece.cpp, unigram.cpp ----------------------------------------------------------------------

/// Lets a map of std::string be asked for a std::string_view.
struct TextHash : std::hash<std::string_view> {
  using is_transparent = void;
};
using TokenIds = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

/// The tokens of a model, and the function that appends the ids of a word to others.
struct SubwordModel {
  std::shared_ptr<const TokenIds> ids;
  std::function<void(std::string_view word, std::vector<std::int64_t>& ids)> encode;
};
SubwordModel read_model(const JsonField& field);
SubwordModel read_bpe(const JsonField& field);
SubwordModel read_wordpiece(const JsonField& field);
SubwordModel read_unigram(const JsonField& field);
/// The object "vocab" of a model. Refuses an id that is given twice.
std::shared_ptr<const TokenIds> read_token_ids(const JsonField& vocab);
/// The id of the token that a field names, -1 for an empty one. Refuses a token that is not in the vocabulary.
std::int64_t named_id(const JsonField& field, const TokenIds& ids);
/// The ids of the tokens <0x00> to <0xFF>, -1 for one that is not there.
std::vector<std::int64_t> byte_ids(const TokenIds& ids);

// ---- token_decoders.cpp ---------------------------------------------------------------------------------------------

/// Tokens -> texts, one after the other.
using TokenDecoder = std::function<Tokens(Tokens tokens)>;
TokenDecoder read_decoder(const JsonField& field);

// ---- special_tokens.cpp ---------------------------------------------------------------------------------------------

/// A part of the model's input: a text, or a token beside it.
struct TemplatePart {
  int text = 0;         ///< 0 for the first, 1 for the second, -1 for a token
  std::int64_t id = 0;  ///< of the token
  std::int64_t segment = 0;
};
/// The model's input for one text, and for two.
struct Template {
  std::vector<TemplatePart> single = {{}};
  std::vector<TemplatePart> pair = {{}, {.text = 1, .segment = 1}};
};
/// The field "post_processor".
Template read_template(const JsonField& field);

/// A token that is found in the text before the model sees it.
struct AddedToken {
  std::int64_t id = 0;
  std::string content;
  std::string pattern;  ///< to look for
  bool single_word = false, lstrip = false, rstrip = false;
  bool normalized = false;  ///< whether it is looked for after the normalizer
  bool special = false;
};
/// An element of the field "added_tokens".
AddedToken read_added_token(const JsonField& field, const Normalizer& normalizer);

/// A part of a text: an added token, or the text between two.
struct Section {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t id = -1;  ///< of the token
};
/// The places of tokens in a text.
///
/// Threads: many may ask one object.
class TokenFinder {
 public:
  /// The tokens that are looked for after the normalizer, or the others.
  TokenFinder(const std::vector<AddedToken>& tokens, bool normalized);
  /// Where several tokens begin at one place, the longest is taken.
  std::vector<Section> sections(std::string_view text) const;

 private:
  std::vector<std::vector<AddedToken>> tokens_;  // by their first byte, the longest first
};

}  // namespace xgrad::kit
