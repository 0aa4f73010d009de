// Labels of diagrams.
#include "labels.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "../../base/text.h"

namespace xgrad::detail {

// ---- Letters --------------------------------------------------------------------------------------------------------

double text_width(std::string_view text, double size, FontWeight weight) {
  // Widths of the letters from the space to the tilde, in thousandths of the font size: each the wider one of Helvetica
  // (as Liberation Sans has it) and of DejaVu Sans, which is the only font on many machines.
  static constexpr std::array<short, 95> regular{
      318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361,  318, 337, 637, 637, 637,
      637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 557, 1016, 685, 687, 723, 771, 667,
      611, 778, 752, 295, 500, 667, 558, 863, 749, 788, 667, 788, 723, 667,  611, 732, 685, 989, 686,
      667, 686, 391, 337, 391, 838, 557, 500, 613, 635, 550, 635, 616, 353,  635, 634, 278, 278, 580,
      278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592,  525, 637, 337, 637, 838};
  static constexpr std::array<short, 95> bold{
      349, 457,  521, 838, 696, 1002, 873, 307, 458, 458, 523, 838, 380, 416,  380, 366, 696, 696,  696,
      696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 611, 1000, 774, 763, 734, 831,  684,
      684, 821,  837, 373, 557, 775,  638, 996, 837, 851, 733, 851, 771, 721,  683, 813, 774, 1104, 771,
      725, 726,  458, 366, 458, 838,  557, 500, 675, 716, 593, 716, 679, 436,  716, 712, 343, 343,  666,
      343, 1042, 712, 688, 716, 716,  494, 596, 479, 712, 652, 924, 646, 652,  583, 712, 366, 712,  838};
  const std::array<short, 95>& advances = weight == FontWeight::bold ? bold : regular;
  int thousandths = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte <= '~') {
      thousandths += advances[byte - ' '];
    } else if (byte >= 0xC0 && byte != 0xCC) {
      // The first byte tells the block: letters of the West, of Europe, and all others; marks on a letter have no
      // width.
      const int generous = byte < 0xC4 ? 850 : byte < 0xD4 ? 1000 : 1100;
      thousandths += weight == FontWeight::bold ? generous * 11 / 10 : generous;
    }
  }
  return size * thousandths / 1000;
}

Letters letters_of(const LabelSpan& span) {
  const bool large = span.style == LetterStyle::headline || span.style == LetterStyle::plain;
  return {(large ? 13 : 11) * (span.script == Script::none ? 1 : script_scale),
          span.style == LetterStyle::headline ? FontWeight::bold : FontWeight::regular};
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

namespace {

constexpr int most_cells = 8;         // in a row and in a column
constexpr double cell_letters = 9;    // their size
constexpr double widest_cells = 200;  // with digits; an ellipse around them is one and a half times as wide

// Rows and columns of a matrix, however many axes of length 1 stand before it; a vector is a row.
std::pair<std::int64_t, std::int64_t> matrix_of(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return {1, 1};
  for (int axis = 0; axis < rank - 2; ++axis) {
    if (shape[axis] != 1) return {0, 0};
  }
  return {rank == 1 ? 1 : shape[rank - 2], shape[rank - 1]};
}

bool is_one_value(const NumbersSummary& summary) {
  return summary.nans + summary.infinities == 0 && summary.least == summary.greatest;
}

// Two for numbers about 1, none for integers, and enough for small numbers to distinguish them from 0.
int decimals_of(const NumbersSummary& summary) {
  const bool integers = std::ranges::all_of(
      summary.numbers, [](Real number) { return !std::isfinite(number) || std::trunc(number) == number; });
  const double most = std::max(std::abs(summary.least), std::abs(summary.greatest));
  if (integers || most == 0) return 0;
  return most < 0.1 ? 1 - static_cast<int>(std::floor(std::log10(most))) : most < 10 ? 2 : most < 100 ? 1 : 0;
}

std::string kept_text(const GraphTotals& totals) {
  return str("keeps ", bytes_text(static_cast<double>(totals.saved_bytes)));
}

}  // namespace

NumberPicture picture_of(const NumbersSummary& summary) {
  const auto [rows, columns] = matrix_of(summary.shape);
  const std::int64_t count = summary.shape.numel();
  const bool all_known = std::cmp_equal(summary.numbers.size(), count);
  if (count > 1 && all_known && rows > 0 && rows <= most_cells && columns <= most_cells) {
    NumberPicture picture{.kind = NumberPicture::cells,
                          .rows = static_cast<int>(rows),
                          .columns = static_cast<int>(columns),
                          .cell_width = 14,
                          .cell_height = 14};
    picture.decimals = decimals_of(summary);
    double text = 0;
    for (const Real number : summary.numbers) {
      text = std::max(text, text_width(cell_text(number, picture.decimals), cell_letters, FontWeight::regular));
    }
    const double width = std::max(std::ceil(text) + 6, 20.0);
    if (count <= 16 && picture.columns * width <= widest_cells) {
      picture.has_digits = true;
      picture.cell_width = width;
      picture.cell_height = 15;
    }
    return picture;
  }
  if (summary.histogram.empty() || is_one_value(summary)) return {};
  return {.kind = NumberPicture::bars,
          .rows = 1,
          .columns = static_cast<int>(summary.histogram.size()),
          .cell_width = 96.0 / static_cast<double>(summary.histogram.size()),
          .cell_height = 18};
}

std::string cell_text(double number, int decimals) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "\u221E" : "-\u221E";
  std::array<char, 400> digits;
  const auto written = [&](double x) {
    return std::string(digits.data(),
                       std::to_chars(digits.begin(), digits.end(), x, std::chars_format::fixed, decimals).ptr);
  };
  const std::string text = written(number);
  return text.find_first_of("123456789") == text.npos ? written(0) : text;  // no -0.00
}

