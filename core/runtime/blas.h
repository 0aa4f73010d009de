// The BLAS of the process, which other code may share: how it is set up, and what products need before they call it.
#pragma once

#include <string>

#include "../base/config.h"

namespace xgrad {

/// What the library changes in OpenBLAS, which it shares with all other code of the process.
struct BlasSetup {
  /// One thread inside each product (openblas_set_num_threads): the library cuts products up itself, into pieces that
  /// do not depend on the number of threads. Without this both use threads, and bits may depend on how many.
  bool one_thread = true;
  /// Where OpenBLAS does not know the processor and took the kernels for the oldest one, the right ones. That is done
  /// before main(), while there is one thread: OPENBLAS_CORETYPE is set in the environment for a moment, and OpenBLAS
  /// is initialised anew; without this it is initialised once more, as it was. Such products then take ten times as
  /// long.
  bool choose_kernels = true;
};
/// Sets OpenBLAS up, once. Whoever shares it with other code calls this at the start of the program, while there is one
/// thread, with what may be changed. Otherwise the first product that needs the BLAS (or build_info()) sets the number
/// of threads; with XGRAD_BLAS_SETUP=none in the environment OpenBLAS stays as it is, before main() and later. Does
/// nothing with another BLAS. Throws ValueError if that has happened already, or if the variable is none of "", "all"
/// and "none".
void set_up_blas(const BlasSetup& setup);

namespace detail {
/// Before the first call of the BLAS or of LAPACK: sets it up unless that has been done. Throws as set_up_blas.
void prepare_blas();

/// While it lives, its thread may call BLAS and LAPACK, which are set up and have memory to work in. Threads: for the
/// thread that made it. OpenBLAS maps a buffer for each such thread, keeps it for the next, and where there is no
/// memory for one, tries again without end. So it is made to map its buffers here, one more whenever more threads are
/// inside than ever before, each behind a trial that can fail with std::bad_alloc.
class InsideBlas {
 public:
  InsideBlas();
  ~InsideBlas();
  InsideBlas(const InsideBlas&) = delete;
  InsideBlas& operator=(const InsideBlas&) = delete;
};

/// Name and configuration of the BLAS, and the processor that it chose its kernels for, empty if it does not say.
struct BlasName {
  std::string name, core;
};
BlasName blas_name();
/// Whether the processor has these instructions, whatever the library was compiled for.
bool processor_has_avx2();
bool processor_has_avx512();
}  // namespace detail

}  // namespace xgrad
