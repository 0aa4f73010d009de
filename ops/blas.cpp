// Matrix products by BLAS.
//
// Of xtensor-blas this uses the BLAS prototypes that it brings along. Its own gemm takes no leading dimension, so that
// neither the heads of an attention nor blocks of rows can be multiplied in place, and copies what is laid out
// otherwise.
#include "blas.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include <xflens/cxxblas/drivers/cblas.h>

#include "../core/error.h"
#include "../core/parallel.h"
#include "../core/text.h"
#include "../core/version.h"
#include "kernels/simd.h"
#include "kernels/tiles.h"

#ifdef XGRAD_OPENBLAS
extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
void openblas_set_num_threads(int count);
// Exported by OpenBLAS when it chooses its kernels at run time, but declared nowhere.
[[gnu::weak]] void gotoblas_dynamic_quit();
[[gnu::weak]] void gotoblas_dynamic_init();
// The memory that products work in; exported, but declared nowhere.
[[gnu::weak]] void* blas_memory_alloc(int);
[[gnu::weak]] void blas_memory_free(void*);
}
#endif

namespace xgrad {
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

// OpenBLAS has one thread for all products. Those of parallel_for take its place: BLAS's own would wait for each other
// at every product, and share out the work in a way that depends on their number.
std::mutex set_up_mutex;
std::atomic<bool> is_set_up{false};

void set_up([[maybe_unused]] const BlasSetup& setup) {
#ifdef XGRAD_OPENBLAS
  if (setup.choose_kernels) choose_kernels();
  if (setup.one_thread) openblas_set_num_threads(1);
#endif
  is_set_up.store(true, std::memory_order_release);
}

// Before the first product.
void prepare() {
  if (is_set_up.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(set_up_mutex);
  if (is_set_up) return;
  const char* variable = std::getenv("XGRAD_BLAS_SETUP");
  const std::string_view text = variable ? variable : "";
  if (text != "" && text != "all" && text != "none")
    fail<ValueError>("XGRAD_BLAS_SETUP", "'", text, "' is neither all nor none");
  const bool all = text != "none";
  set_up({.one_thread = all, .choose_kernels = all});
}

#ifdef XGRAD_OPENBLAS
// OpenBLAS maps a buffer for each thread that is inside a product, keeps it for the next, and where there is no memory
// for one, tries again without end. So it is made to map its buffers here, one more whenever more threads are inside
// than ever before, each behind a trial that can fail.
class Inside {
 public:
  Inside() {
    const int count = inside_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (count <= mapped_.load(std::memory_order_acquire) || !blas_memory_alloc || !blas_memory_free) return;
    try {
      map_for(count);
    } catch (...) {
      inside_.fetch_sub(1, std::memory_order_relaxed);
      throw;
    }
  }
  ~Inside() { inside_.fetch_sub(1, std::memory_order_relaxed); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  static void map_for(int threads) {
    static std::mutex mutex;
    static std::vector<void*> known;
    const std::lock_guard lock(mutex);
    while (static_cast<int>(known.size()) < threads) {
      std::vector<void*> held;
      held.reserve(known.size() + 1);
      known.reserve(known.size() + 1);
      try_memory();
      // What OpenBLAS has mapped and nobody uses comes first; then it maps another buffer.
      do held.push_back(blas_memory_alloc(0));
      while (std::ranges::find(known, held.back()) != known.end());
      void* const fresh = held.back();
      for (void* buffer : held) {
        if (buffer) blas_memory_free(buffer);
      }
      if (!fresh) throw std::bad_alloc();  // OpenBLAS counts no more threads
      known.push_back(fresh);
    }
    mapped_.store(static_cast<int>(known.size()), std::memory_order_release);
  }
  static void try_memory() {
    constexpr std::size_t size = std::size_t{129} << 20;  // of a buffer on x86-64, and a little more
    void* trial = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED) throw std::bad_alloc();
    munmap(trial, size);
  }

  inline static std::atomic<int> inside_{0}, mapped_{0};
};
#endif

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
#ifdef XGRAD_OPENBLAS
  const Inside inside;
#endif
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
  const bool tiles = detail::suits_tiles(p);
  if (!tiles) prepare();
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

void set_up_blas(const BlasSetup& setup) {
  const std::lock_guard lock(set_up_mutex);
  if (is_set_up) fail<ValueError>("set_up_blas", "the BLAS has been set up already, by an earlier call or a product");
  set_up(setup);
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
  prepare();
#ifdef XGRAD_OPENBLAS
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

}  // namespace xgrad
