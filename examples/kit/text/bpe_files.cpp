// The files of byte-level BPE: vocab.json with merges.txt, and tokenizer.json. Everything in them is checked here, so
// that the tokenizer can rely on it.
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/text/tokenizer.h>

#include <array>
#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include <xgrad/core/files/json.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/pattern.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

using Path = std::filesystem::path;
using Json = nlohmann::json;

constexpr const char* op = "BpeTokenizer::read";
constexpr std::int64_t most_bytes = 100'000'000;  // of JSON

// How files write bytes, and the way back.
constexpr std::array<char32_t, 256> byte_characters = [] {
  std::array<char32_t, 256> table{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool seen = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    table[byte] = seen ? byte : next++;
  }
  return table;
}();

constexpr std::array<int, 0x144> bytes_by_character = [] {
  std::array<int, 0x144> table{};
  table.fill(-1);
  for (std::size_t byte = 0; byte < 256; ++byte) table[byte_characters[byte]] = static_cast<int>(byte);
  return table;
}();

/// A value of a document, null for none, with its way for messages: `model.vocab`. Path and document outlive it.
class Entry {
 public:
  Entry(const Path& path, const Json& value, std::string name = "")
      : path_(&path), value_(&value), name_(std::move(name)) {}

  Entry operator[](const std::string& key) const {
    static const Json none;
    const auto found = object().find(key);
    return {*path_, found == object().end() ? none : *found, name_.empty() ? key : name_ + "." + key};
  }
  Entry operator[](std::size_t i) const { return {*path_, value_->at(i), str(name_, "[", i, "]")}; }

  bool empty() const { return value_->is_null(); }
  bool is_list() const { return value_->is_array(); }
  std::size_t size() const { return require(is_list(), "a list").size(); }
  const Json& object() const { return require(value_->is_object(), "an object"); }
  std::string text() const { return require(value_->is_string(), "a text").get<std::string>(); }
  std::int64_t id() const {
    const bool holds = value_->is_number_unsigned() && *value_ <= std::uint64_t{1} << 31;
    return require(holds, "an id").get<std::int64_t>();
  }
  bool boolean(bool otherwise) const {
    return empty() ? otherwise : require(value_->is_boolean(), "true or false").get<bool>();
  }

  /// Throws unless the value is one that is read; `otherwise` is the value of a part that is left out.
  void require_is(const Json& wanted, const Json& otherwise = {}) const {
    const Json& found = empty() ? otherwise : *value_;
    if (found != wanted) refuse(str(shown(found), " is not supported"));
  }
  /// Throws unless the part is of the one kind that is read.
  void require_type(const char* wanted) const {
    const Entry type = (*this)["type"];
    if (type.text() != wanted) type.refuse(in_quotes(type.text()) + " is not supported");
  }
  [[noreturn]] void refuse(std::string_view why) const {
    fail<FormatError>(op, path_->string(), ": ", name_.empty() ? "" : name_ + ": ", why);
  }

 private:
  const Json& require(bool holds, std::string_view wanted) const {
    if (!holds) refuse(str("expected ", wanted, ", found ", empty() ? "nothing" : shown(*value_)));
    return *value_;
  }

  const Path* path_;
  const Json* value_;
  std::string name_;
};

constexpr const char* two_tokens = "expected two tokens with a space between them, found ";

/// The two tokens of a line, if there are two.
std::optional<std::array<std::string, 2>> split_in_two(const std::string& line) {
  const std::size_t space = line.find(' ');
  if (space == line.npos || line.find(' ', space + 1) != line.npos) return std::nullopt;
  return std::array{line.substr(0, space), line.substr(space + 1)};
}

/// The two tokens of a merge in tokenizer.json: a list of two texts, or as older versions write it one text.
std::array<std::string, 2> merged_tokens(const Entry& merge) {
  if (merge.is_list() && merge.size() == 2) return {merge[0].text(), merge[1].text()};
  const auto pair = split_in_two(merge.text());
  if (!pair) merge.refuse(two_tokens + in_quotes(merge.text()));
  return *pair;
}

