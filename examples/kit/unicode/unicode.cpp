// One strict decoder and Unicode's tables, both of utf8proc.
#include <xgrad/kit/unicode/unicode.h>

#include <utf8proc.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <new>

namespace xgrad::kit {
namespace {

constexpr char32_t replacement = U'\uFFFD';

std::string unicode_form(std::string_view text, int form) {
  utf8proc_uint8_t* result = nullptr;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t size =
      utf8proc_map(bytes, std::ssize(text), &result, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, std::free);
  if (size < 0) throw std::bad_alloc();  // the text is UTF-8: nothing else can go wrong
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(size)};
}

int columns_of(std::u32string_view text) {
  int sum = 0;
  for (const char32_t c : text) sum += utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
  return sum;
}

}  // namespace

DecodedCharacter decode_first(std::string_view text) {
  utf8proc_int32_t value = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, std::ssize(text), &value);
  if (length < 1) return {replacement, 0};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(length)};
}

std::size_t utf8_prefix(std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const std::size_t length = decode_first(text.substr(done)).length;
    if (length == 0) break;
    done += length;
  }
  return done;
}

void require_utf8(const char* op, std::string_view text) {
  if (const std::size_t at = utf8_prefix(text); at < text.size()) {
    fail<ValueError>(op, "the text is not UTF-8 at byte ", at);
  }
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const DecodedCharacter next = decode_first(text);
    characters.push_back(next.value);
    text.remove_prefix(std::max<std::size_t>(next.length, 1));
  }
  return characters;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char32_t c : text) {
    utf8proc_uint8_t buffer[4];
    const auto value = static_cast<utf8proc_int32_t>(c);
    const utf8proc_ssize_t length =
        utf8proc_encode_char(utf8proc_codepoint_valid(value) ? value : utf8proc_int32_t{replacement}, buffer);
    bytes.append(buffer, buffer + length);
  }
  return bytes;
}

std::string plain_spaces(std::string_view text) {
  std::u32string characters = decode_utf8(text);
  std::replace(characters.begin(), characters.end(), U'\u00A0', U' ');
  std::replace(characters.begin(), characters.end(), U'\u202F', U' ');
  return encode_utf8(characters);
}

int columns(std::string_view text) { return columns_of(decode_utf8(text)); }

std::string fit_columns(std::string_view text, int width) {
  std::u32string characters = decode_utf8(text);
  for (char32_t& c : characters) {
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) c = U' ';
  }
  if (columns_of(characters) <= width) return encode_utf8(characters);
  if (width <= 0) return "";
  std::size_t fitting = 0;
  int used = 1;  // the ellipsis
  while (used + columns_of({&characters[fitting], 1}) <= width) used += columns_of({&characters[fitting++], 1});
  return encode_utf8(characters.substr(0, fitting) + U'…');
}

std::string in_quotes(std::string_view text) { return '"' + fit_columns(text, 60) + '"'; }

bool is_space(char32_t c) { return (c >= 0x9 && c <= 0xD) || c == 0x85 || character_category(c)[0] == 'Z'; }

bool is_word_character(char32_t c) {
  const char kind = character_category(c)[0];
  return kind == 'L' || kind == 'M' || kind == 'N';
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
