// The functions of one number that the lambdas of elementwise() may call. A new one takes its computation on registers,
// a friend of Pack (simd.h), and its name here.
#pragma once

#include "../../../core/base/config.h"

/// f(name) for every function that formulas print under its name.
#define XGRAD_PRINTED_FUNCTIONS(f)                                                                                     \
  f(abs) f(sign) f(sqrt) f(exp) f(sin) f(cos) f(tan) f(asin) f(acos) f(atan) f(sinh) f(cosh) f(tanh) f(asinh) f(acosh) \
      f(atanh) f(floor) f(ceil) f(trunc) f(round) f(erf) f(sigmoid) f(normal_cdf) f(normal_pdf)
/// And for those that formulas print by other functions (ops/elementwise/symbol.cpp).
#define XGRAD_FUNCTIONS(f) XGRAD_PRINTED_FUNCTIONS(f) f(expm1) f(log) f(log1p) f(log2) f(log10) f(exp2) f(gauss)
