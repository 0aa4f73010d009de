// Which frame each vertex of a GraphView is drawn in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "view.h"

namespace xgrad::detail {

/// Makes the frames of a view whose vertices know their paths, and says of every vertex which it lies in. An
/// operation that was recorded outside of the modules that surround it (they were not entered) lies in the innermost of
/// these that it is computed from and for. `rule_of` has for each vertex that of the operation whose gradient rule it
/// is, or -1; `whats` what modules are, by path.
void place_in_frames(GraphView& view, const std::vector<int>& rule_of, const std::map<std::string, std::string>& whats);

}  // namespace xgrad::detail
