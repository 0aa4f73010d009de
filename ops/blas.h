// Matrix products on plain memory, and what they run on. The one door to BLAS.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../core/config.h"

namespace xgrad {

/// A factor of a product as it lies in memory: rows `stride` elements apart, each contiguous; taken transposed if
/// asked.
struct Factor {
  const Real* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

/// c = scale a b + keep c + bias,   a (m, k), b (k, n) after transposition, c (m, n) with rows `c_stride` elements
/// apart.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  Real scale = 1;
  Real keep = 0;               ///< 0: what c held does not matter, not even NaN
  const Real* bias = nullptr;  ///< (n), added to every row
};

/// Computes the product, with several threads if it is large. Equal bits for any number of threads. Any size may be 0.
/// Throws LimitError for sizes that the BLAS cannot count, std::bad_alloc if the BLAS has no memory to work in.
/// Threads: any may call this.
void gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

/// What the library changes in OpenBLAS, which it shares with all other code of the process.
struct BlasSetup {
  /// One thread inside each product (openblas_set_num_threads): the library cuts products up itself, into pieces that
  /// do not depend on the number of threads. Without this both use threads, and bits may depend on how many.
  bool one_thread = true;
  /// Where OpenBLAS does not know the processor and took the kernels for the oldest one, the right ones: sets
  /// OPENBLAS_CORETYPE in the environment for a moment and initialises OpenBLAS anew. Without this such products take
  /// ten times as long.
  bool choose_kernels = true;
};
/// Sets OpenBLAS up, once. Whoever shares it with other code calls this at the start of the program, while there is one
/// thread, with what may be changed. Otherwise the first product that needs the BLAS (or build_info()) does it: in
/// full, or not at all with XGRAD_BLAS_SETUP=none in the environment. Does nothing with another BLAS. Throws ValueError
/// if that has happened already, or if the variable is none of "", "all" and "none".
void set_up_blas(const BlasSetup& setup);

/// What this library was built for and runs on.
struct BuildInfo {
  std::string real;       ///< "float" or "double"
  std::string blas;       ///< name and configuration of the BLAS
  std::string blas_core;  ///< the processor that the BLAS chose its kernels for; empty if it does not say
  std::string simd;       ///< the instructions that kernels use: "AVX-512", "AVX2", "NEON", "SSE2"
  int simd_width = 0;     ///< numbers per register
  int threads = 0;        ///< of the parallel loop
  std::string warning;    ///< what makes products slower than this processor could compute them; usually empty
};
BuildInfo build_info();
/// One line for people: `xgrad 0.1.0 (float), OpenBLAS 0.3.21 for SkylakeX, AVX-512 (16 numbers per register), 2
/// threads`; and a second one if there is a warning.
std::string to_string(const BuildInfo& info);

namespace detail {
/// The warning about a BLAS that says `core` (empty if it does not say), on a processor with these instructions.
std::string blas_warning(std::string_view core, bool avx2, bool avx512);
}  // namespace detail

}  // namespace xgrad
