// Setting up the BLAS of the process, which other code may use, too.
#pragma once

#include <string>

#include "../base/config.h"

namespace xgrad::detail {

/// Sets OpenBLAS up once; to be called before each use of LAPACK. OpenBLAS gets one thread inside each factorisation,
/// because the library shares the matrices of a batch among its own threads.
///
/// OpenBLAS takes a processor that it does not know for the oldest one. Its kernels are corrected before main(), while
/// there is one thread: OPENBLAS_CORETYPE is set in the environment for a moment, and OpenBLAS is initialised anew.
///
/// Does nothing with another BLAS, or without. Thread-safe.
void prepare_blas();

/// The name and configuration of the BLAS, empty without one, and the processor of its kernels, empty if unknown.
struct BlasName {
  std::string name, core;
};
BlasName blas_name();
/// Whether the processor has these instructions, even if the library was compiled for others.
bool processor_has_avx2();
bool processor_has_avx512();

}  // namespace xgrad::detail
