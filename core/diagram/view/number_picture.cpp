// Pictures of the numbers of a run in a box.
#include "number_picture.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "../../base/text.h"
#include "characters.h"

namespace xgrad::detail {
namespace {

constexpr int most_cells = 8;   // in a row and in a column
constexpr double widest = 160;  // with digits; an ellipse around it is one and a half times as wide

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

// Two for numbers about 1, none for whole ones, and enough for small ones to distinguish them from 0.
int decimals_of(const NumbersSummary& summary) {
  const bool whole = std::ranges::all_of(
      summary.numbers, [](Real number) { return !std::isfinite(number) || std::trunc(number) == number; });
  const double most = std::max(std::abs(summary.least), std::abs(summary.greatest));
  if (whole || most == 0) return 0;
  return most < 0.1 ? 1 - static_cast<int>(std::floor(std::log10(most))) : most < 10 ? 2 : most < 100 ? 1 : 0;
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
    if (count <= 16 && picture.columns * width <= widest) {
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
    // Digits of the mean that are far smaller than the deviation are meaningless.
    const double unit = std::pow(10, std::floor(std::log10(summary.deviation)) - 1);
    const double mean = std::round(summary.mean / unit) * unit + 0.0;
    text = str(rounded(mean, 5), " \u00B1 ", rounded(summary.deviation, 2));
  }
  return str(text, text.empty() || others.empty() ? "" : ", ", others);
}

std::string in_line(const NumbersSummary& summary) {
  if (summary.numbers.size() <= 8) return to_string(summary);
  return summary.histogram.empty() ? in_short(summary) : str(in_short(summary), ' ', sparkline(summary.histogram));
}

std::vector<std::string> in_rows(const NumbersSummary& summary) {
  const NumberPicture picture = picture_of(summary);
  std::vector<std::string> rows(static_cast<std::size_t>(picture.rows));
  auto number = summary.numbers.begin();
  for (std::string& row : rows) {
    for (int i = 0; i < picture.columns; ++i) append(row, str(i == 0 ? "" : "  ", number_text(*number++, 4)));
  }
  return rows;
}

}  // namespace xgrad::detail
