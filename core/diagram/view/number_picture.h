// Pictures of the numbers of a run in a box: a few as the cells of a matrix, many as a histogram.
#pragma once

#include <string>
#include <vector>

#include "../../profile/summary.h"

namespace xgrad::detail {

/// A picture of numbers and its size in pixels.
struct NumberPicture {
  enum Kind {
    none,   ///< a line of text suffices
    cells,  ///< of a matrix or a vector, coloured by sign and size
    bars,   ///< a histogram
  };
  Kind kind = none;
  int rows = 0;
  int columns = 0;
  bool has_digits = false;  ///< in the cells
  int decimals = 0;         ///< of those
  double cell_width = 0;
  double cell_height = 0;

  double width() const { return columns * cell_width; }
  double height() const { return rows * cell_height; }
};

/// Matrices and vectors of at most 8 rows and columns are cells, of at most 16 numbers with their digits if they fit
/// into 160 pixels. There is no picture if all values are equal or none is finite.
NumberPicture picture_of(const NumbersSummary& summary);

/// A number in a cell: "-0.53", "12", "nan".
std::string cell_text(double number, int decimals);
/// The size of the letters in cells.
inline constexpr double cell_letters = 9;

/// "0.25", "0.1 ± 0.98, 3 nan", "all 1".
std::string in_short(const NumbersSummary& summary);
/// All numbers if there are at most 8, else as in_short, with the histogram in letters.
std::string in_line(const NumbersSummary& summary);
/// All numbers, one string for each row of the matrix.
std::vector<std::string> in_rows(const NumbersSummary& summary);

}  // namespace xgrad::detail
