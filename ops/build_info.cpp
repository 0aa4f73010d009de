// The build of this library and the processor that it runs on.
#include "build_info.h"

#include "../core/base/config.h"
#include "../core/base/text.h"
#include "../core/runtime/parallel.h"
#include "kernels/registers/registers.h"
#include "products/matmul_precision.h"

namespace xgrad {

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
  detail::prepare_blas();
  const auto [name, core] = detail::blas_name();
  info.blas = name;
  info.blas_core = core;
  const auto [instructions, width] = detail::registers_of_kernels();
  info.simd = instructions;
  info.simd_width = width;
  info.bfloat16 = detail::bfloat_unit_name();
  info.bfloat16_missing = detail::bfloat_unit_missing();
  info.threads = threads();
  info.warning = detail::blas_warning(info.blas_core, detail::processor_has_avx2(), detail::processor_has_avx512());
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
