// The number type of the library, the symbol that keeps its two builds apart, and its version.
#pragma once

// Every header includes this file before it uses C++20. After an #error, the #include of a missing file ends the
// compilation. Otherwise hundreds of further errors would hide the message.
#if __cplusplus < 202002L
#error "xgrad needs C++20: compile with -std=c++20"
#include "stopped after the error above"
#endif

#include <limits>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 160000
#error "xgrad needs libc++ 16 or newer: older ones lack algorithms of C++20"
#include "stopped after the error above"
#endif

// The version of the library, for the preprocessor. CMake reads it here, too.
#define XGRAD_VERSION_MAJOR 0
#define XGRAD_VERSION_MINOR 3
#define XGRAD_VERSION_PATCH 0
#define XGRAD_VERSION "0.3.0"

// The library `xgrad` is built with float. `xgrad_f64` is built from the same sources with double, and defines
// XGRAD_F64 for programs that use it.
#ifdef XGRAD_F64
#define XGRAD_REAL_NAME xgrad_real_is_double
#else
#define XGRAD_REAL_NAME xgrad_real_is_float
#endif

extern "C" const char XGRAD_REAL_NAME;

namespace xgrad {

/// The type of all real numbers: float in the library `xgrad`, double in `xgrad_f64`.
#ifdef XGRAD_F64
using Real = double;
#else
using Real = float;
#endif

/// Infinity as a Real, for example in masked_fill(scores, mask, -infinity).
inline constexpr Real infinity = std::numeric_limits<Real>::infinity();

namespace detail {
// Every object file references a symbol that only the library of its number type defines, even if the linker drops
// unused sections. So a program does not link with the other library alone; with both libraries it does not link or
// stops when it starts (core/library.cpp). Not `inline`, to have one reference per object file.
[[gnu::used, gnu::retain]] static const char* const real_name = &XGRAD_REAL_NAME;
}  // namespace detail

}  // namespace xgrad
