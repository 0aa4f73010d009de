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
  Values values = {};  ///< (q, k), row by row
};

/// The range of values that the colours show.
enum class HeatScale {
  fitted,  ///< from 0 to a round number a above all values; with negative values from -a to a
  each,    ///< as fitted, but for each panel separately, with its own colour bar
  shares,  ///< always from 0 to 1: attention weights, probabilities
  yes_no   ///< 1 is yes and 0 is no: masks
};

/// A grid of matrices of the same size with common labels. Rows are queries, columns are keys.
struct HeatMaps {
  std::string title = {};
  std::vector<std::string> queries = {};  ///< labels of the q rows
  std::vector<std::string> keys = {};     ///< labels of the k columns
  std::vector<HeatMapPanel> panels = {};
  std::size_t columns = 4;        ///< number of panels in one row of the grid
  std::vector<bool> masked = {};  ///< (q, k), or empty: true where attention is masked
  HeatScale scale = HeatScale::fitted;
  std::string query_caption = "query";  ///< caption of the rows
  std::string key_caption = "key";      ///< caption of the columns

  bool is_masked(std::size_t i) const { return !masked.empty() && masked[i]; }
};

/// A copy in which spaces, tabs and line breaks at both ends of labels are shown as ␣, ⇥ and ↵. Tokens may consist of
/// these characters only.
HeatMaps with_visible_spaces(HeatMaps maps);

/// The figure as SVG. The colour of 0 is close to the background; the largest value has the strongest contrast (dark on
/// white). With negative values, blue is below and red above 0. A colour bar shows the range; tall figures repeat it.
/// Masked entries are grey; the tooltips of the others show tokens and value. Long titles and captions are broken into
/// lines, long labels are shortened. Throws ValueError if there are no panels, labels or columns, if a size does not
/// match the labels, or if an unmasked value is not finite or outside the range of the scale.
std::string heat_map_svg(const HeatMaps& maps);

}  // namespace xgrad::kit
