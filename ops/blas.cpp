// Matrix products by BLAS.
//
// Of xtensor-blas this uses the BLAS prototypes that it brings along. Its own gemm takes no leading dimension, so that
// neither the heads of an attention nor blocks of rows can be multiplied in place, and copies what is laid out
// otherwise.
#include <xgrad/ops/blas.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <xflens/cxxblas/drivers/cblas.h>

#include <xgrad/core/error.h>
#include <xgrad/core/parallel.h>
#include <xgrad/core/text.h>
#include <xgrad/ops/simd.h>
#include <xgrad/ops/tiles.h>
#include <xgrad/version.h>

#ifdef XGRAD_OPENBLAS
extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
void openblas_set_num_threads(int count);
// Exported by OpenBLAS when it chooses its kernels at run time, but declared nowhere.
[[gnu::weak]] void gotoblas_dynamic_quit();
[[gnu::weak]] void gotoblas_dynamic_init();
}
#endif

namespace xgrad::inline XGRAD_ABI {
namespace {

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

#ifdef XGRAD_OPENBLAS
// OpenBLAS knows processors by name. One newer than itself it takes for the oldest, which costs a factor of ten, so it
// is told what to look for; unless the user has chosen.
void choose_kernels() {
  constexpr const char* choice = "OPENBLAS_CORETYPE";
  if (std::getenv(choice) || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  const std::string_view chosen = openblas_get_corename();
  if (chosen != "Prescott" && chosen != "Generic" && chosen != "generic") return;
  const char* better = has_avx512() ? "SkylakeX" : has_avx2() ? "Haswell" : nullptr;
  if (!better) return;
  setenv(choice, better, 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(choice);
}
#endif

// The threads are those of parallel_for: BLAS's own would wait for each other at every product, and share out the work
// in a way that depends on their number.
void prepare() {
#ifdef XGRAD_OPENBLAS
  static const bool once = [] {
    choose_kernels();
    openblas_set_num_threads(1);
    return true;
  }();
  (void)once;
#endif
}

int narrow(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    fail<LimitError>("matmul", "size ", size, " is beyond what BLAS can count");
  return static_cast<int>(size);
}

constexpr auto blas_gemm = [] {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return &cblas_sgemm;
  } else {
    return &cblas_dgemm;
  }
}();

// BLAS demands strides of at least 1, also where there is one row only.
int stride_of(std::int64_t stride) { return narrow(std::max<std::int64_t>(stride, 1)); }

void blas_product(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  blas_gemm(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans,
            narrow(p.m), narrow(p.n), narrow(p.k), p.scale, a.data, stride_of(a.stride), b.data, stride_of(b.stride),
            p.keep, c, stride_of(c_stride));
}

// c = keep c + bias
void start_rows(const Gemm& p, Real* c, std::int64_t c_stride) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    Real* row = c + i * c_stride;
    for (std::int64_t j = 0; j < p.n; ++j) row[j] = (p.bias ? p.bias[j] : 0) + (p.keep == 0 ? 0 : p.keep * row[j]);
  }
}

void serial_gemm(Gemm p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, bool tiles) {
  if (tiles) return detail::tile_gemm(p, a, b, c, c_stride);
  if (p.bias) {
    start_rows(p, c, c_stride);
    p.keep = 1;
  }
  blas_product(p, a, b, c, c_stride);
}

// Into how many pieces a product is cut, along the longer side of c. A BLAS may give other bits for other pieces, so
// its number must not depend on the number of threads; tiles do not, and every piece copies the other factor anew.
std::int64_t pieces(const Gemm& p, bool tiles) {
  constexpr std::int64_t least = 1 << 18, most_for_blas = 8;
  return std::min<std::int64_t>(tiles ? threads() : most_for_blas, p.m * p.n * p.k / least);
}

}  // namespace

void gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return start_rows(p, c, c_stride);
  prepare();
  const bool tiles = detail::suits_tiles(p);
  const bool by_rows = p.m >= p.n;
  const std::int64_t side = by_rows ? p.m : p.n;
  const std::int64_t piece = (side / std::max<std::int64_t>(1, pieces(p, tiles)) + 31) / 32 * 32;
  parallel_for(side, piece, [&](std::int64_t begin, std::int64_t end) {
    Gemm part = p;
    Factor from_a = a, from_b = b;
    if (by_rows) {
      part.m = end - begin;
      from_a.data += begin * (a.transposed ? 1 : a.stride);
    } else {
      part.n = end - begin;
      from_b.data += begin * (b.transposed ? b.stride : 1);
      if (p.bias) part.bias += begin;
    }
    serial_gemm(part, from_a, from_b, c + begin * (by_rows ? c_stride : 1), c_stride, tiles);
  });
}

std::string detail::blas_warning(std::string_view core, bool avx2, bool avx512) {
  if (core.empty()) return "the BLAS is not OpenBLAS, products may take many times longer";
  const bool for_avx512 = core == "SkylakeX" || core == "Cooperlake" || core == "SapphireRapids";
  const bool for_avx2 = for_avx512 || core == "Haswell" || core == "Zen" || core == "Excavator";
  const char* better = avx512 && !for_avx512 ? "SkylakeX" : avx2 && !for_avx2 ? "Haswell" : nullptr;
  return better ? cat("OpenBLAS uses kernels for ", core, ", this processor could use those for ", better,
                      " (OPENBLAS_CORETYPE)")
                : "";
}

BuildInfo build_info() {
  BuildInfo info;
  info.real = sizeof(Real) == sizeof(float) ? "float" : "double";
#ifdef XGRAD_OPENBLAS
  prepare();
  info.blas = openblas_get_config();
  info.blas_core = openblas_get_corename();
#else
  info.blas = "BLAS";
#endif
#if defined(__AVX512F__)
  info.simd = "AVX-512";
#elif defined(__AVX2__)
  info.simd = "AVX2";
#elif defined(__SSE2__)
  info.simd = "SSE2";
#elif defined(__ARM_NEON)
  info.simd = "NEON";
#else
  info.simd = "no SIMD";
#endif
  info.simd_width = static_cast<int>(Pack::width);
  info.threads = threads();
  info.warning = detail::blas_warning(info.blas_core, has_avx2(), has_avx512());
  return info;
}

std::string to_string(const BuildInfo& info) {
  // The BLAS says more than a line holds: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  const std::size_t name_end = info.blas.find(' ', info.blas.find(' ') + 1);
  return cat("xgrad " XGRAD_VERSION " (", info.real, "), ", info.blas.substr(0, name_end),
             info.blas_core.empty() ? "" : " for ", info.blas_core, ", ", info.simd, " (", info.simd_width,
             " numbers per register), ", info.threads, info.threads == 1 ? " thread" : " threads",
             info.warning.empty() ? "" : "\nwarning: ", info.warning);
}

}  // namespace xgrad::inline XGRAD_ABI
