// Setting up the BLAS.
#include "blas.h"

#include <cstdlib>
#include <string_view>

#ifdef XGRAD_OPENBLAS
extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
void openblas_set_num_threads(int count);
#if defined(__x86_64__) && defined(__ELF__)
// Exported by OpenBLAS when it chooses its kernels at run time, but declared nowhere.
[[gnu::weak]] void gotoblas_dynamic_quit();
[[gnu::weak]] void gotoblas_dynamic_init();
#endif
}
#endif

namespace xgrad {

#if defined(__x86_64__)
bool detail::processor_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool detail::processor_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#else
bool detail::processor_has_avx2() { return false; }
bool detail::processor_has_avx512() { return false; }
#endif

#ifdef XGRAD_OPENBLAS
#if defined(__x86_64__) && defined(__ELF__)
namespace {

// OpenBLAS knows processors by name and takes one newer than itself for the oldest, which costs a factor of ten. So the
// library chooses its kernels, unless the user has.
void choose_kernels() {
  constexpr const char* choice = "OPENBLAS_CORETYPE";
  if (std::getenv(choice) || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  const std::string_view chosen = openblas_get_corename();
  if (chosen != "Prescott" && chosen != "Generic" && chosen != "generic") return;
  const char* better = detail::processor_has_avx512() ? "SkylakeX" : detail::processor_has_avx2() ? "Haswell" : nullptr;
  if (!better) return;
  setenv(choice, better, 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(choice);
}

// Before main(): afterwards another thread may read the environment or be inside a product.
[[maybe_unused]] const bool before_main = (choose_kernels(), true);

}  // namespace
#endif

// OpenBLAS gets one thread, and those of parallel_for share the matrices of a batch instead: BLAS's own would wait for
// each other, and split the work in a way that depends on their number.
void detail::prepare_blas() { [[maybe_unused]] static const bool done = (openblas_set_num_threads(1), true); }
detail::BlasName detail::blas_name() { return {openblas_get_config(), openblas_get_corename()}; }
#else
void detail::prepare_blas() {}
#ifdef XGRAD_OTHER_BLAS
detail::BlasName detail::blas_name() { return {"BLAS", ""}; }
#else
detail::BlasName detail::blas_name() { return {}; }
#endif
#endif

}  // namespace xgrad
