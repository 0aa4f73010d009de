// elementwise(): a one-line lambda becomes a fused, differentiable operation of its own.
//
//     Tensor softsign(const Tensor& x) {
//       return elementwise("softsign", x,
//           [](auto v) { return v / (1 + abs(v)); },                                    // y
//           [](auto v, auto) { return 1 / ((1 + abs(v)) * (1 + abs(v))); });            // dy/dx
//     }
//
// Each lambda is written once and run twice: on SIMD registers when only numbers are wanted (one pass over memory, no
// temporaries), and on Tensors when the graph of the gradient is wanted. It may use + - * / and the functions abs sign
// sqrt exp expm1 log log1p pow sin cos tanh erf sigmoid maximum minimum where, comparisons inside where, and numbers.
//
// Not part of <xgrad/xgrad.h>, since it includes xsimd. Fast only with -march=native: link xgrad::native (building.md).
#pragma once

#include "arithmetic.h"
#include "elementwise.h"
#include "lambda.h"
#include "reduce.h"
