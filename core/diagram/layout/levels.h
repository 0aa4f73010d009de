// Layouts for each level of folding, for pages that fold.
#pragma once

#include <string>

#include "layout.h"

namespace xgrad::detail {

/// For each level of folding a layout, the last one `layout` with everything open, in JSON, with the ids of `view`:
///
///     [{"level": 0, "boxes": [["n0", x, y, width, height], ["c1", ...], ...], "frames": [["c0", ..., width of title],
///     ...],
///       "arrows": [["n0", "n2", 1, [x, y, ...]], ["n2", "c1", 0, [x, y, ...]], ...],
///       "labels": {"c1": [["headline", "out"], ...], ...}}, ...]
///
/// Boxes are vertices and folded frames, which have labels; an arrow has its ends, the input where both are vertices,
/// its curve and its tip. Where frames are not unique there is only the last level.
std::string levels_json(const GraphView& view, const GraphLayout& layout, const GraphOptions& options);

}  // namespace xgrad::detail
