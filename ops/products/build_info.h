// The build of this library and the processor that it runs on.
#pragma once

#include <string>
#include <string_view>

namespace xgrad {

/// The build of this library and the processor that it runs on.
struct [[nodiscard]] BuildInfo {
  std::string real;  ///< "float" or "double"
  std::string
      blas;  ///< name and configuration of the BLAS behind linear algebra; empty: the library's own factorisations
  std::string blas_core;         ///< the processor that the BLAS chose its kernels for; empty if unknown
  std::string simd;              ///< the instructions that kernels use: "AVX-512", "AVX2", "NEON", "SSE2"
  int simd_width = 0;            ///< numbers per register
  std::string bfloat16;          ///< the instructions of MatmulPrecision::medium: "AMX", "AVX512-BF16", or empty
  std::string bfloat16_missing;  ///< why there are none
  int threads = 0;               ///< of the parallel loop
  std::string warning;           ///< why linear algebra is slower than this processor allows; usually empty
};
BuildInfo build_info();
/// One line for people: `xgrad 0.3.0 (float), OpenBLAS 0.3.21 for SkylakeX, AVX-512 (16 numbers per register),
/// bfloat16 by AMX, 2 threads`, or `no BLAS` and `no bfloat16 (the processor has neither ...)`; and a second line with
/// a warning.
std::string to_string(const BuildInfo& info);

namespace detail {
/// Gives OpenBLAS one thread inside each factorisation, once: the library shares the matrices of a batch among its own
/// threads. To be called before each use of LAPACK. Does nothing with another BLAS. Thread-safe.
void one_blas_thread();
/// The warning about an OpenBLAS with kernels for `core` (empty without one), on a processor with these instructions.
std::string blas_warning(std::string_view core, bool avx2, bool avx512);
}  // namespace detail

}  // namespace xgrad
