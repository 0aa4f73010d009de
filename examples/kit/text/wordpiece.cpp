// WordPiece (Schuster, Nakajima: "Japanese and Korean voice search", 2012), as BERT has it: of a word the longest
// beginning that is a token is taken, then of the rest, whose tokens have a mark in front.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <algorithm>

#include <nlohmann/json.hpp>

namespace xgrad::kit {
namespace {

struct WordPieceModel {
  std::shared_ptr<const TokenIds> ids;
  std::int64_t unknown = -1;
  std::string prefix;
  std::int64_t most_characters = 0;  ///< a longer word is unknown
  std::size_t longest = 0;           ///< token, in bytes

  void operator()(std::string_view word, std::vector<std::int64_t>& to) const {
    const auto begins_character = [&](std::size_t at) {
      return at == word.size() || (static_cast<unsigned char>(word[at]) & 0xC0) != 0x80;
    };
    std::int64_t characters = 0;
    for (std::size_t i = 0; i < word.size(); ++i) characters += begins_character(i) ? 1 : 0;
    if (characters > most_characters) {
      to.push_back(unknown);
      return;
    }
    std::vector<std::int64_t> parts;
    std::string token;
    for (std::size_t at = 0; at < word.size();) {
      token = at > 0 ? prefix : "";
      const std::size_t mark = token.size();
      token += word.substr(at, longest);
      std::size_t length = token.size() - mark;
      const auto found = [&] { return begins_character(at + length) ? ids->find(token) : ids->end(); };
      auto entry = found();
      while (entry == ids->end() && length > 1) {
        token.resize(mark + --length);
        entry = found();
      }
      if (entry == ids->end()) {
        to.push_back(unknown);
        return;
      }
      parts.push_back(entry->second);
      at += length;
    }
    to.insert(to.end(), parts.begin(), parts.end());
  }
};

}  // namespace

SubwordModel read_wordpiece(const JsonField& field) {
  WordPieceModel model;
  model.ids = read_token_ids(field["vocab"]);
  if (field["unk_token"].empty()) field["unk_token"].refuse("expected a token, found nothing");
  model.unknown = named_id(field["unk_token"], *model.ids);
  model.prefix = field["continuing_subword_prefix"].text();
  model.most_characters = field["max_input_chars_per_word"].id();
  for (const auto& [token, id] : *model.ids) model.longest = std::max(model.longest, token.size());
  return {model.ids, model};
}

}  // namespace xgrad::kit
