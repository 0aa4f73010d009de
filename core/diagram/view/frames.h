// Frames: the module in which each vertex of a GraphView is drawn.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "view.h"

namespace xgrad::detail {

/// Makes the frames of a view whose vertices know their paths, and assigns every vertex to one. A module that was
/// called several times gets a frame for each call; the second one has the path "cell (2)". `calls` are the numbers of
/// the calls that operations ran in, by vertex (base/scope.h), `whats` the class and attributes of modules, by path.
void assign_frames(GraphView& view, const Indexed<std::uint32_t>& calls,
                   const std::map<std::string, std::string>& whats);

/// Sets the level of every frame: the number of frames around it, itself included.
void set_levels(GraphView& view);
/// The level of the innermost frame: 0 without frames. The levels must be set.
int deepest_level(const GraphView& view);

/// A path without the numbers of calls: "cell.gate" for "cell (2).gate".
std::string module_of(std::string_view path);
/// A title that ends in a number, in two parts: "blocks." and 3 for "blocks.3", "block" and 11 for "block11", "cell ("
/// and 2 for "cell (2)", the second call of a module. The stem is empty if there is no number.
struct Numbered {
  std::string_view stem, digits;
  bool is_call() const { return stem.ends_with('('); }
  bool is_listed() const { return stem.ends_with('.'); }
  bool is_numbered() const { return stem.ends_with('_'); }  ///< "layer_0"
};
Numbered numbered(std::string_view title);

}  // namespace xgrad::detail
