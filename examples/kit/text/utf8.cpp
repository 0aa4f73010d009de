// One strict decoder, and functions on top of it.
#include <xgrad/kit/text/utf8.h>

#include <algorithm>

namespace xgrad::kit {
namespace {

constexpr char32_t replacement = U'\uFFFD';

bool is_scalar(char32_t value) { return value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF); }

/// Ranges of zero and of double width, enough for the scripts that a terminal font has.
int columns(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return first <= c && c <= last; };
  if (within(0x300, 0x36F) || within(0x200B, 0x200F) || within(0x20D0, 0x20FF) || within(0xFE00, 0xFE0F)) return 0;
  const bool wide = within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) ||
                    within(0xF900, 0xFAFF) || within(0xFE30, 0xFE6F) || within(0xFF00, 0xFF60) ||
                    within(0xFFE0, 0xFFE6) || within(0x1F300, 0x1F64F) || within(0x1F900, 0x1F9FF) ||
                    within(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

}  // namespace

DecodedCharacter decode_first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {replacement, 0};
  char32_t value = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {replacement, 0};
    value = value << 6 | (byte(i) & 0x3F);
  }
  const char32_t smallest = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  return value >= smallest && is_scalar(value) ? DecodedCharacter{value, length} : DecodedCharacter{replacement, 0};
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

bool is_utf8(std::string_view text) { return utf8_prefix(text) == text.size(); }

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
  for (char32_t c : text) {
    if (!is_scalar(c)) c = replacement;
    const auto tail = [c](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) {
      bytes += static_cast<char>(c);
    } else if (c < 0x800) {
      bytes += {static_cast<char>(0xC0 | c >> 6), tail(0)};
    } else if (c < 0x10000) {
      bytes += {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
    } else {
      bytes += {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
    }
  }
  return bytes;
}

int columns(std::u32string_view text) {
  int sum = 0;
  for (const char32_t c : text) sum += columns(c);
  return sum;
}

int columns(std::string_view text) { return columns(decode_utf8(text)); }

std::string fit_columns(std::string_view text, int width) {
  std::u32string characters = decode_utf8(text);
  for (char32_t& c : characters) {
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) c = U' ';
  }
  if (columns(characters) <= width) return encode_utf8(characters);
  if (width <= 0) return "";
  std::size_t kept = 0;
  int used = 1;  // the ellipsis
  while (used + columns(characters[kept]) <= width) used += columns(characters[kept++]);
  return encode_utf8(characters.substr(0, kept) + U'…');
}

std::string in_quotes(std::string_view text) { return '"' + fit_columns(text, 60) + '"'; }

}  // namespace xgrad::kit
