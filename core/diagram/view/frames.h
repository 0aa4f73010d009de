// Which frame each vertex of a GraphView is drawn in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "view.h"

namespace xgrad::detail {

/// Makes the frames of a view whose vertices know their paths, and says of every vertex which it lies in. An
/// operation that was recorded outside of the modules that surround it (they were not entered) lies in the innermost of
/// these that it is computed from and for. Each call of a module that was called several times has a frame of its own,
/// the second one with the path "cell (2)". `ids` say, by vertex, in which order all were computed, `whats` what
/// modules are, by path.
void place_in_frames(GraphView& view, const std::vector<std::uint64_t>& ids,
                     const std::map<std::string, std::string>& whats);
/// Within how many frames a frame is, itself included.
int level_of(const GraphView& view, const GraphFrame& frame);
/// How deep the frames are nested: 0 without any.
int deepest_level(const GraphView& view);
/// Without the numbers of calls: "cell.gate" for "cell (2).gate".
std::string module_of(std::string_view path);

}  // namespace xgrad::detail
