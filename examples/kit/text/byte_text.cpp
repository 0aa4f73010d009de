// A table for each direction.
#include <xgrad/kit/text/byte_text.h>

#include <array>

#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

constexpr std::array<char32_t, 256> characters = [] {
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
  for (std::size_t byte = 0; byte < 256; ++byte) table[characters[byte]] = static_cast<int>(byte);
  return table;
}();

}  // namespace

std::string byte_text(std::string_view bytes) {
  std::u32string text;
  for (const char byte : bytes) text += characters[static_cast<unsigned char>(byte)];
  return encode_utf8(text);
}

std::optional<std::string> bytes_of_text(std::string_view text) {
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

}  // namespace xgrad::kit
