// Normalizers, which change a text before it is split. Unicode's forms are those of utf8proc.
#include <xgrad/kit/text/tokenizer_parts.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include <utf8proc.h>
#include <nlohmann/json.hpp>

#include <xgrad/kit/text/unicode.h>
#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

std::string unicode_form(const std::string& text, int form) {
  utf8proc_uint8_t* result = nullptr;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size =
      utf8proc_map(bytes, std::ssize(text), &result, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, std::free);
  if (size < 0) throw std::bad_alloc();  // the text is UTF-8: nothing else can go wrong
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(size)};
}

std::string lowercase(const std::string& text) {
  std::u32string small;
  for (const char32_t c : decode_utf8(text)) {
    small += lower_case(c);
    if (c == U'\u0130') small += U'\u0307';  // the one letter whose small form is two characters
  }
  return encode_utf8(small);
}

std::string without(const std::string& text, const std::function<bool(char32_t)>& is_gone) {
  std::u32string characters = decode_utf8(text);
  std::erase_if(characters, is_gone);
  return encode_utf8(characters);
}

bool is_chinese(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  return within(0x4E00, 0x9FFF) || within(0x3400, 0x4DBF) || within(0x20000, 0x2A6DF) || within(0x2A700, 0x2B73F) ||
         within(0x2B740, 0x2B81F) || within(0x2B920, 0x2CEAF) || within(0xF900, 0xFAFF) || within(0x2F800, 0x2FA1F);
}

/// White space becomes spaces, controls and codes that are no characters go.
std::string cleaned(const std::string& text) {
  std::u32string kept;
  for (const char32_t c : decode_utf8(text)) {
    const std::string_view category = character_category(c);
    if (c == U'\t' || c == U'\n' || c == U'\r') {
      kept += U' ';
    } else if (c != 0xFFFD && category != "Cc" && category != "Cf" && category != "Co") {
      kept += character_class(c) == CharacterClass::space ? U' ' : c;
    }
  }
  return encode_utf8(kept);
}

std::string with_spaces_around_chinese(const std::string& text) {
  std::u32string spaced;
  for (const char32_t c : decode_utf8(text)) is_chinese(c) ? spaced += {U' ', c, U' '} : spaced += c;
  return encode_utf8(spaced);
}

Normalizer bert_normalizer(const JsonField& field) {
  const bool clean = field["clean_text"].truth(true), chinese = field["handle_chinese_chars"].truth(true);
  const bool small = field["lowercase"].truth(true), accents = !field["strip_accents"].truth(small);
  return [=](std::string text) {
    if (clean) text = cleaned(text);
    if (chinese) text = with_spaces_around_chinese(text);
    if (!accents) {
      text = without(unicode_form(text, UTF8PROC_DECOMPOSE), [](char32_t c) { return character_category(c) == "Mn"; });
    }
    return small ? lowercase(text) : text;
  };
}

Normalizer strip(bool left, bool right) {
  return [left, right](const std::string& text) {
    const std::u32string characters = decode_utf8(text);
    const auto is_space = [](char32_t c) { return character_class(c) == CharacterClass::space; };
    auto begin = characters.begin(), end = characters.end();
    if (left) begin = std::find_if_not(begin, end, is_space);
    while (right && end != begin && is_space(*(end - 1))) --end;
    return encode_utf8({begin, end});
  };
}

/// SentencePiece's own: some controls go, some characters become spaces.
std::string translator_form(const std::string& text) {
  std::u32string kept;
  for (const char32_t c : decode_utf8(text)) {
    if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F) continue;
    const bool space = c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                       c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    kept += space ? U' ' : c;
  }
  return encode_utf8(kept);
}

}  // namespace

Normalizer read_normalizer(const JsonField& field) {
  if (field.empty()) return [](std::string text) { return text; };
  const std::string type = field["type"].text();
  if (type == "Sequence") {
    const JsonField list = field["normalizers"];
    std::vector<Normalizer> steps;
    for (std::size_t i = 0; i < list.list().size(); ++i) steps.push_back(read_normalizer(list[i]));
    return [steps = std::move(steps)](std::string text) {
      for (const Normalizer& step : steps) text = step(std::move(text));
      return text;
    };
  }
  if (type == "Replace") {
    return [find = read_pattern(field["pattern"]), content = field["content"].text()](const std::string& text) {
      std::string replaced;
      for (const Span& span : find(text)) {
        replaced += span.match ? content : text.substr(span.begin, span.end - span.begin);
      }
      return replaced;
    };
  }
  if (type == "Prepend") {
    return [prefix = field["prepend"].text()](std::string text) { return text.empty() ? text : prefix + text; };
  }
  const auto form = [](int wanted) { return [wanted](const std::string& text) { return unicode_form(text, wanted); }; };
  if (type == "NFC") return form(UTF8PROC_COMPOSE);
  if (type == "NFD") return form(UTF8PROC_DECOMPOSE);
  if (type == "NFKC") return form(UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  if (type == "NFKD") return form(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  if (type == "Lowercase") return lowercase;
  if (type == "StripAccents") {
    return [](const std::string& text) {
      return without(text, [](char32_t c) { return character_class(c) == CharacterClass::mark; });
    };
  }
  if (type == "BertNormalizer") return bert_normalizer(field);
  if (type == "Strip") return strip(field["strip_left"].truth(), field["strip_right"].truth());
  if (type == "Nmt") return translator_form;
  if (type == "Precompiled") return read_charsmap(field);
  field["type"].refuse(cat(in_quotes(type), " is not supported"));
}

}  // namespace xgrad::kit
