// Drawing the numbers of a run.
#pragma once

#include <string>

#include "../../profile/summary.h"
#include "../layout/geometry.h"

namespace xgrad::detail {

/// The cells or the histogram of values.h, centred at a point.
std::string numbers_in_svg(const NumbersSummary& summary, const GraphPoint& middle);

}  // namespace xgrad::detail
