// Pictures that play their run: when each element moves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../view/view.h"

namespace xgrad::detail {

/// Seconds from the beginning, by vertex; negative: never.
struct Timetable {
  std::vector<double> values;     ///< when it is computed: 0 for values that exist before
  std::vector<double> gradients;  ///< when its gradient is complete
  double step = 0;                ///< between consecutive ones
};

/// In the order of the run if the view knows it, else in that of the graph; with more than 40 vertices rank by rank. It
/// ends within 5 seconds.
Timetable timetable_of(const GraphView& view);

/// The style rules that move the elements with the classes of a Timetable; on screens alone, and not for readers who
/// prefer reduced motion. Everything is in full colour at any time: an image in a page is printed as it is at that
/// moment.
std::string motion_style(std::string_view scope);

}  // namespace xgrad::detail
