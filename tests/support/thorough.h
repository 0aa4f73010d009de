// How much tests try: a sample, or all, as tests/long asks.
#pragma once

#include <cstdlib>

namespace xgrad::testing {

inline bool thorough() { return std::getenv("XGRAD_THOROUGH") != nullptr; }

}  // namespace xgrad::testing
