// Layouts of views that may be too large for one run of `dot`: frame by frame, what is built alike once.
#pragma once

#include <map>
#include <string>

#include "layout.h"

namespace xgrad::detail {

/// Layouts of views of any size. What dot can lay out as a whole it does. Of a larger view each frame is laid out by
/// itself, with the frames in it as closed boxes, and the layouts are put into each other: rows and columns spread
/// until what is open has room. An arrow between frames goes in and out at one place of each. Frames that are built
/// alike are laid out once, also over several views. Threads: one at a time.
class ComposedLayouts {
 public:
  explicit ComposedLayouts(const GraphOptions& options) : options_(options) {}

  /// Throws what GraphLayout::of throws of one frame.
  GraphLayout of(const GraphView& view);

 private:
  const GraphLayout& plan_of(const GraphView& part);

  const GraphOptions& options_;
  std::map<std::string, GraphLayout> plans_;  // by what dot was told
};

}  // namespace xgrad::detail
