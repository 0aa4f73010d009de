// SentencePiece's table of replacements: texts by their beginnings, in a double array (Yata, "Darts-clone").
#include <xgrad/kit/text/tokenizer_parts.h>

#include <cstring>
#include <optional>

#include <utf8proc.h>

#include <xgrad/kit/text/utf8.h>

namespace xgrad::kit {
namespace {

/// The bytes of a text in base64; nothing if it is none.
std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == digits.npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8));
  }
  return bytes;
}

class Charsmap {
 public:
  /// The size of the array in bytes, the array, and the replacements, each with a NUL behind it.
  static std::optional<Charsmap> from(const std::string& bytes) {
    std::uint32_t size = 0;
    if (bytes.size() < sizeof(size)) return std::nullopt;
    std::memcpy(&size, bytes.data(), sizeof(size));  // little-endian, as the machines are that this library is for
    if (size == 0 || size % 4 != 0 || size > bytes.size() - sizeof(size)) return std::nullopt;
    Charsmap map;
    map.units_.resize(size / 4);
    std::memcpy(map.units_.data(), bytes.data() + sizeof(size), size);
    map.replacements_ = bytes.substr(sizeof(size) + size);
    return is_utf8(map.replacements_) ? std::optional(map) : std::nullopt;
  }

  std::string operator()(const std::string& text) const {
    std::string result;
    utf8proc_int32_t state = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      // A sequence shown as one character: the table has entries for some of them.
      DecodedCharacter last = decode_first(std::string_view(text).substr(begin));
      std::size_t end = begin + last.length;
      while (end < text.size()) {
        const DecodedCharacter next = decode_first(std::string_view(text).substr(end));
        if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.value),
                                             static_cast<utf8proc_int32_t>(next.value), &state)) {
          break;
        }
        end += next.length;
        last = next;
      }
      put(std::string_view(text).substr(begin, end - begin), result);
      begin = end;
    }
    return result;
  }

 private:
  void put(std::string_view seen, std::string& result) const {
    constexpr std::size_t longest = 5;
    if (seen.size() <= longest) {
      if (const std::optional<std::string_view> replaced = find(seen)) {
        result += *replaced;
        return;
      }
    }
    while (!seen.empty()) {
      const std::string_view character = seen.substr(0, decode_first(seen).length);
      result += find(character).value_or(character);
      seen.remove_prefix(character.size());
    }
  }

  /// The replacement of the shortest beginning of a text that is in the table, as in the package.
  std::optional<std::string_view> find(std::string_view key) const {
    const auto offset = [](std::uint32_t unit) { return unit >> 10 << ((unit & 1U << 9) >> 6); };
    std::size_t place = offset(units_[0]);
    for (const char c : key) {
      const auto byte = static_cast<unsigned char>(c);
      place ^= byte;
      if (byte == 0 || place >= units_.size() || (units_[place] & (1U << 31 | 0xFF)) != byte) return std::nullopt;
      const bool has_leaf = (units_[place] >> 8 & 1) != 0;
      place ^= offset(units_[place]);
      if (!has_leaf) continue;
      const std::size_t at = place < units_.size() ? units_[place] & ~(1U << 31) : replacements_.size();
      if (at >= replacements_.size()) return std::nullopt;
      return std::string_view(replacements_).substr(at, replacements_.find('\0', at) - at);
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace

Normalizer read_charsmap(const JsonField& field) {
  const JsonField stored = field["precompiled_charsmap"];
  if (stored.empty() || stored.text().empty()) return [](std::string text) { return text; };
  const std::optional<std::string> bytes = from_base64(stored.text());
  if (!bytes) stored.refuse("is not base64");
  const std::optional<Charsmap> map = Charsmap::from(*bytes);
  if (!map) stored.refuse("is no table of SentencePiece");
  return [map = std::make_shared<const Charsmap>(*map)](const std::string& text) { return (*map)(text); };
}

}  // namespace xgrad::kit
