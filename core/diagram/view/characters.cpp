// Untrusted text, made fit for pictures.
#include "characters.h"

#include <array>

#include "../../base/text.h"

namespace xgrad::detail {
namespace {

// Widths of the letters from the space to the tilde, in thousandths of the font size: each the wider one of Helvetica
// (as Liberation Sans has it) and of DejaVu Sans, which is the only font on many machines.
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
