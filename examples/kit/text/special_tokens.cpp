// Tokens beside those of the model: found in the text, and put around it.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include <xgrad/kit/text/unicode.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

// ---- Around the text ------------------------------------------------------------------------------------------------

std::vector<TemplatePart> template_parts(const JsonField& list, const JsonField& tokens) {
  std::vector<TemplatePart> parts;
  for (std::size_t i = 0; i < list.list().size(); ++i) {
    if (const JsonField text = list[i]["Sequence"]; !text.empty()) {
      const std::string name = text["id"].text();
      if (name != "A" && name != "B") text["id"].refuse(cat("expected A or B, found ", in_quotes(name)));
      parts.push_back({.text = name == "A" ? 0 : 1, .segment = text["type_id"].id()});
      continue;
    }
    const JsonField token = list[i]["SpecialToken"];
    const JsonField ids = tokens[token["id"].text()]["ids"];
    for (std::size_t k = 0; k < ids.list().size(); ++k) {
      parts.push_back({.text = -1, .id = ids[k].id(), .segment = token["type_id"].id()});
    }
  }
  return parts;
}

Template template_of_bert(const JsonField& field, bool roberta) {
  const auto token = [&](const char* name, std::int64_t segment) {
    const JsonField entry = field[name];
    if (entry.list().size() != 2) entry.refuse("expected a token and its id");
    return TemplatePart{.text = -1, .id = entry[1].id(), .segment = segment};
  };
  const std::int64_t second = roberta ? 0 : 1;
  Template made;
  made.single = {token("cls", 0), {}, token("sep", 0)};
  made.pair = made.single;
  if (roberta) made.pair.push_back(token("sep", 0));
  made.pair.push_back({.text = 1, .segment = second});
  made.pair.push_back(token("sep", second));
  return made;
}

void require_texts(const JsonField& field, const std::vector<TemplatePart>& parts, int texts) {
  for (int text = 0; text < 2; ++text) {
    if (std::ranges::count(parts, text, &TemplatePart::text) != (text < texts ? 1 : 0)) {
      field.refuse(cat("expected ", texts == 1 ? "A once" : "A and B once each"));
    }
  }
}

// ---- In the text ----------------------------------------------------------------------------------------------------

bool is_space_at(const DecodedCharacter& c) {
  return c.length > 0 && character_class(c.value) == CharacterClass::space;
}

/// As \w of Rust's regular expressions, but for a few symbols that are letters elsewhere.
bool is_word(char32_t c) {
  const std::string_view category = character_category(c);
  return category[0] == 'L' || category[0] == 'M' || category == "Nd" || category == "Nl" || category == "Pc" ||
         c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

/// The character that ends at a byte, and how long it is.
DecodedCharacter last_before(std::string_view text, std::size_t end) {
  std::size_t at = end;
  while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xC0) == 0x80) {
  }
  return at < end ? decode_first(text.substr(at, end - at)) : DecodedCharacter{};
}

DecodedCharacter first_behind(std::string_view text, std::size_t begin) {
  return begin < text.size() ? decode_first(text.substr(begin)) : DecodedCharacter{};
}

}  // namespace

Template read_template(const JsonField& field) {
  if (field.empty()) return {};
  const std::string type = field["type"].text();
  if (type == "ByteLevel") return {};  // places in the text alone
  if (type == "Sequence") {
    const JsonField list = field["processors"];
    Template made;
    bool is_made = false;
    for (std::size_t i = 0; i < list.list().size(); ++i) {
      if (list[i]["type"].text() == "ByteLevel") continue;
      if (is_made) list[i].refuse("two templates are not supported");
      made = read_template(list[i]);
      is_made = true;
    }
    return made;
  }
  if (type == "BertProcessing") return template_of_bert(field, false);
  if (type == "RobertaProcessing") return template_of_bert(field, true);
  if (type != "TemplateProcessing") field["type"].refuse(cat(in_quotes(type), " is not supported"));
  const JsonField tokens = field["special_tokens"];
  const Template made{.single = template_parts(field["single"], tokens), .pair = template_parts(field["pair"], tokens)};
  require_texts(field["single"], made.single, 1);
  require_texts(field["pair"], made.pair, 2);
  return made;
}

AddedToken read_added_token(const JsonField& field, const Normalizer& normalizer) {
  AddedToken token;
  token.id = field["id"].id();
  token.content = field["content"].text();
  if (token.content.empty()) field.refuse("an added token is empty");
  token.single_word = field["single_word"].truth(false);
  token.lstrip = field["lstrip"].truth(false);
  token.rstrip = field["rstrip"].truth(false);
  token.special = field["special"].truth(false);
  token.normalized = field["normalized"].truth(!token.special);
  token.pattern = token.normalized ? normalizer(token.content) : token.content;
  return token;
}

TokenFinder::TokenFinder(const std::vector<AddedToken>& tokens, bool normalized) : tokens_(256) {
  for (const AddedToken& token : tokens) {
    if (token.normalized != normalized || token.pattern.empty()) continue;
    tokens_[static_cast<unsigned char>(token.pattern[0])].push_back(token);
  }
  for (std::vector<AddedToken>& some : tokens_) {
    std::ranges::stable_sort(some, std::greater<>(), [](const AddedToken& token) { return token.pattern.size(); });
  }
}

std::vector<Section> TokenFinder::sections(std::string_view text) const {
  std::vector<Section> sections;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::vector<AddedToken>& candidates = tokens_[static_cast<unsigned char>(text[at])];
    const auto token = std::ranges::find_if(
        candidates, [&](const AddedToken& one) { return text.substr(at).starts_with(one.pattern); });
    if (token == candidates.end()) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at += token->pattern.size();
    if (token->single_word) {
      const DecodedCharacter before = last_before(text, begin), behind = first_behind(text, end);
      if ((before.length > 0 && is_word(before.value)) || (behind.length > 0 && is_word(behind.value))) continue;
    }
    if (token->lstrip) {
      for (DecodedCharacter c; is_space_at(c = last_before(text, begin));) begin -= c.length;
      begin = std::max(begin, done);
    }
    if (token->rstrip) {
      for (DecodedCharacter c; is_space_at(c = first_behind(text, end));) end += c.length;
    }
    if (done < begin) sections.push_back({done, begin});
    sections.push_back({begin, end, token->id});
    done = end;
  }
  if (done < text.size()) sections.push_back({done, text.size()});
  return sections;
}

}  // namespace xgrad::kit
