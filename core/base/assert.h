// Assertions of what the library itself must get right. Users' mistakes are errors (error.h).
#pragma once

#include "config.h"

/// Ends the program, with the file and the condition, where a precondition does not hold: in debug builds, with
/// sanitizers and with XGRAD_ASSERTIONS. In others it costs nothing, and the condition is not evaluated.
#if !defined(NDEBUG) || defined(_GLIBCXX_ASSERTIONS)
#include <cstdio>
#include <cstdlib>
#define XGRAD_ASSERT(condition) \
  ((condition) ? void() : (void(std::fputs(__FILE__ ": does not hold: " #condition "\n", stderr)), std::abort()))
#else
#define XGRAD_ASSERT(condition) void(sizeof(!(condition)))
#endif