std::string in_short(const NumbersSummary& summary) {
  const std::string others = words_for_not_finite(summary);
  std::string text;
  if (summary.shape.numel() <= 1 && std::cmp_equal(summary.numbers.size(), summary.shape.numel()))
    return to_string(summary);
  if (is_one_value(summary)) {
    text = str("all ", number_text(summary.least, 3));
  } else if (!summary.histogram.empty()) {
    // Digits of the mean that are far smaller than the standard deviation are meaningless.
    const double unit = std::pow(10, std::floor(std::log10(summary.stddev)) - 1);
    const double mean = std::round(summary.mean / unit) * unit + 0.0;
    text = str(rounded(mean, 5), " \u00B1 ", rounded(summary.stddev, 2));
  }
  return str(text, text.empty() || others.empty() ? "" : ", ", others);
}

std::string amount_text(double amount, std::string_view unit) {
  constexpr double most_digits = 1e15;  // integers below are exact
  const double size = std::abs(amount);
  if (unit == "B" && amount >= 0 && amount < most_digits) return bytes_text(std::round(amount));
  const bool is_integer = std::trunc(amount) == amount || size >= 1000;
  const std::string number = is_integer && size < most_digits
                                 ? str(amount < 0 ? "-" : "", with_commas(std::llround(size)))
                                 : rounded(amount, 3);
  return str(number, unit.empty() ? "" : " ", unit);
}

// ---- Words ----------------------------------------------------------------------------------------------------------

std::string_view role_name(GraphRole role) {
  static constexpr std::array names =
      std::to_array<std::string_view>({"input", "parameter", "constant", "operation", "gradient", "seed", "module"});
  static_assert(names.size() == static_cast<std::size_t>(GraphRole::module) + 1, "each role has a name");
  return names[static_cast<std::size_t>(role)];
}

std::string full_name(const GraphVertex& vertex) {
  return str(vertex.path, vertex.path.empty() || vertex.name.empty() ? "" : ".", vertex.name);
}

std::string called(const GraphVertex& vertex) {
  const std::string name = full_name(vertex);
  return str(is_operation(vertex) ? std::string_view(vertex.op) : role_name(vertex.role),
             name.empty() ? "" : str(" '", name, "'"));
}

std::string shape_text(const Shape& shape) { return shape.rank() == 0 ? "scalar" : str(shape); }

std::pair<std::string, std::string> words_of_scale(const GraphView& view) {
  const GraphScale& scale = *view.scale;
  const bool sums = std::ranges::any_of(view.vertices, [](const GraphVertex& vertex) {
    return vertex.role == GraphRole::module && vertex.totals.overlay.has_value();
  });
  return {str(scale.title, ": ", amount_text(scale.first, scale.unit)),
          str(amount_text(scale.last, scale.unit), sums ? " (of a module: the sum)" : "")};
}

std::vector<std::string> tooltip_of(const GraphVertex& vertex) {
  std::string what(is_operation(vertex) ? vertex.op : role_name(vertex.role));
  if (vertex.shape) append(what, str(' ', *vertex.shape));
  if (const std::string name = full_name(vertex); !name.empty()) append(what, str(": ", name));
  if (vertex.totals.saved_bytes > 0) append(what, str(", ", kept_text(vertex.totals)));
  std::vector<std::string> lines{what, vertex.text.formula, vertex.text.derivative};
  std::erase(lines, "");
  const GraphRecord& record = vertex.record;
  for (const auto& [numbers_of, numbers] :
       {std::pair("value", &record.value), std::pair("gradient", &record.gradient)}) {
    if (!*numbers || vertex.constant) continue;
    const NumberPicture picture = picture_of(**numbers);
    if (picture.kind == NumberPicture::bars) lines.push_back(str(numbers_of, ": ", to_string(**numbers)));
    if (picture.kind != NumberPicture::cells) continue;
    lines.push_back(str(numbers_of, ':'));
    auto number = (*numbers)->numbers.begin();
    for (int row = 0; row < picture.rows; ++row) {
      std::string& line = lines.emplace_back();
      for (int i = 0; i < picture.columns; ++i) append(line, str(i == 0 ? "" : "  ", number_text(*number++, 4)));
    }
  }
  return lines;
}

