// Unicode's tables are those of utf8proc.
#include <xgrad/kit/text/unicode.h>

#include <utf8proc.h>

#include <cctype>
#include <cstdlib>
#include <memory>
#include <new>

namespace xgrad::kit {
namespace {

std::string unicode_form(std::string_view text, int form) {
  utf8proc_uint8_t* result = nullptr;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size =
      utf8proc_map(bytes, std::ssize(text), &result, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, std::free);
  if (size < 0) throw std::bad_alloc();  // the text is UTF-8: nothing else can go wrong
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(size)};
}

}  // namespace

CharacterClass character_class(char32_t c) {
  if ((c >= 0x9 && c <= 0xD) || c == 0x85) return CharacterClass::space;
  if (c < 0x80) {  // the usual case
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return CharacterClass::letter;
    return c >= '0' && c <= '9' ? CharacterClass::number : c == ' ' ? CharacterClass::space : CharacterClass::other;
  }
  switch (character_category(c)[0]) {
    case 'L':
      return CharacterClass::letter;
    case 'M':
      return CharacterClass::mark;
    case 'N':
      return CharacterClass::number;
    case 'Z':
      return CharacterClass::space;
    default:
      return CharacterClass::other;
  }
}

std::string_view character_category(char32_t c) { return utf8proc_category_string(static_cast<utf8proc_int32_t>(c)); }

bool is_punctuation(char32_t c) {
  if (c < 0x80) return std::ispunct(static_cast<int>(c)) != 0;
  return character_category(c)[0] == 'P';
}

std::string composed_form(std::string_view text) { return unicode_form(text, UTF8PROC_COMPOSE); }

std::string decomposed_form(std::string_view text) { return unicode_form(text, UTF8PROC_DECOMPOSE); }

char32_t lower_case(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }

}  // namespace xgrad::kit
