// The files of byte-level BPE: vocab.json with merges.txt, and tokenizer.json. Everything in them is checked here, so
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
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

using Path = std::filesystem::path;
using Json = nlohmann::json;

constexpr const char* op = "BpeTokenizer::read";

/// A text of a file in quotes, short enough for a message.
std::string in_quotes(std::string_view text) { return '"' + fit_columns(text, 60) + '"'; }

/// The document in a file.
Json parse(const Path& path) {
  constexpr std::int64_t most = 100'000'000;
  return xgrad::read_json(path.string(), op, most);
}

/// One value of a document, with the way to it: `model.vocab`.
class JsonField {
 public:
  JsonField(const Path& path, std::string name, const Json* value)
      : path_(path), name_(std::move(name)), value_(value) {}

  /// What an object holds under this key, perhaps nothing.
  JsonField operator[](const std::string& key) const {
    require(value_ != nullptr && value_->is_object(), "an object");
    const auto found = value_->find(key);
    return {path_, name_.empty() ? key : name_ + "." + key, found == value_->end() ? nullptr : &*found};
  }
  /// An element of a list.
  JsonField operator[](std::size_t i) const { return {path_, cat(name_, "[", i, "]"), &(*value_)[i]}; }

  const Json& object() const { return require(value_ != nullptr && value_->is_object(), "an object"); }
  const Json& list() const { return require(value_ != nullptr && value_->is_array(), "a list"); }
  std::string text() const { return require(value_ != nullptr && value_->is_string(), "a text"); }
  bool truth() const { return require(value_ != nullptr && value_->is_boolean(), "true or false"); }
  std::int64_t id() const {
    require(value_ != nullptr && value_->is_number_unsigned() && *value_ <= std::uint64_t{1} << 31, "an id");
    return value_->get<std::int64_t>();
  }
  bool is_list() const { return value_ != nullptr && value_->is_array(); }
  bool empty() const { return value_ == nullptr || value_->is_null(); }

  /// Throws unless the value is this one.
  void require_is(const Json& wanted) const { require(value_ != nullptr && *value_ == wanted, wanted.dump()); }
  /// The same, where there may be none.
  void require_none_or(const Json& wanted) const {
    if (!empty()) require_is(wanted);
  }

  [[noreturn]] void refuse(std::string_view why) const {
    fail<FormatError>(op, path_.string(), ": ", name_.empty() ? "" : name_ + ": ", why);
  }

 private:
  const Json& require(bool holds, std::string_view wanted) const {
    if (!holds) refuse(cat("expected ", wanted, ", found ", value_ == nullptr ? "nothing" : shown(*value_)));
    return *value_;
  }

  const Path& path_;
  std::string name_;
  const Json* value_;
};

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

  /// A pair that is merged behind all that were added before. Returns why it cannot be, or "".
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

  void set_prefix_space(bool wanted) { parts_.prefix_space = wanted; }

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
  const JsonField field(vocab, "", &document);
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

BpeTokenizer BpeTokenizer::read_json(const Path& file) {
  const Json document = parse(file);
  const JsonField whole(file, "", &document);
  whole["normalizer"].require_none_or(nullptr);
  const JsonField words = whole["pre_tokenizer"], model = whole["model"];
  words["type"].require_is("ByteLevel");
  words["use_regex"].require_none_or(true);
  model["type"].require_none_or("BPE");
  for (const char* flag : {"byte_fallback", "ignore_merges"}) model[flag].require_none_or(false);
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) model[affix].require_none_or("");
  model["dropout"].require_none_or(0.0);

  Reader reader(model["vocab"]);
  if (const JsonField added = whole["added_tokens"]; !added.empty()) {
    for (std::size_t i = 0; i < added.list().size(); ++i) {
      const JsonField token = added[i];
      for (const char* flag : {"single_word", "lstrip", "rstrip"}) token[flag].require_none_or(false);
      reader.add_special(token, token["content"].text(), token["id"].id());
    }
  }
  const JsonField merges = model["merges"];
  for (std::size_t i = 0; i < merges.list().size(); ++i) {
    // A list of two texts, or as older versions write it one text with a space.
    const JsonField pair = merges[i];
    std::string left, right;
    if (pair.is_list() && pair.list().size() == 2) {
      left = pair[0].text();
      right = pair[1].text();
    } else {
      const std::string text = pair.text();
      const std::size_t space = text.find(' ');
      if (space == text.npos) pair.refuse("expected two tokens with a space between them, found " + in_quotes(text));
      left = text.substr(0, space);
      right = text.substr(space + 1);
    }
    const std::string why = reader.add_merge(left, right);
    if (!why.empty()) pair.refuse(why);
  }
  if (const JsonField prefix = words["add_prefix_space"]; !prefix.empty()) reader.set_prefix_space(prefix.truth());
  return reader.finish();
}

BpeTokenizer BpeTokenizer::read_folder(const Path& folder) {
  if (std::filesystem::exists(folder / "tokenizer.json")) return read_json(folder / "tokenizer.json");
  return read(folder / "vocab.json", folder / "merges.txt");
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
