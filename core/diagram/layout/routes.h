// The routes of arrows through the layers of a diagram.
#pragma once

#include "layers.h"
#include "ordering.h"
#include "placing.h"

namespace xgrad::detail {

/// The curves of all arrows, with x across the page and y along it. An arrow leaves a box in the middle of its side,
/// turns between layers only, runs straight along its lanes, and enters its result at its port. So no part of it runs
/// back or touches a box or a title. Within a layer it runs straight, or around obstacles.
Indexed<GraphCurve> routes(const Layers& layers, const Placing& placing, const Ordering& ordering);

}  // namespace xgrad::detail
