// Labels of diagrams: the lines of a box or a title, the pictures of numbers in them, and their sizes in pixels.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../profile/summary.h"
#include "equations.h"
#include "view.h"

namespace xgrad::detail {

// ---- Letters

enum class FontWeight { regular, bold };

/// The width in pixels that printable text needs at a font size: for each letter the widest of the sans-serif fonts
/// that readers may have, since a picture does not know their font.
double text_width(std::string_view text, double size, FontWeight weight);

struct Letters {
  double size;  ///< in pixels
  FontWeight weight;
};
Letters letters_of(const LabelSpan& span);
/// The size of indices and exponents relative to their letters, and their shift below or above the line.
inline constexpr double script_scale = 0.75, script_shift = 0.28;

// ---- Numbers

/// A picture of numbers, with its size in pixels.
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

/// The picture for a summary. Matrices and vectors of at most 8 rows and columns are cells; cells of at most 16 numbers
/// show their digits if these fit into 200 pixels. There is no picture if all values are equal or none is finite.
NumberPicture picture_of(const NumbersSummary& summary);

/// A number in a cell: "-0.53", "12", "nan".
std::string cell_text(double number, int decimals);
/// "0.25", "0.1 ± 0.98, 3 NaN", "all 1".
std::string in_short(const NumbersSummary& summary);
/// "1,536", "0.25 ms"; with the unit "B": "1.5 KiB".
std::string amount_text(double amount, std::string_view unit);

// ---- Words

std::string_view role_name(GraphRole role);
/// The name of a vertex with the path of its module in front.
std::string full_name(const GraphVertex& vertex);
/// The vertex in a sentence: "linear 'blocks.0.fc1'", "parameter 'w'".
std::string called(const GraphVertex& vertex);
std::string shape_text(const Shape& shape);
/// The words before and after the colours of a scale.
std::pair<std::string, std::string> words_of_scale(const GraphView& view);
/// The lines of a vertex' tooltip: what it is, its equations, and the numbers that their pictures omit.
std::vector<std::string> tooltip_of(const GraphVertex& vertex);

// ---- Labels

/// The headline of a vertex, in large letters, before it is typeset.
std::string headline_of(const GraphVertex& vertex);
/// The headline, then smaller lines.
std::vector<LabelLine> label_of(const GraphVertex& vertex, const GraphOptions& options);
/// The title of a frame, above its vertices.
LabelLine title_of(const GraphFrame& frame);

// ---- Sizes

struct LabelSize {
  double width;
  double height;
};

/// The sides of A4, on which letters of 12 pixels are 6.5 points high.
inline constexpr double shorter_side = 1000, longer_side = 1450;

/// The size of a line of a label; lines are centred below each other.
double line_width(const LabelLine& line);
double line_height(const LabelLine& line);

/// The triangles in the upper left corner of a gradient's box: their width and their distance from its left side.
inline constexpr double mark_width = 6;
inline double marks_inset(GraphRole role) { return role == GraphRole::module ? 6 : 4; }

/// The size of a box, with the space around its letters and marks.
LabelSize size_of_vertex(const GraphVertex& vertex, const GraphOptions& options);
LabelSize size_of_title(const GraphFrame& frame);

}  // namespace xgrad::detail