/// The pattern that splits a text into words, before bytes are written as characters.
std::shared_ptr<const Pattern> read_pattern(const Entry& part) {
  const auto require_bytes = [](const Entry& bytes, bool split) {
    bytes.require_type("ByteLevel");
    bytes["add_prefix_space"].require_is(false, true);
    bytes["use_regex"].require_is(split, true);
  };
  if (part["type"].text() != "Sequence") {
    require_bytes(part, true);
    return std::make_shared<const Pattern>(gpt2_pattern);
  }
  const Entry steps = part["pretokenizers"];
  if (steps.size() != 2) steps.refuse(str("expected Split and ByteLevel, found ", steps.size(), " steps"));
  steps[0].require_type("Split");
  steps[0]["behavior"].require_is("Isolated");
  steps[0]["invert"].require_is(false, false);
  require_bytes(steps[1], false);
  const Entry expression = steps[0]["pattern"]["Regex"];
  try {
    return std::make_shared<const Pattern>(expression.text());
  } catch (const ValueError& error) {
    expression.refuse(error.what());
  }
}

}  // namespace

std::string detail::byte_text(std::string_view bytes) {
  std::u32string text;
  for (const char byte : bytes) text += byte_characters[static_cast<unsigned char>(byte)];
  return encode_utf8(text);
}

