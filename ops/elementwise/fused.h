// elementwise(): a one-line lambda becomes a fused, differentiable operation.
//
//     Tensor hump(const Tensor& x) {
//       return elementwise("hump", x,
//           [](auto v) { return 1 / (1 + v * v); },              // y
//           [](auto v, auto y) { return -2 * v * y * y; });      // dy/dx
//     }
//
// Each lambda is written once and run twice: on SIMD registers when only numbers are wanted (one pass over memory, no
// temporaries), and on Tensors when the graph of the gradient is wanted. It may use + - * / and the functions abs sign
// sqrt exp expm1 exp2 log log1p log2 log10 pow sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf sigmoid
// floor ceil round trunc maximum minimum where, comparisons inside where, and numbers.
//
// Not part of <xgrad/xgrad.h>, since it includes xsimd. The lambdas are compiled with the program, for the processor
// that its flags name: link xgrad::native, and they are as fast as the library's own operations (building.md).
#pragma once

#include "arithmetic.h"
#include "elementwise.h"
#include "lambda.h"
#include "rounding.h"
#include "trigonometry.h"
