// Pictures that play their run: when each thing in them moves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../view/view.h"

namespace xgrad::detail {

/// Seconds from the beginning, by vertex; negative: never.
struct Timetable {
  std::vector<double> values;     ///< when it is computed: 0 of what is there before
  std::vector<double> gradients;  ///< when its gradient is complete
  double step = 0;                ///< between one and the next
};

/// In the order of the run where the view knows it, else in that of the graph; with more than 40 vertices rank by
/// rank. It ends within 5 seconds.
Timetable timetable_of(const GraphView& view);

/// The rules of style by which things with the classes that a Timetable is written in, move; on screens alone, and not
/// for readers who want nothing to.
std::string motion_style(std::string_view scope);

}  // namespace xgrad::detail
