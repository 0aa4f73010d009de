// Text from outside, made fit for pictures.
#include "characters.h"

#include <algorithm>
#include <array>

#include "../../base/text.h"

namespace xgrad::detail {
namespace {

// The length of the well-formed UTF-8 sequence at the beginning of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool outside = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  const bool no_character = lead == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
  return overlong || outside || no_character ? 0 : length;
}

// Thousandths of the font size, of the letters from the space to the tilde: each the wider one of Helvetica (as
// Liberation Sans has it) and of DejaVu Sans, which is the only font on many machines.
using Advances = std::array<short, 95>;
constexpr Advances regular_advances{318,  401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337,
                                    637,  637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557,
                                    1016, 685, 687, 723, 771, 667, 611, 778, 752, 295, 500, 667, 558, 863, 749, 788,
                                    667,  788, 723, 667, 611, 732, 685, 989, 686, 667, 686, 391, 337, 391, 838, 557,
                                    500,  613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
                                    635,  635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838};
constexpr Advances bold_advances{349,  457, 521, 838, 696, 1002, 873, 307,  458, 458, 523, 838, 380, 416,  380, 366,
                                 696,  696, 696, 696, 696, 696,  696, 696,  696, 696, 400, 400, 838, 838,  838, 611,
                                 1000, 774, 763, 734, 831, 684,  684, 821,  837, 373, 557, 775, 638, 996,  837, 851,
                                 733,  851, 771, 721, 683, 813,  774, 1104, 771, 725, 726, 458, 366, 458,  838, 557,
                                 500,  675, 716, 593, 716, 679,  436, 716,  712, 343, 343, 666, 343, 1042, 712, 688,
                                 716,  716, 494, 596, 479, 712,  652, 924,  646, 652, 583, 712, 366, 712,  838};

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 200;
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (is_plain && text.size() <= longest) return std::string(text);
  std::string result;
  while (!text.empty()) {
    if (result.size() > longest) return result + "\u2026";
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    if (first < 0x20 || first == 0x7F) {
      static constexpr char digits[] = "0123456789abcdef";
      append(result, first == '\n' ? "\\n" : cat("\\x", digits[first / 16], digits[first % 16]));
    } else {
      append(result, length == 0 ? std::string_view("\uFFFD") : text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string xml_escaped(std::string_view text) {
  const std::string shown = printable(text);
  if (shown.find_first_of("&<>\"'") == shown.npos) return shown;
  std::string result;
  for (const char c : shown) {
    append(result, c == '&'    ? "&amp;"
                   : c == '<'  ? "&lt;"
                   : c == '>'  ? "&gt;"
                   : c == '"'  ? "&quot;"
                   : c == '\'' ? "&#39;"
                               : std::string_view(&c, 1));
  }
  return result;
}

double text_width(std::string_view text, double size, FontWeight weight) {
  const Advances& advances = weight == FontWeight::bold ? bold_advances : regular_advances;
  int thousandths = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte <= '~') {
      thousandths += advances[byte - ' '];
    } else if (byte >= 0xC0) {  // the first byte tells the block: letters of the West, of Europe, and all others
      const int generous = byte < 0xC4 ? 850 : byte < 0xD4 ? 1000 : 1100;
      thousandths += weight == FontWeight::bold ? generous * 11 / 10 : generous;
    }
  }
  return size * thousandths / 1000;
}

}  // namespace xgrad::detail
