// The files of byte-level BPE: vocab.json with merges.txt. Everything in them is checked here, so
// that the tokenizer can rely on it.
#include <xgrad/kit/text/tokenizer.h>

#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include <xgrad/core/files/json.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/byte_text.h>
#include <xgrad/kit/text/json_field.h>

namespace xgrad::kit {
namespace {

using Path = std::filesystem::path;
using Json = nlohmann::json;

constexpr const char* op = "BpeTokenizer::read";

/// The document in a file.
Json parse(const Path& path) {
  constexpr std::int64_t most = 100'000'000;
  return xgrad::read_json(path.string(), op, most);
}

}  // namespace

/// Puts the parts of a tokenizer together and checks that they belong together.
class BpeTokenizer::Reader {
 public:
  /// Tokens and their ids.
  explicit Reader(const JsonField& vocab) : vocab_(vocab) {
    for (const auto& [text, id] : vocab.object().items()) {
      if (!id.is_number_unsigned() || id > std::uint64_t{1} << 31) {
        vocab.refuse(cat("expected an id for ", in_quotes(text), ", found ", shown(id)));
      }
      add(vocab, text, id.get<std::int64_t>());
    }
  }

  /// A token that stands for its own text.
  void add_special(const JsonField& field, const std::string& text, std::int64_t id) {
    if (text.empty()) field.refuse("a special token is empty");
    if (const auto found = ids_.find(text); found == ids_.end()) {
      add(field, text, id);
    } else if (found->second != id) {
      field.refuse(cat("token ", in_quotes(text), " has id ", id, ", but ", found->second, " in the vocabulary"));
    }
    if (!special_.insert(id).second) field.refuse(cat("token ", in_quotes(text), " is given twice"));
    parts_.special.push_back(id);
  }
  /// The id of a token of the vocabulary, if there is one.
  std::optional<std::int64_t> id(const std::string& text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Adds a pair to merge after all added before. Returns why it cannot be merged, or "".
  std::string add_merge(const std::string& left, const std::string& right) {
    for (const std::string& text : {left, right, left + right}) {
      if (!id(text))
        return cat("merge of ", in_quotes(left), " and ", in_quotes(right), ": ", in_quotes(text),
                   " is not in the vocabulary");
    }
    const std::array pair{*id(left), *id(right)};
    if (!merged_.insert(pair).second)
      return cat("merge of ", in_quotes(left), " and ", in_quotes(right), " is given twice");
    parts_.merges.push_back(pair);
    parts_.results.push_back(*id(left + right));
    return "";
  }

  BpeTokenizer finish() {
    const std::int64_t size = std::ssize(texts_);
    if (size > 0 && texts_.rbegin()->first != size - 1) {
      std::int64_t left_out = 0;
      while (texts_.contains(left_out)) ++left_out;
      vocab_.refuse(cat(size, " tokens have ids up to ", texts_.rbegin()->first, ": id ", left_out, " is left out"));
    }
    std::array<bool, 256> seen{};
    for (const auto& [id, text] : texts_) {
      const bool special = special_.contains(id);
      const std::optional<std::string> bytes = special ? text : bytes_of_text(text);
      if (!bytes || bytes->empty())
        vocab_.refuse(cat("token ", in_quotes(text), " has a character that stands for no byte"));
      if (!special && bytes->size() == 1) seen[static_cast<unsigned char>((*bytes)[0])] = true;
      parts_.tokens.push_back(*bytes);
    }
    for (std::size_t byte = 0; byte < seen.size(); ++byte) {
      if (seen[byte]) continue;
      vocab_.refuse(
          cat("no token for byte ", byte, ", ", in_quotes(byte_text(std::string(1, static_cast<char>(byte))))));
    }
    return BpeTokenizer(std::move(parts_));
  }

 private:
  void add(const JsonField& field, const std::string& text, std::int64_t id) {
    const auto [found, is_new] = texts_.emplace(id, text);
    if (!is_new) field.refuse(cat("id ", id, " is given to ", in_quotes(found->second), " and to ", in_quotes(text)));
    ids_.emplace(text, id);
  }

  JsonField vocab_;
  std::map<std::int64_t, std::string> texts_;  // as they stand in the file
  std::unordered_map<std::string, std::int64_t> ids_;
  std::set<std::int64_t> special_;
  std::set<std::array<std::int64_t, 2>> merged_;
  Parts parts_;
};

BpeTokenizer BpeTokenizer::read(const Path& vocab, const Path& merges, const Options& options) {
  const Json document = parse(vocab);
  const JsonField field(op, vocab, document);
  Reader reader(field);
  for (const std::string& token : options.special) {
    const std::optional<std::int64_t> id = reader.id(token);
    if (!id) field.refuse(cat("the special token ", in_quotes(token), " is not in the vocabulary"));
    reader.add_special(field, token, *id);
  }
  std::size_t number = 0;
  for (const std::string& line : read_lines(merges)) {
    if (++number == 1 && line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos) {
      throw DataError(merges, number, "expected two tokens with a space between them, found " + in_quotes(line));
    }
    const std::string why = reader.add_merge(line.substr(0, space), line.substr(space + 1));
    if (!why.empty()) throw DataError(merges, number, why);
  }
  return reader.finish();
}

void BpeTokenizer::save(const Path& vocab, const Path& merges) const {
  const std::set<std::int64_t> special(parts_.special.begin(), parts_.special.end());
  const auto text = [&](std::int64_t id) { return special.contains(id) ? token(id) : byte_text(token(id)); };
  std::set<std::string> texts;
  std::string ids = "{";
  for (std::int64_t id = 0; id < size(); ++id) {
    if (!texts.insert(text(id)).second) {
      fail<ValueError>("BpeTokenizer::save", "two tokens are written as ", in_quotes(text(id)));
    }
    ids += (id == 0 ? "" : ",") + Json(text(id)).dump() + ":" + std::to_string(id);
  }
  std::string lines = "#version: 0.2\n";
  for (const auto& [left, right] : parts_.merges) lines += text(left) + " " + text(right) + "\n";
  save_text(vocab, ids + "}");
  save_text(merges, lines);
}

}  // namespace xgrad::kit
