// Setting up the BLAS.
#include "blas.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "../base/error.h"
#include "../base/fork.h"

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

namespace {

std::string_view setup_by_environment() {
  const char* text = std::getenv("XGRAD_BLAS_SETUP");
  return text ? text : "";
}

#ifdef XGRAD_OPENBLAS
// OpenBLAS knows processors by name and takes one newer than itself for the oldest, which costs a factor of ten. So it
// is told which kernels to use, unless the user has chosen. Returns whether it was told.
bool choose_kernels() {
  constexpr const char* choice = "OPENBLAS_CORETYPE";
  if (std::getenv(choice) || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return false;
  const std::string_view chosen = openblas_get_corename();
  if (chosen != "Prescott" && chosen != "Generic" && chosen != "generic") return false;
  const char* better = detail::processor_has_avx512() ? "SkylakeX" : detail::processor_has_avx2() ? "Haswell" : nullptr;
  if (!better) return false;
  setenv(choice, better, 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(choice);
  return true;
}

// Before main(): afterwards another thread may read the environment or be inside a product.
const bool kernels_chosen = setup_by_environment() != "none" && choose_kernels();
#endif

// The BLAS of the process.
struct {
  std::mutex mutex;  // of its setup and of `known`
  std::atomic<bool> is_set_up{false};
  std::atomic<int> inside{0};  // running products
  std::atomic<int> mapped{0};  // buffers that OpenBLAS has for them
  std::vector<void*> known;    // these
} constinit blas;
const detail::WholeAtFork whole{[]() -> std::mutex& { return blas.mutex; }, detail::WholeAtFork::engine};

// OpenBLAS gets one thread, and those of parallel_for share the work instead: BLAS's own would wait for each other at
// every product, and split the work in a way that depends on their number.
void set_up([[maybe_unused]] const BlasSetup& setup) {
#ifdef XGRAD_OPENBLAS
  if (!setup.choose_kernels && kernels_chosen) {
    gotoblas_dynamic_quit();
    gotoblas_dynamic_init();
  }
  if (setup.one_thread) openblas_set_num_threads(1);
#endif
  blas.is_set_up.store(true, std::memory_order_release);
}

#ifdef XGRAD_OPENBLAS
void try_memory() {
  constexpr std::size_t size = std::size_t{129} << 20;  // of a buffer on x86-64, and a little more
  void* trial = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED) throw std::bad_alloc();
  munmap(trial, size);
}

void map_for(int threads) {
  const std::lock_guard lock(blas.mutex);
  std::vector<void*>& known = blas.known;
  while (static_cast<int>(known.size()) < threads) {
    std::vector<void*> held;
    held.reserve(known.size() + 1);
    known.reserve(known.size() + 1);
    try_memory();
    // Mapped buffers that are not in use come first; then OpenBLAS maps another one.
    do held.push_back(blas_memory_alloc(0));
    while (std::ranges::find(known, held.back()) != known.end());
    void* const fresh = held.back();
    for (void* buffer : held) {
      if (buffer) blas_memory_free(buffer);
    }
    if (!fresh) throw std::bad_alloc();  // OpenBLAS supports no more threads
    known.push_back(fresh);
  }
  blas.mapped.store(static_cast<int>(known.size()), std::memory_order_release);
}
#endif

}  // namespace

void set_up_blas(const BlasSetup& setup) {
  const std::lock_guard lock(blas.mutex);
  if (blas.is_set_up) fail<ValueError>("set_up_blas", "the BLAS has been set up already, by an earlier call or a product");
  set_up(setup);
}

void detail::prepare_blas() {
  if (blas.is_set_up.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(blas.mutex);
  if (blas.is_set_up) return;
  const std::string_view text = setup_by_environment();
  if (text != "" && text != "all" && text != "none")
    fail<ValueError>("XGRAD_BLAS_SETUP", "'", text, "' is neither all nor none");
  const bool all = text != "none";
  set_up({.one_thread = all, .choose_kernels = all});
}

#ifdef XGRAD_OPENBLAS
detail::InsideBlas::InsideBlas() {
  prepare_blas();
  const int count = blas.inside.fetch_add(1, std::memory_order_relaxed) + 1;
  if (count <= blas.mapped.load(std::memory_order_acquire) || !blas_memory_alloc || !blas_memory_free) return;
  try {
    map_for(count);
  } catch (...) {
    blas.inside.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
}
detail::InsideBlas::~InsideBlas() { blas.inside.fetch_sub(1, std::memory_order_relaxed); }

detail::BlasName detail::blas_name() { return {openblas_get_config(), openblas_get_corename()}; }
#else
detail::InsideBlas::InsideBlas() { prepare_blas(); }
detail::InsideBlas::~InsideBlas() = default;

detail::BlasName detail::blas_name() { return {"BLAS", ""}; }
#endif

}  // namespace xgrad
