// The BLAS of the process, which other code may share, and how it is set up.
#pragma once

#include <string>

#include "../base/config.h"

namespace xgrad::detail {

/// Sets OpenBLAS up, once: every function that calls the BLAS or LAPACK calls this before. OpenBLAS gets one thread
/// inside each product, because the library splits products itself, into pieces that do not depend on the number of
/// threads. Before main(), while there is one thread, its kernels are corrected where it does not know the processor
/// and took those for the oldest one: OPENBLAS_CORETYPE is set in the environment for a moment, and OpenBLAS is
/// initialised anew. Does nothing with another BLAS. Thread-safe.
void prepare_blas();

/// Name and configuration of the BLAS, and the processor that it chose its kernels for, empty if unknown.
struct BlasName {
  std::string name, core;
};
BlasName blas_name();
/// Whether the processor has these instructions, whatever the library was compiled for.
bool processor_has_avx2();
bool processor_has_avx512();

}  // namespace xgrad::detail
