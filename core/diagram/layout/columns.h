// Long chains in columns.
#pragma once

#include <vector>

#include "../view/view.h"
#include "geometry.h"

namespace xgrad::detail {

/// The places of a view without frames.
struct Places {
  double width = 0;
  double height = 0;
  std::vector<GraphBox> vertices;
  std::vector<GraphCurve> edges;
};

/// The same, but a chain that is longer than a page is cut, at places that only one arrow of the forward pass and one
/// of the backward pass beside it pass, into columns beside each other (rows, if the diagram runs sideways). They lead
/// around the foot of a column to the head of the next, as do kept values. A view with several backward passes stays as
/// it is, and so does one without such a place on more than a page.
Places in_columns(Places places, const GraphView& view, const GraphOptions& options);

}  // namespace xgrad::detail
