// The BLAS of the process, which other code may share: how it is set up, and what products need before they call it.
#pragma once

#include <string>

#include "../base/config.h"

namespace xgrad {

/// The library's changes to OpenBLAS, which it shares with all other code of the process.
struct BlasSetup {
  /// One thread inside each product (openblas_set_num_threads): the library splits products itself, into pieces that do
  /// not depend on the number of threads. If false, both use threads, and bits may depend on how many.
  bool one_thread = true;
  /// Corrects the kernels where OpenBLAS does not know the processor and took those for the oldest one. That is done
  /// before main(), while there is one thread: OPENBLAS_CORETYPE is set in the environment for a moment, and OpenBLAS
  /// is initialised anew; if false, it is initialised once more, as it was, and such products take ten times as long.
  bool choose_kernels = true;
};
/// Sets OpenBLAS up, once. A program that shares it with other code calls this at its start, while there is one thread,
/// with the changes that are allowed. Otherwise the first product that needs the BLAS (or build_info()) sets the number
/// of threads; with XGRAD_BLAS_SETUP=none in the environment OpenBLAS stays as it is, before main() and later. Does
/// nothing with another BLAS. Throws ValueError if it has been set up already, or if the variable is none of "", "all"
/// and "none".
void set_up_blas(const BlasSetup& setup);

namespace detail {
/// Before the first call of the BLAS or of LAPACK: sets it up unless that has been done. Throws as set_up_blas.
void prepare_blas();

/// While it lives, its thread may call BLAS and LAPACK, which are set up and have memory to work in. Threads: for the
/// thread that made it. OpenBLAS maps a buffer for each such thread, keeps it for the next, and retries without end
/// where there is no memory for one. So its buffers are mapped here, one more whenever more threads are inside than
/// ever before, each after a trial that can fail with std::bad_alloc.
class InsideBlas {
 public:
  InsideBlas();
  ~InsideBlas();
  InsideBlas(const InsideBlas&) = delete;
  InsideBlas& operator=(const InsideBlas&) = delete;
};

/// Name and configuration of the BLAS, and the processor that it chose its kernels for, empty if unknown.
struct BlasName {
  std::string name, core;
};
BlasName blas_name();
/// Whether the processor has these instructions, whatever the library was compiled for.
bool processor_has_avx2();
bool processor_has_avx512();
}  // namespace detail

}  // namespace xgrad
