// The frame in which each vertex of a GraphView is drawn.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "view.h"

namespace xgrad::detail {

/// Makes the frames of a view whose vertices know their paths, and assigns every vertex to one. Each call of a module
/// that was called several times has a frame of its own, the second one with the path "cell (2)". `ids` give, by
/// vertex, the order in which all were computed, `whats` the class and settings of modules, by path.
void place_in_frames(GraphView& view, const std::vector<std::uint64_t>& ids,
                     const std::map<std::string, std::string>& whats);
/// The number of frames around a frame, itself included.
int level_of(const GraphView& view, const GraphFrame& frame);
/// The depth of nested frames: 0 without any.
int deepest_level(const GraphView& view);
/// Without the numbers of calls: "cell.gate" for "cell (2).gate".
std::string module_of(std::string_view path);
/// "blocks" and 3 for "blocks.3", "block" and 11 for "block11", "cell" and 2 for "cell (2)", the second call of a
/// module; no stem if there is no number.
struct Numbered {
  std::string_view stem, number;
  bool is_call() const { return stem.ends_with('('); }
  bool is_listed() const { return stem.ends_with('.'); }
  bool is_numbered() const { return stem.ends_with('_'); }  ///< "layer_0"
};
Numbered numbered(std::string_view title);

}  // namespace xgrad::detail
