// Elementwise loops of a program that was compiled for every processor, for the one that it runs on. The library holds its
// kernels for several levels of x86-64 (building.md) and chooses when the program starts; the loop around a lambda of the
// user's own is compiled here for the same levels, v3 (AVX2) and v4 (AVX-512), whatever the flags, and uses the level that
// the library chose: XGRAD_LEVEL applies here, too. Elsewhere, and where the flags name AVX, the lambda runs on Packs alone.
//
// A lambda has no instructions of its own: it is called with Lanes, whose functions are compiled for a level (wide_level.inc),
// by a loop into which the compiler puts all that it calls (flatten). For that, Lanes are plain numbers in memory, which every
// function passes alike; once all is in one loop, they are registers.
#pragma once

#include "simd.h"

// XGRAD_LEVELS: this file is part of the library, whose kernels are compiled for each level already.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX__) && !defined(XGRAD_LEVELS)
#define XGRAD_WIDE_LOOPS
#endif

namespace xgrad::detail {

/// The level that the running kernels were compiled for.
enum class Level { base, v3, v4 };
/// `base` if they were compiled for anything else.
Level level_of_kernels();

/// An input along a row.
struct RowInput {
  const Real* from;
  std::int64_t step;  // 0 or 1
};

// out[i] = f(in[i]) for `count` numbers, by Packs, for the functions that take many instructions: one copy of them is in the
// library.
#define XGRAD_WIDE_FUNCTIONS(DO) \
  DO(log) DO(log1p) DO(log2) DO(log10) DO(sin) DO(cos) DO(tan) DO(asin) DO(acos) DO(atan) DO(sinh) DO(cosh) DO(tanh) DO(asinh) \
      DO(acosh) DO(atanh)
#define XGRAD_DECLARE(f) void wide_##f(const Real* in, Real* out, std::int64_t count);
XGRAD_WIDE_FUNCTIONS(XGRAD_DECLARE)
#undef XGRAD_DECLARE

}  // namespace xgrad::detail

#ifdef XGRAD_WIDE_LOOPS
#include <immintrin.h>

#include <cstring>

#ifdef XGRAD_F64
#define XGRAD_WIDE_SUFFIX pd
#else
#define XGRAD_WIDE_SUFFIX ps
#endif
#define XGRAD_WIDE_JOIN_3(a, b, c) a##b##_##c
#define XGRAD_WIDE_JOIN(a, b, c) XGRAD_WIDE_JOIN_3(a, b, c)

#define XGRAD_WIDE_LEVEL wide_v3
#define XGRAD_WIDE_BYTES 32
#define XGRAD_WIDE_TARGET "avx2,fma,bmi,bmi2"
#define XGRAD_WIDE_CALL(name, ...) XGRAD_WIDE_JOIN(_mm256_, name, XGRAD_WIDE_SUFFIX)(__VA_ARGS__)
#define XGRAD_WIDE_ROUND(a, way) XGRAD_WIDE_CALL(round, a, (way) | _MM_FROUND_NO_EXC)
#include "wide_level.inc"

// With a mask of all lanes: GCC 12 warns about the unmasked instructions within its own header.
#define XGRAD_WIDE_LEVEL wide_v4
#define XGRAD_WIDE_BYTES 64
#define XGRAD_WIDE_TARGET "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2"
#define XGRAD_WIDE_CALL(name, ...) XGRAD_WIDE_JOIN(_mm512_maskz_, name, XGRAD_WIDE_SUFFIX)((1u << lanes) - 1, __VA_ARGS__)
#define XGRAD_WIDE_ROUND(a, way) XGRAD_WIDE_CALL(roundscale, a, way)
#include "wide_level.inc"

#undef XGRAD_WIDE_JOIN
#undef XGRAD_WIDE_JOIN_3
#undef XGRAD_WIDE_SUFFIX
#endif