// ---- Labels ---------------------------------------------------------------------------------------------------------

namespace {

std::string counted(std::int64_t count, std::string_view noun) {
  return str(with_commas(count), ' ', noun, count == 1 ? "" : "s");
}

// In characters: longer ones would make boxes too wide.
constexpr std::size_t longest_line = 44;

// Equations, one on each line, cut where they would make the box too wide: the tooltip has all of them.
std::vector<std::string> short_lines(std::string_view equations) {
  std::vector<std::string> lines;
  while (!equations.empty()) {
    const std::string_view line = equations.substr(0, equations.find("; "));
    equations.remove_prefix(std::min(equations.size(), line.size() + 2));
    const std::size_t end = std::min(line.find(" with "), line.rfind(' ', longest_line));
    lines.push_back(line.size() <= longest_line ? std::string(line) : str(line.substr(0, end), " \u2026"));
  }
  return lines;
}

// All numbers if there are at most 8, else as in_short, with the histogram in letters.
std::string in_line(const NumbersSummary& summary) {
  if (summary.numbers.size() <= 8) return to_string(summary);
  return summary.histogram.empty() ? in_short(summary) : str(in_short(summary), ' ', sparkline(summary.histogram));
}

// The numbers of a run: one on a line, few as a matrix, many as their mean and distribution.
void add_numbers(std::vector<LabelLine>& lines, std::string_view what, const SharedSummary& numbers) {
  const auto add = [&](std::string text, const SharedSummary& drawn = {}) {
    lines.push_back({{std::move(text), LetterStyle::detail, Script::none, drawn}});
  };
  const NumberPicture::Kind kind = picture_of(*numbers).kind;
  if (kind != NumberPicture::cells) add(str(what, ' ', in_short(*numbers)));
  if (kind == NumberPicture::bars) add(sparkline(numbers->histogram), numbers);
  if (kind != NumberPicture::cells) return;
  if (what != "=") add(std::string(what));
  add(str("= ", in_line(*numbers)), numbers);
}

// Attributes, as many on a line as there is room for.
void add_attributes(std::vector<LabelLine>& lines, const GraphText& text) {
  std::string line;
  for (const auto& [name, value] : text.attributes) {
    const std::string attribute = str(name, value.empty() ? "" : " ", value);
    if (!line.empty() && line.size() + attribute.size() > longest_line) {
      lines.push_back({{std::exchange(line, "") + ',', LetterStyle::detail}});
    }
    append(line, str(line.empty() ? "" : ", ", attribute));
  }
  if (!line.empty()) lines.push_back({{line, LetterStyle::detail}});
}

// The smaller lines below it.
std::vector<LabelLine> details(const GraphVertex& vertex, const GraphOptions& options) {
  const GraphText& text = vertex.text;
  const GraphRecord& record = vertex.record;
  const GraphTotals& totals = vertex.totals;
  std::vector<LabelLine> lines;
  add_attributes(lines, text);
  if (options.equations) {
    for (const std::string& line : short_lines(text.formula.empty() ? text.derivative : text.formula)) {
      lines.push_back(typeset_equation(line, LetterStyle::detail));
    }
  }
  const bool is_module = vertex.role == GraphRole::module, is_constant = vertex.constant.has_value();
  const bool says_it_is_scalar = record.value && record.value->shape.rank() == 0;
  const std::string_view each = vertex.times > 1 ? " each" : "";
  struct Line {
    bool applies;
    std::string words;
    SharedSummary numbers = {};
  };
  const Line table[]{
      {!text.what.empty(), text.what},
      {is_module && (totals.operations != 1 || totals.parameters == 0),
       str(counted(totals.operations, "operation"), each)},
      {is_module && totals.parameters > 0, str(counted(totals.parameters, "parameter"), each)},
      {is_module && vertex.order > 0 && totals.results > 0, str(counted(totals.results, "gradient"), each)},
      {vertex.shape && !is_constant && !says_it_is_scalar, shape_text(vertex.shape.value_or(Shape{}))},
      {options.saved_memory && totals.saved_bytes > 0, kept_text(totals)},
      {record.value && !is_constant, "=", record.value},
      {record.first_nan, "NaN, the first"},
      {record.gradient && !record.gradient_state.starts_with("zero"), "gradient", record.gradient},
      {!record.gradient_state.empty(), str("gradient: ", record.gradient_state)},
      {!text.note.empty(), text.note},
  };
  for (const auto& [applies, words, numbers] : table) {
    if (applies && numbers) add_numbers(lines, words, numbers);
    if (applies && !numbers) lines.push_back({{words, LetterStyle::detail}});
  }
  for (const std::string& remark : text.remarks) lines.push_back({{remark, LetterStyle::detail}});
  return lines;
}

}  // namespace

