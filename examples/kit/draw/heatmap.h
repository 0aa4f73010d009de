// Heat maps of attention weights as SVG.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/draw/values.h>

namespace xgrad::kit {

/// One matrix of a figure: q rows of k values.
struct HeatMapPanel {
  std::string title = {};
  Values values = {};  ///< (q, k), row after row
};

/// The meaning of the colours of heat maps.
enum class HeatScale {
  fitted,  ///< from 0 to a round number above the greatest value of all panels, with negative values as far below 0
  each,    ///< the same of each panel alone, which has a bar of its own
  shares,  ///< from 0 to 1, whatever the values are: weights of attention, probabilities
  yes_no   ///< 1 is yes and 0 is no: masks
};

/// A grid of matrices of the same size under common labels: rows are queries, columns are keys.
struct HeatMaps {
  std::string title = {};
  std::vector<std::string> queries = {};  ///< label of each row, q of them
  std::vector<std::string> keys = {};     ///< label of each column, k of them
  std::vector<HeatMapPanel> panels = {};
  std::size_t columns = 4;        ///< panels in one row of the grid
  std::vector<bool> masked = {};  ///< (q, k) or empty: true where attention was not allowed
  HeatScale scale = HeatScale::fitted;
  std::string query_caption = "query";  ///< of the rows
  std::string key_caption = "key";      ///< of the columns

  bool is_masked(std::size_t i) const { return !masked.empty() && masked[i]; }
};

/// The maps with spaces, tabs and line ends at the ends of their labels as ␣, ⇥ and ↵, since tokens may be these alone.
HeatMaps with_visible_spaces(HeatMaps maps);

/// The figure as SVG: 0 is near the ground, the greatest value far from it (dark on white ground); with negative values
/// blue is below and red above 0. A bar tells the numbers, in high figures again and again. Masked entries are grey,
/// the others tell their tokens and value under the pointer. Titles and captions go on in further lines, long labels
/// are shortened. Throws ValueError without panels, labels or columns, if a size does not fit the labels, or if a value
/// that is not masked is not finite, or none that the scale has.
std::string heat_map_svg(const HeatMaps& maps);

}  // namespace xgrad::kit
