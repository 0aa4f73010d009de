// Models of tokenizer.json: the choice among them, shared functions, and byte pair encoding, on bytes as in GPT-2 and
// Llama 3 or on characters as in SentencePiece.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <array>
#include <set>

#include <nlohmann/json.hpp>

#include <xgrad/core/files/json.h>
#include <xgrad/kit/text/merges.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

std::int64_t id_or_none(const TokenIds& ids, std::string_view token) {
  const auto found = ids.find(token);
  return found == ids.end() ? -1 : found->second;
}

/// The two tokens of a merge: a list of two texts, or as older versions write it one text with a space.
std::array<std::string, 2> merged_tokens(const JsonField& pair) {
  if (pair.is_list() && pair.list().size() == 2) return {pair[0].text(), pair[1].text()};
  const std::string text = pair.text();
  const std::size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos) {
    pair.refuse("expected two tokens with a space between them, found " + in_quotes(text));
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

class BpeModel {
 public:
  explicit BpeModel(const JsonField& field) : ids_(read_token_ids(field["vocab"])), bytes_(byte_ids(*ids_)) {
    if (const JsonField dropout = field["dropout"]; !dropout.empty()) dropout.require_is(0.0);
    unknown_ = named_id(field["unk_token"], *ids_);
    prefix_ = text_or_none(field["continuing_subword_prefix"]);
    suffix_ = text_or_none(field["end_of_word_suffix"]);
    fuse_ = field["fuse_unk"].truth(false);
    whole_words_ = field["ignore_merges"].truth(false);
    if (!field["byte_fallback"].truth(false)) bytes_.clear();
    const JsonField merges = field["merges"];
    for (std::size_t i = 0; i < merges.list().size(); ++i) {
      const auto [left, right] = merged_tokens(merges[i]);
      std::string result = left;
      result += right.starts_with(prefix_) ? right.substr(prefix_.size()) : right;
      const auto refuse = [&, &l = left, &r = right](std::string_view why) {
        merges[i].refuse(cat("merge of ", in_quotes(l), " and ", in_quotes(r), why));
      };
      std::array<std::int64_t, 3> three{};
      std::size_t next = 0;
      for (const std::string& token : {left, right, result}) {
        three[next] = id_or_none(*ids_, token);
        if (three[next++] < 0) refuse(cat(": ", in_quotes(token), " is not in the vocabulary"));
      }
      if (!merges_.add(three[0], three[1], three[2])) refuse(" is given twice");
    }
  }

  const std::shared_ptr<const TokenIds>& ids() const { return ids_; }

  void operator()(std::string_view word, std::vector<std::int64_t>& ids) const {
    if (whole_words_) {
      if (const std::int64_t id = id_or_none(*ids_, word); id >= 0) {
        ids.push_back(id);
        return;
      }
    }
    std::vector<std::int64_t> parts;
    std::int64_t waiting = -1;  // an unknown character, which may be one token with the next ones
    const auto put_waiting = [&] {
      if (waiting >= 0) parts.push_back(std::exchange(waiting, -1));
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t length = decode_first(word.substr(at)).length;
      std::string affixed;
      std::string_view character = word.substr(at, length);
      if ((at > 0 && !prefix_.empty()) || (at + length == word.size() && !suffix_.empty())) {
        affixed = cat(at > 0 ? prefix_ : "", character, at + length == word.size() ? suffix_ : "");
        character = affixed;
      }
      at += length;
      if (const std::int64_t id = id_or_none(*ids_, character); id >= 0) {
        put_waiting();
        parts.push_back(id);
      } else if (!put_bytes(character, parts)) {
        if (unknown_ < 0) {
          fail<ValueError>("encode", "the character ", in_quotes(character), " has no token, and none stands for it");
        }
        if (!fuse_) put_waiting();
        waiting = unknown_;
      }
    }
    put_waiting();
    merges_.apply(parts);
    ids.insert(ids.end(), parts.begin(), parts.end());
  }

 private:
  static std::string text_or_none(const JsonField& field) { return field.empty() ? "" : field.text(); }

  bool put_bytes(std::string_view character, std::vector<std::int64_t>& parts) const {
    if (bytes_.empty()) return false;
    const auto id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
    if (std::ranges::any_of(character, [&](char byte) { return id(byte) < 0; })) return false;
    for (const char byte : character) parts.push_back(id(byte));
    return true;
  }

  std::shared_ptr<const TokenIds> ids_;
  std::vector<std::int64_t> bytes_;
  Merges merges_;
  std::int64_t unknown_ = -1;
  std::string prefix_, suffix_;
  bool fuse_ = false;
  bool whole_words_ = false;
};

}  // namespace

std::shared_ptr<const TokenIds> read_token_ids(const JsonField& vocab) {
  TokenIds ids;
  std::unordered_map<std::int64_t, std::string_view> tokens;
  for (const auto& [token, id] : vocab.object().items()) {
    if (!id.is_number_unsigned() || id > std::uint64_t{1} << 31) {
      vocab.refuse(cat("expected an id for ", in_quotes(token), ", found ", shown(id)));
    }
    const auto number = id.get<std::int64_t>();
    const auto found = ids.emplace(token, number).first;
    const auto [other, is_new] = tokens.emplace(number, found->first);
    if (!is_new) {
      vocab.refuse(cat("id ", number, " is given to ", in_quotes(other->second), " and to ", in_quotes(token)));
    }
  }
  return std::make_shared<const TokenIds>(std::move(ids));
}

std::int64_t named_id(const JsonField& field, const TokenIds& ids) {
  if (field.empty()) return -1;
  const std::int64_t id = id_or_none(ids, field.text());
  if (id < 0) field.refuse(cat(in_quotes(field.text()), " is not in the vocabulary"));
  return id;
}

std::vector<std::int64_t> byte_ids(const TokenIds& ids) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::vector<std::int64_t> bytes;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    bytes.push_back(id_or_none(ids, cat("<0x", digits[byte / 16], digits[byte % 16], ">")));
  }
  return bytes;
}

SubwordModel read_bpe(const JsonField& field) {
  const auto model = std::make_shared<const BpeModel>(field);
  return {model->ids(), [model](std::string_view word, std::vector<std::int64_t>& ids) { (*model)(word, ids); }};
}

SubwordModel read_model(const JsonField& field) {
  // Files of the package's first versions do not say which model they have.
  const JsonField named = field["type"];
  const std::string type = !named.empty()                               ? named.text()
                           : !field["merges"].empty()                   ? "BPE"
                           : field["vocab"].is_list()                   ? "Unigram"
                           : !field["max_input_chars_per_word"].empty() ? "WordPiece"
                                                                        : "";
  if (type == "BPE") return read_bpe(field);
  if (type == "WordPiece") return read_wordpiece(field);
  if (type == "Unigram") return read_unigram(field);
  named.refuse(cat(in_quotes(type), " is not supported"));
}

}  // namespace xgrad::kit