std::string headline_of(const GraphVertex& vertex) {
  if (is_operation(vertex) || vertex.role == GraphRole::module) return vertex.op;
  if (vertex.constant) return constant_text(*vertex.constant, "\u221A");
  return vertex.name.empty() ? std::string(role_name(vertex.role)) : vertex.name;
}

std::vector<LabelLine> label_of(const GraphVertex& vertex, const GraphOptions& options) {
  const std::string headline = headline_of(vertex);
  const LetterStyle style = vertex.constant ? LetterStyle::number : LetterStyle::headline;
  const bool is_name = !vertex.constant && !vertex.name.empty() && headline == vertex.name;
  std::vector<LabelLine> lines{is_name ? typeset_name(headline, style) : LabelLine{{headline, style}}};
  if (vertex.times > 1) lines[0].push_back({str(" \u00D7", vertex.times), LetterStyle::plain});
  const bool has_name_of_result = is_operation(vertex) || vertex.role == GraphRole::module;
  if (has_name_of_result && !vertex.name.empty()) lines.push_back(typeset_name(vertex.name, LetterStyle::name));
  std::ranges::move(details(vertex, options), std::back_inserter(lines));
  return lines;
}

LabelLine title_of(const GraphFrame& frame) {
  LabelLine line{{frame.title, LetterStyle::headline}};
  if (frame.times > 1) line.push_back({str(" \u00D7", frame.times), LetterStyle::plain});
  if (!frame.what.empty()) line.push_back({str(" ", frame.what), LetterStyle::detail});
  if (frame.order > 0) line.push_back({" gradient", LetterStyle::detail});
  return line;
}

// ---- Sizes ----------------------------------------------------------------------------------------------------------

double line_width(const LabelLine& line) {
  double width = 0;
  for (const LabelSpan& span : line) {
    const auto [size, weight] = letters_of(span);
    width += span.numbers ? picture_of(*span.numbers).width() : text_width(printable(span.text), size, weight);
  }
  return width;
}

double line_height(const LabelLine& line) {
  double height = 0;
  for (const LabelSpan& span : line) {
    height = std::max(height, span.numbers ? picture_of(*span.numbers).height() + 5 : letters_of(span).size + 3);
  }
  return height;
}

LabelSize size_of_vertex(const GraphVertex& vertex, const GraphOptions& options) {
  const std::vector<LabelLine> label = label_of(vertex, options);
  LabelSize size{0, 0};
  bool has_cells = false;  // they fill their corners, unlike letters
  for (const LabelLine& line : label) {
    size = {std::max(size.width, line_width(line)), size.height + line_height(line)};
    has_cells |= line[0].numbers && picture_of(*line[0].numbers).kind == NumberPicture::cells;
  }
  if (vertex.constant) return {size.width + 10, size.height + 4};
  if (vertex.role == GraphRole::input) {
    if (has_cells) return {1.42 * size.width + 8, 1.42 * size.height + 4};
    LabelSize ellipse{1.2 * size.width + 16, 1.3 * size.height + 4};
    double top = -size.height / 2;
    for (const LabelLine& line : label) {  // each line of letters ends inside
      const double bottom = top + line_height(line), y = std::max(-top, bottom) - 2;
      const double fraction = 1 - std::pow(2 * y / ellipse.height, 2);
      if (!line[0].numbers) ellipse.width = std::max(ellipse.width, (line_width(line) + 6) / std::sqrt(fraction));
      top = bottom;
    }
    return ellipse;
  }
  if (vertex.order > 0 && !is_leaf(vertex)) {  // the first line is beside the marks of a gradient, the others are below
    const double beside = 2 * (marks_inset(vertex.role) + mark_width + 1);
    size.width = std::max(size.width, line_width(label[0]) + beside - 18);
  }
  return {std::max(size.width + 18, 36.0), size.height + 9};
}

LabelSize size_of_title(const GraphFrame& frame) {
  const LabelLine line = title_of(frame);
  return {line_width(line) + 10, line_height(line) + 2};
}

}  // namespace xgrad::detail
