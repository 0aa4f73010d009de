// Heat maps of attention weights: as SVG for documents, as text for terminals; and a line of text with a curve in it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kit {

/// One matrix of a figure: q rows of k values.
struct HeatMapPanel {
  std::string title = {};
  std::vector<double> values = {};  ///< (q, k), row after row
};

/// A grid of matrices of the same size under common labels: rows are queries, columns are keys.
struct HeatMaps {
  std::string title = {};
  std::vector<std::string> queries = {};  ///< label of each row, q of them
  std::vector<std::string> keys = {};     ///< label of each column, k of them
  std::vector<HeatMapPanel> panels = {};
  std::size_t columns = 4;                       ///< panels in one row of the grid
  std::vector<bool> masked = {};                 ///< (q, k) or empty: true where attention was not allowed
  std::string query_caption = "query (target)";  ///< what the rows are
  std::string key_caption = "key (source)";      ///< what the columns are
};

/// Panels "layer 1, head 1", "layer 1, head 2", ... of weights (layers, heads, q, k) given as one row of numbers: with
/// `columns` = heads, a layer is a row of the grid. Throws std::invalid_argument if they cannot be divided so.
std::vector<HeatMapPanel> attention_panels(const std::vector<double>& weights, std::size_t layers, std::size_t heads);

/// The figure as SVG, all panels in one scale: light is 0, dark the greatest value; with negative values blue is below
/// and red above 0. Masked entries are hatched, the others tell their tokens and value under the pointer. Long labels
/// are shortened. Throws std::invalid_argument without panels, labels or columns, if a size does not fit the labels, or
/// if a value that is not masked is not finite.
std::string heat_map_svg(const HeatMaps& maps);

/// One panel for a terminal: each entry is two characters wide, from blank at 0 or below to full at the panel's
/// greatest value, dots where masked; the keys are numbered and named below. Throws what heat_map_svg throws, and
/// std::out_of_range if there is no such panel.
std::string heat_map_text(const HeatMaps& maps, std::size_t panel);

/// A curve of at most `width` characters ▁▂▃▄▅▆▇█ from the least to the greatest value; each stands for the mean of the
/// values it covers, a space for values that are not finite.
std::string sparkline(const std::vector<double>& values, std::size_t width);

}  // namespace kit
