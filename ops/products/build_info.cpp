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

namespace {

// Of the processor, even if the library was compiled for others.
#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

}  // namespace

std::string detail::blas_warning(std::string_view core, bool avx2, bool avx512) {
  if (core.empty()) return "";
  const bool for_avx512 = core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids";
  const bool for_avx2 = for_avx512 || core == "Haswell" || core == "Zen" || core == "Excavator";
  const char* better = avx512 && !for_avx512 ? "SkylakeX" : avx2 && !for_avx2 ? "Haswell" : nullptr;
  return better ? str("OpenBLAS uses kernels for ", core, ", this processor could use those for ", better,
                      " (OPENBLAS_CORETYPE)")
                : "";
}

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
  info.warning = detail::blas_warning(info.blas_core, has_avx2(), has_avx512());
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
             info.threads, info.threads == 1 ? " thread" : " threads",
             info.warning.empty() ? "" : "\nwarning: ", info.warning);
}

}  // namespace xgrad
