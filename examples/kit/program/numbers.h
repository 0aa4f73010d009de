// The numbers of an array, for drawings.
#pragma once

#include <vector>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// All values, row after row: of a Series, of a HeatMapPanel.
inline std::vector<double> numbers(const Array& values) { return {values.begin(), values.end()}; }

}  // namespace xgrad::kit
