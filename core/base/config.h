// The number type of the library, the symbol that keeps its two builds apart, and its version.
#pragma once

// Every header comes here before it uses anything of C++20. The second line ends the compilation, so that the first is
// not lost among hundreds that follow from it.
#if __cplusplus < 202002L
#error "xgrad needs C++20: compile with -std=c++20"
#include "stopped after the error above"
#endif

#include <limits>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 160000
#error "xgrad needs libc++ 16 or newer: older ones lack algorithms of C++20"
#include "stopped after the error above"
#endif

// The version of the library, for the preprocessor, and for CMake, which reads it here.
#define XGRAD_VERSION_MAJOR 0
#define XGRAD_VERSION_MINOR 3
#define XGRAD_VERSION_PATCH 0
#define XGRAD_VERSION "0.3.0"

// `xgrad` is built with float; `xgrad_f64` is the same sources with double and defines XGRAD_F64 for its users.
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

/// Infinity as a Real: masked_fill(scores, mask, -infinity).
inline constexpr Real infinity = std::numeric_limits<Real>::infinity();

namespace detail {
// Every object file refers to the library of its own number type by name, also where unused sections are dropped. It
// links neither with the other library alone nor with both (core/library.cpp). Not `inline`: one reference per object
// file.
[[gnu::used, gnu::retain]] static const char* const real_name = &XGRAD_REAL_NAME;
}  // namespace detail

}  // namespace xgrad
