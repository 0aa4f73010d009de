// Assertions of what the library itself must get right. Users' mistakes are errors (error.h).
#pragma once

#if !defined(NDEBUG) || defined(_GLIBCXX_ASSERTIONS)
#include <cstdio>
#include <cstdlib>
#endif

/// Ends the program, with the condition and its place, where a precondition does not hold: in debug builds, with
/// sanitizers and with XGRAD_ASSERTIONS. In others it costs nothing, and the condition is not evaluated.
#if !defined(NDEBUG) || defined(_GLIBCXX_ASSERTIONS)
#define XGRAD_ASSERT(condition)                                                                           \
  ((condition) ? void()                                                                                   \
               : (void(std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition)), \
                  std::abort()))
#else
#define XGRAD_ASSERT(condition) void(sizeof(!(condition)))
#endif
