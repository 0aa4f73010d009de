// The path of a text through the parts of tokenizer.json: see tokenizer_parts.h.
#include <xgrad/kit/text/published_tokenizer.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include <xgrad/core/files/json.h>
#include <xgrad/kit/text/tokenizer_parts.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

using Ids = std::vector<std::int64_t>;

/// The ids of a model, word by word; a word that was met before is not looked at again.
class WordEncoder {
 public:
  explicit WordEncoder(const SubwordModel& model) : model_(model) {}

  void put(std::string word, Ids& ids) {
    constexpr std::size_t longest = 64;  // longer ones hardly come twice
    if (word.size() > longest) {
      model_.encode(word, ids);
      return;
    }
    const auto [found, is_new] = known_.try_emplace(std::move(word));
    auto& [begin, end] = found->second;
    if (is_new) {
      begin = ids.size();
      model_.encode(found->first, ids);
      end = ids.size();
    } else {
      for (std::size_t i = begin; i < end; ++i) ids.push_back(ids[i]);
    }
  }

 private:
  const SubwordModel& model_;
  std::unordered_map<std::string, std::array<std::size_t, 2>> known_;  // where their ids stand
};

}  // namespace

struct PublishedTokenizer::Parts {
  Normalizer normalizer;
  Splitter splitter;
  SubwordModel model;
  TokenDecoder decoder;
  Template around;
  std::unordered_map<std::int64_t, std::string> tokens;   // by their ids, as they stand in the file
  std::unordered_map<std::int64_t, std::string> written;  // as a decoder takes them, where that is something else
  std::set<std::string, std::less<>> special;
  std::vector<AddedToken> added;  // which fills in the three above
  TokenFinder before, behind;     // the normalizer
  std::int64_t size = 0;

  explicit Parts(const JsonField& file)
      : normalizer(read_normalizer(file["normalizer"])),
        splitter(read_splitter(file["pre_tokenizer"])),
        model(read_model(file["model"])),
        decoder(read_decoder(file["decoder"])),
        around(read_template(file["post_processor"])),
        added(read_added(file["added_tokens"])),
        before(added, false),
        behind(added, true) {
    for (const auto& [id, token] : tokens) size = std::max(size, id + 1);
    for (const auto* parts : {&around.single, &around.pair}) {
      for (const TemplatePart& part : *parts) {
        if (part.text < 0 && !tokens.contains(part.id)) {
          file["post_processor"].refuse(cat("there is no token with id ", part.id));
        }
      }
    }
  }

  std::vector<AddedToken> read_added(const JsonField& list) {
    for (const auto& [token, id] : *model.ids) tokens.emplace(id, token);
    std::vector<AddedToken> all;
    if (list.empty()) return all;
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < list.list().size(); ++i) {
      const AddedToken token = read_added_token(list[i], normalizer);
      const std::string name = in_quotes(token.content);
      if (const auto own = model.ids->find(token.content); own != model.ids->end() && own->second != token.id) {
        list[i].refuse(cat("token ", name, " has id ", token.id, ", but ", own->second, " in the vocabulary"));
      }
      if (!seen.insert(token.id).second) list[i].refuse(cat("token ", name, " is given twice"));
      const auto [found, is_new] = tokens.emplace(token.id, token.content);
      if (!is_new && found->second != token.content) {
        list[i].refuse(cat("id ", token.id, " is given to ", in_quotes(found->second), " and to ", name));
      }
      if (token.pattern != token.content) written.emplace(token.id, token.pattern);
      if (token.special) special.insert(token.content);
      all.push_back(token);
    }
    return all;
  }

  Ids encode(std::string_view text) const {
    if (const std::size_t at = utf8_prefix(text); at < text.size()) {
      fail<ValueError>("encode", "the text is not UTF-8 at byte ", at);
    }
    Ids ids;
    WordEncoder words(model);
    for (const Section& section : before.sections(text)) {
      if (section.id >= 0) {
        ids.push_back(section.id);
        continue;
      }
      const std::string rest = normalizer(std::string(text.substr(section.begin, section.end - section.begin)));
      for (const Section& part : behind.sections(rest)) {
        if (part.id >= 0) {
          ids.push_back(part.id);
          continue;
        }
        Pieces pieces;
        splitter({rest.substr(part.begin, part.end - part.begin), section.begin + part.begin == 0}, pieces);
        for (Piece& piece : pieces) words.put(std::move(piece.text), ids);
      }
    }
    return ids;
  }
};

PublishedTokenizer::PublishedTokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

std::int64_t PublishedTokenizer::size() const { return parts_->size; }

Index PublishedTokenizer::encode(std::string_view text, SpecialTokens special) const {
  const Ids own = parts_->encode(text);
  if (special == SpecialTokens::without) return Index(own);
  Ids ids;
  for (const TemplatePart& part : parts_->around.single) {
    part.text < 0 ? ids.push_back(part.id) : (void)ids.insert(ids.end(), own.begin(), own.end());
  }
  return Index(ids);
}

EncodedPair PublishedTokenizer::encode_pair(std::string_view first, std::string_view second) const {
  const std::array texts{parts_->encode(first), parts_->encode(second)};
  Ids ids, segments;
  for (const TemplatePart& part : parts_->around.pair) {
    if (part.text < 0) {
      ids.push_back(part.id);
    } else {
      const Ids& text = texts[static_cast<std::size_t>(part.text)];
      ids.insert(ids.end(), text.begin(), text.end());
    }
    segments.resize(ids.size(), part.segment);
  }
  return {Index(ids), Index(segments)};
}

std::string PublishedTokenizer::decode(const Index& ids, SpecialTokens special) const {
  if (ids.rank() != 1) fail<ShapeError>("decode", "needs ids (N), got ", ids.shape());
  Tokens tokens;
  for (const std::int64_t id : ids) {
    const auto found = parts_->written.find(id);
    const std::string& text = found != parts_->written.end() ? found->second : token(id);
    if (special == SpecialTokens::with || !parts_->special.contains(text)) tokens.push_back(text);
  }
  std::string text;
  for (const std::string& part : parts_->decoder(std::move(tokens))) text += part;
  return text;
}

const std::string& PublishedTokenizer::token(std::int64_t id) const {
  const auto found = parts_->tokens.find(id);
  if (found == parts_->tokens.end()) fail<ValueError>("token", "there is no token with id ", id, " below ", size());
  return found->second;
}

std::int64_t PublishedTokenizer::id(std::string_view token) const {
  if (const auto found = parts_->model.ids->find(token); found != parts_->model.ids->end()) return found->second;
  for (const AddedToken& added : parts_->added) {
    if (added.content == token) return added.id;
  }
  fail<ValueError>("id", "there is no token ", in_quotes(token));
}

PublishedTokenizer load_tokenizer(const std::filesystem::path& path) {
  constexpr const char* op = "load_tokenizer";
  constexpr std::int64_t most = 100'000'000;
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::is_directory(path, ignored) ? path / "tokenizer.json" : path;
  const nlohmann::json document = xgrad::read_json(file.string(), op, most);
  return PublishedTokenizer(std::make_shared<const PublishedTokenizer::Parts>(JsonField(op, file, document)));
}

}  // namespace xgrad::kit
