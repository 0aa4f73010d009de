// Matrices in a terminal and as pictures, side by side with their numbers; and the things on a table.
#pragma once

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/xgrad.h>

namespace attention_by_hand {

using namespace xgrad;

/// 0.5 as 0.50, integers without decimals.
inline std::string short_number(double x) {
  if (std::isinf(x)) return x < 0 ? "-∞" : "∞";
  return kit::fixed(x, std::abs(x - std::round(x)) < 1e-5 ? 0 : 2);
}

/// Prints a matrix with names for its rows and columns.
inline void print(const std::string& title, const std::vector<std::string>& rows,
                  const std::vector<std::string>& columns, const Array& values) {
  std::vector<kit::Field> head{title};
  head.insert(head.end(), columns.begin(), columns.end());
  kit::Table table(head);
  for (std::int64_t r = 0; r < std::ssize(rows); ++r) {
    std::vector<kit::Field> row{rows[r]};
    for (const Real value : values[{r}]) {
      row.push_back(std::isinf(value) ? "-inf" : kit::fixed(value, 3));
    }
    table.row(row);
  }
  std::cout << table.text() << "\n";
}

/// A matrix of a strip; rows are labelled at the left of the first one only.
struct Matrix {
  std::string title;
  std::vector<std::string> columns;
  Array values;         ///< (rows, columns)
  bool masked = false;  ///< whether entries above the diagonal are grey
};

/// Blue cells are positive, red ones negative; the colour is darkest where a matrix has its greatest value.
inline std::string strip_svg(const std::string& title, const std::vector<std::string>& rows,
                             const std::vector<Matrix>& matrices) {
  constexpr double cell = 27, gap = 26, top = 84, label_size = 11, number_size = 10;
  const double left = kit::widest(rows, label_size) + 28;
  double width = 0, below = 0;
  for (const Matrix& matrix : matrices) {
    width += cell * matrix.columns.size() + gap;
    below = std::max(below, kit::widest(matrix.columns, label_size));
  }
  const double bottom = top + cell * rows.size();
  kit::Svg svg(left + width, bottom + 0.75 * below + 26, title);
  svg.heading(16, 30, title, 16, left + width - 32);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    svg.text(left - 8, top + cell * (r + 0.65), rows[r], {{"font-size", label_size}, {"text-anchor", "end"}});
  }
  double x = left;
  for (const Matrix& matrix : matrices) {
    const std::int64_t columns = std::ssize(matrix.columns);
    double most = 1e-9;
    for (const double value : matrix.values) {
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
    }
    svg.text(x, top - 12, matrix.title, {{"font-size", 12}, {"fill", kit::quiet_ink}});
    for (std::int64_t i = 0; i < matrix.values.size(); ++i) {
      const std::int64_t row = i / columns, column = i % columns;
      const double value = matrix.values.data()[i], at = x + cell * column, y = top + cell * row;
      const bool grey = std::isinf(value) || (matrix.masked && column > row && column < std::ssize(rows));
      svg.rect(at, y, cell - 1, cell - 1, {{"fill", kit::grid_ink}});
      if (!grey) {
        svg.rect(at, y, cell - 1, cell - 1, {{"fill", kit::ground_ink}, {"stroke", kit::grid_ink}});
        svg.rect(at, y, cell - 1, cell - 1,
                 {{"fill", kit::series_inks[value < 0]}, {"fill-opacity", 0.6 * std::abs(value) / most}});
      }
      svg.text(
          at + cell / 2 - 0.5, y + cell / 2 + 3.5, short_number(value),
          {{"font-size", number_size}, {"text-anchor", "middle"}, {"fill", grey ? kit::quiet_ink : kit::text_ink}});
    }
    for (std::int64_t column = 0; column < columns; ++column) {
      const double at = x + cell * (column + 0.6), y = bottom + 14;
      svg.text(at, y, matrix.columns[column],
               {{"font-size", label_size},
                {"text-anchor", "end"},
                {"transform", str("rotate(-45 ", kit::fixed(at, 1), " ", kit::fixed(y, 1), ")")}});
    }
    x += cell * columns + gap;
  }
  return svg.str();
}

/// For each query a panel: lines to the things, the wider the greater the weight.
inline std::string things_svg(const std::string& title, const std::vector<std::string>& questions,
                              const std::vector<std::string>& things, const Array& keys, const Array& weights) {
  constexpr double panel = 385, box = 66, step = 72, high = 92, low = 200;
  kit::Svg svg(panel * questions.size() + 10, 290, title);
  svg.heading(16, 30, title, 16, 700);
  const auto text = [&](double x, double y, const std::string& words, kit::Ink ink) {
    svg.text(x, y, words, {{"font-size", 11.5}, {"text-anchor", "middle"}, {"fill", ink}});
  };
  for (std::int64_t q = 0; q < std::ssize(questions); ++q) {
    const double left = 16 + panel * q, centre = left + step * 2.5 - 3;
    for (std::int64_t i = 0; i < std::ssize(things); ++i) {
      const double x = left + step * i, weight = weights.at({q, i});
      svg.line(centre, high, x + box / 2, low, {{"stroke", kit::series_inks[0]}, {"stroke-width", 0.7 + 12 * weight}});
      svg.rect(x, low, box, 26,
               {{"rx", 4}, {"fill", kit::ground_ink}, {"stroke", kit::series_inks[keys.at({i, 0}) > 1 ? 1 : 4]}});
      text(x + box / 2, low + 17, things[i], kit::text_ink);
      text(x + box / 2, low + 44, str("(", short_number(keys.at({i, 0})), ", ", short_number(keys.at({i, 1})), ")"),
           kit::quiet_ink);
      text(x + box / 2, low + 64, kit::fixed(weight, 2), kit::text_ink);
    }
    svg.rect(centre - 110, high - 36, 220, 36, {{"rx", 4}, {"fill", kit::ground_ink}, {"stroke", kit::series_inks[0]}});
    text(centre, high - 14, questions[q], kit::text_ink);
  }
  return svg.str();
}

}  // namespace attention_by_hand
