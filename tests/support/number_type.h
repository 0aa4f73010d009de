// Which number type a test is compiled for.
#pragma once

#include <xgrad/core/base/config.h>

namespace xgrad::testing {

inline constexpr bool in_float = sizeof(Real) == sizeof(float);

}  // namespace xgrad::testing
