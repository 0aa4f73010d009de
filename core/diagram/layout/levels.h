// Where everything stands when modules are folded, for pages that fold them.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad::detail {

/// For each level of folding above the deepest a layout of its own, in JSON, under the ids that things have in `view`:
///
///     [{"level": 0, "boxes": {"n0": [x, y, width, height], "c1": ...}, "frames": {"c0": ...},
///       "arrows": {"n0>n2#1": [x, y, ...], "n2>c1": ...}, "labels": {"c1": [["headline", "out"], ...]}}, ...]
///
/// Boxes are vertices and folded frames, which have labels; an arrow is its curve and its tip, named after what it
/// leads from and to, and the input where both are vertices. A level that dot cannot lay out is left out.
std::string levels_json(const GraphView& view, const GraphOptions& options);

}  // namespace xgrad::detail
