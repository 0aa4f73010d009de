// Layouts of views that may be too large for one run of `dot`: frame by frame, equal frames once.
#pragma once

#include <map>
#include <string>

#include "layout.h"

namespace xgrad::detail {

/// Layouts of views of any size. A view that dot can lay out as a whole is laid out so. For a larger view each frame is
/// laid out by itself, with the frames in it as closed boxes, and the layouts are nested: rows and columns spread until
/// open frames have room. An arrow between frames goes in and out at one place of each. Equal frames are laid out once,
/// also across several views. Threads: one at a time.
class ComposedLayouts {
 public:
  explicit ComposedLayouts(const GraphOptions& options) : options_(options) {}

  /// Throws as GraphLayout::of for a single frame.
  GraphLayout of(const GraphView& view);

 private:
  const GraphLayout& plan_of(const GraphView& part);

  const GraphOptions& options_;
  std::map<std::string, GraphLayout> plans_;  // by the input of dot
};

}  // namespace xgrad::detail