std::optional<std::string> detail::bytes_of_text(std::string_view text) {
  std::string bytes;
  for (const char32_t c : decode_utf8(text)) {
    if (c < bytes_by_character.size() && bytes_by_character[c] >= 0) {
      bytes += static_cast<char>(bytes_by_character[c]);
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

/// Puts the parts of a tokenizer together and checks that they belong together.
class BpeTokenizer::Reader {
 public:
  /// Tokens and their ids.
  explicit Reader(const Entry& vocab) {
    for (const auto& [text, id] : vocab.object().items()) {
      if (!id.is_number_unsigned() || id > std::uint64_t{1} << 31) {
        vocab.refuse(str("expected an id for ", in_quotes(text), ", found ", shown(id)));
      }
      add(vocab, text, id.get<std::int64_t>());
    }
  }

  /// A token that stands for its own text.
  void add_special(const Entry& entry, const std::string& text, std::int64_t id) {
    if (text.empty()) entry.refuse("a special token is empty");
    if (const auto found = ids_.find(text); found == ids_.end()) {
      add(entry, text, id);
    } else if (found->second != id) {
      entry.refuse(str("token ", in_quotes(text), " has id ", id, ", but ", found->second, " in the vocabulary"));
    }
    if (!special_.insert(id).second) entry.refuse(str("token ", in_quotes(text), " is given twice"));
    parts_.special.push_back(id);
  }
  /// An element of `added_tokens`.
  void add_special(const Entry& entry) {
    for (const char* flag : {"single_word", "lstrip", "rstrip"}) entry[flag].require_is(false, false);
    if (parts_.composes) entry["normalized"].require_is(false, !entry["special"].boolean(false));
    add_special(entry, entry["content"].text(), entry["id"].id());
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
        return str("merge of ", in_quotes(left), " and ", in_quotes(right), ": ", in_quotes(text),
                   " is not in the vocabulary");
    }
    const std::array pair{*id(left), *id(right)};
    if (!merged_.insert(pair).second)
      return str("merge of ", in_quotes(left), " and ", in_quotes(right), " is given twice");
    parts_.merges.push_back(pair);
    parts_.results.push_back(*id(left + right));
    return "";
  }

  /// The parts of tokenizer.json around the vocabulary. Throws for all that byte-level BPE does not need.
  void read_parts(const Entry& file) {
    const Entry model = file["model"];
    model["dropout"].require_is(0.0, 0.0);
    model["continuing_subword_prefix"].require_is("", "");
    model["end_of_word_suffix"].require_is("", "");
    parts_.whole_words = model["ignore_merges"].boolean(false);
    if (!file["decoder"].empty()) file["decoder"].require_type("ByteLevel");
    if (const Entry normalizer = file["normalizer"]; !normalizer.empty()) {
      normalizer.require_type("NFC");
      parts_.composes = true;
    }
    parts_.pattern = read_pattern(file["pre_tokenizer"]);
    if (const Entry added = file["added_tokens"]; !added.empty()) {
      for (std::size_t i = 0; i < added.size(); ++i) add_special(added[i]);
    }
    read_start(file["post_processor"]);
    const Entry merges = model["merges"];
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const auto [left, right] = merged_tokens(merges[i]);
      if (const std::string why = add_merge(left, right); !why.empty()) merges[i].refuse(why);
    }
  }

  /// `vocab` is for errors.
  BpeTokenizer finish(const Entry& vocab) {
    const std::int64_t size = std::ssize(texts_);
    if (size > 0 && texts_.rbegin()->first != size - 1) {
      std::int64_t left_out = 0;
      while (texts_.contains(left_out)) ++left_out;
      vocab.refuse(str(size, " tokens have ids up to ", texts_.rbegin()->first, ": id ", left_out, " is left out"));
    }
    std::array<bool, 256> seen{};
    for (const auto& [id, text] : texts_) {
      const bool special = special_.contains(id);
      const std::optional<std::string> bytes = special ? text : detail::bytes_of_text(text);
      if (!bytes || bytes->empty())
        vocab.refuse(str("token ", in_quotes(text), " has a character that stands for no byte"));
      if (!special && bytes->size() == 1) seen[static_cast<unsigned char>((*bytes)[0])] = true;
      parts_.tokens.push_back(*bytes);
    }
    for (std::size_t byte = 0; byte < seen.size(); ++byte) {
      if (seen[byte]) continue;
      vocab.refuse(
          str("no token for byte ", byte, ", ", in_quotes(detail::byte_text(std::string(1, static_cast<char>(byte))))));
    }
    return BpeTokenizer(std::move(parts_));
  }

 private:
  void add(const Entry& entry, const std::string& text, std::int64_t id) {
    const auto [found, is_new] = texts_.emplace(id, text);
    if (!is_new) entry.refuse(str("id ", id, " is given to ", in_quotes(found->second), " and to ", in_quotes(text)));
    ids_.emplace(text, id);
  }

  /// The tokens that `post_processor` puts before a text.
  void read_start(const Entry& part) {
    if (part.empty() || part["type"].text() == "ByteLevel") return;  // which changes places in the text alone
    if (part["type"].text() == "Sequence") {
      const Entry steps = part["processors"];
      for (std::size_t i = 0; i < steps.size(); ++i) read_start(steps[i]);
      return;
    }
    part.require_type("TemplateProcessing");
    const Entry single = part["single"];
    for (std::size_t i = 0; i < single.size(); ++i) {
      const bool last = i + 1 == single.size();
      const Entry token = single[i]["SpecialToken"];
      if (token.empty() != last) single.refuse("tokens are supported before the text alone");
      if (last) continue;
      const std::optional<std::int64_t> found = id(token["id"].text());
      if (!found) token["id"].refuse(in_quotes(token["id"].text()) + " is not in the vocabulary");
      parts_.start.push_back(*found);
    }
  }

  std::map<std::int64_t, std::string> texts_;  // as they stand in the file
  std::unordered_map<std::string, std::int64_t> ids_;
  std::set<std::int64_t> special_;
  std::set<std::array<std::int64_t, 2>> merged_;
  Parts parts_;
};

BpeTokenizer BpeTokenizer::read(const Path& path) {
  std::error_code ignored;
  const Path json = std::filesystem::is_directory(path, ignored) ? path / "tokenizer.json" : path;
  const Json document = read_json(json.string(), op, most_bytes);
  const Entry file(json, document), model = file["model"];
  // Files of the package's first versions do not say which model they have.
  if (!model["type"].empty() || model["merges"].empty()) model.require_type("BPE");
  Reader reader(model["vocab"]);
  reader.read_parts(file);
  return reader.finish(model["vocab"]);
}

BpeTokenizer BpeTokenizer::read(const Path& vocab, const Path& merges, const Options& options) {
  const Json document = read_json(vocab.string(), op, most_bytes);
  const Entry entry(vocab, document);
  Reader reader(entry);
  for (const std::string& token : options.special) {
    const std::optional<std::int64_t> id = reader.id(token);
    if (!id) entry.refuse(str("the special token ", in_quotes(token), " is not in the vocabulary"));
    reader.add_special(entry, token, *id);
  }
  std::size_t number = 0;
  for (const std::string& line : read_lines(merges)) {
    if (++number == 1 && line.starts_with("#version")) continue;
    const auto pair = split_in_two(line);
    if (!pair) throw DataError(merges, number, two_tokens + in_quotes(line));
    const std::string why = reader.add_merge((*pair)[0], (*pair)[1]);
    if (!why.empty()) throw DataError(merges, number, why);
  }
  return reader.finish(entry);
}

void BpeTokenizer::save(const Path& vocab, const Path& merges) const {
  if (parts_.pattern->expression() != gpt2_pattern || parts_.composes || parts_.whole_words || !parts_.start.empty()) {
    fail<ValueError>("BpeTokenizer::save", "the two files hold tokenizers like that of GPT-2 alone");
  }
  const std::set<std::int64_t> special(parts_.special.begin(), parts_.special.end());
  const auto text = [&](std::int64_t id) { return special.contains(id) ? token(id) : detail::byte_text(token(id)); };
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
