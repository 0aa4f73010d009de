// In place of the kit's unicode.cpp where programs are compiled for browsers, without utf8proc: what text.cpp calls of
// it, for text that is UTF-8, as that of JSON is.
#include <xgrad/kit/unicode/unicode.h>

#include <cwctype>

namespace xgrad::kit {

std::u32string decode_utf8(std::string_view text) {
  std::u32string characters;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x80) {
      characters.push_back(byte);
    } else if (byte >= 0xC0) {
      characters.push_back(byte & (byte < 0xE0 ? 0x1F : byte < 0xF0 ? 0x0F : 0x07));
    } else {
      characters.back() = characters.back() << 6 | (byte & 0x3F);
    }
  }
  return characters;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  for (const char32_t c : text) {
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static constexpr unsigned first[]{0, 0xC0, 0xE0, 0xF0};
    bytes += static_cast<char>(first[more] | c >> 6 * more);
    for (int i = more - 1; i >= 0; --i) bytes += static_cast<char>(0x80 | (c >> 6 * i & 0x3F));
  }
  return bytes;
}

std::string plain_spaces(std::string_view text) {
  std::u32string characters = decode_utf8(text);
  for (char32_t& c : characters) {
    if (c == U'\u00A0' || c == U'\u202F') c = U' ';
  }
  return encode_utf8(characters);
}

char32_t lower_case(char32_t c) { return static_cast<char32_t>(std::towlower(static_cast<std::wint_t>(c))); }

}  // namespace xgrad::kit
