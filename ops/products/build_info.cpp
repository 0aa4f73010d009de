// The build of this library and the processor that it runs on.
#include "build_info.h"

#include "../../core/base/config.h"
#include "../../core/base/text.h"
#include "../../core/runtime/parallel.h"
#include "../kernels/registers/registers.h"
#include "matmul_precision.h"

#ifdef XGRAD_OPENBLAS
extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
void openblas_set_num_threads(int count);
}
#endif

namespace xgrad {

#ifdef XGRAD_OPENBLAS
void detail::one_blas_thread() { [[maybe_unused]] static const bool done = (openblas_set_num_threads(1), true); }
#else
void detail::one_blas_thread() {}
#endif

BuildInfo build_info() {
  BuildInfo info;
  info.real = sizeof(Real) == sizeof(float) ? "float" : "double";
#ifdef XGRAD_OPENBLAS
  info.blas = openblas_get_config();
  info.blas_core = openblas_get_corename();
#elif defined(XGRAD_OTHER_BLAS)
  info.blas = "BLAS";
#endif
  const auto [instructions, width] = detail::registers_of_kernels();
  info.simd = instructions;
  info.simd_width = width;
  info.bfloat16 = detail::bfloat_unit_name();
  info.bfloat16_missing = detail::bfloat_unit_missing();
  info.threads = threads();
  return info;
}

std::string to_string(const BuildInfo& info) {
  // The BLAS says more than a line holds: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  const std::size_t name_end = info.blas.find(' ', info.blas.find(' ') + 1);
  return str("xgrad " XGRAD_VERSION " (", info.real, "), ",
             info.blas.empty() ? "no BLAS" : info.blas.substr(0, name_end), info.blas_core.empty() ? "" : " for ",
             info.blas_core, ", ", info.simd, " (", info.simd_width, " numbers per register), ",
             info.bfloat16.empty() ? str("no bfloat16 (", info.bfloat16_missing, "), ")
                                   : str("bfloat16 by ", info.bfloat16, ", "),
             info.threads, info.threads == 1 ? " thread" : " threads");
}

}  // namespace xgrad
