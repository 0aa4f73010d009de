// The build of this library and the processor that it runs on.
#pragma once

#include <string>

namespace xgrad {

/// The build of this library and the processor that it runs on.
struct [[nodiscard]] BuildInfo {
  std::string real;  ///< "float" or "double"
  std::string
      blas;  ///< name and configuration of the BLAS behind linear algebra; empty: the library's own factorisations
  std::string blas_core;         ///< the processor that the BLAS chose its kernels for; empty if unknown
  std::string simd;              ///< the instructions that kernels use: "AVX-512", "AVX2", "NEON", "SSE2"
  int simd_width = 0;            ///< the number of elements in a register
  std::string bfloat16;          ///< the instructions of MatmulPrecision::medium: "AMX", "AVX512-BF16", or empty
  std::string bfloat16_missing;  ///< the reason if `bfloat16` is empty
  int threads = 0;               ///< the number of threads of parallel loops
};
BuildInfo build_info();
/// The build as one line: `xgrad 0.3.0 (float), OpenBLAS 0.3.21 for SkylakeX, AVX-512 (16 numbers per register),
/// bfloat16 by AMX, 2 threads`, or `no BLAS` and `no bfloat16 (the processor has neither ...)`.
std::string to_string(const BuildInfo& info);

namespace detail {
/// The first call limits OpenBLAS to one thread, because the library shares the matrices of a batch among its own
/// threads. Call it before each use of LAPACK. Does nothing with another BLAS. Thread-safe.
void one_blas_thread();
}  // namespace detail

}  // namespace xgrad
