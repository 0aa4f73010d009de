// Animated pictures: when each element moves.
#pragma once

#include <string>
#include <string_view>

#include "../view/view.h"

namespace xgrad::detail {

/// Times in seconds from the beginning, by vertex; negative: never.
struct Timetable {
  Indexed<double> values;     ///< when the vertex is computed: 0 for values that exist before
  Indexed<double> gradients;  ///< when its gradient is complete
  double interval = 0;        ///< between consecutive times
};

/// The times in the order of the run if the view has its steps, else in the order of the graph; with more than 40
/// vertices rank by rank. The last is within 5 seconds.
Timetable timetable_of(const GraphView& view);

/// The CSS rules that move the elements of an SVG by a Timetable, on screens alone, and not for readers who prefer
/// reduced motion. Everything is in full colour at any time, because an image in a page is printed as it is at that
/// moment.
std::string motion_style(std::string_view scope);

}  // namespace xgrad::detail
