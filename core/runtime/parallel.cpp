// A pool of waiting threads that divide the blocks of a loop.
#include "parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../base/error.h"
#include "../base/scope.h"

namespace xgrad {
namespace {

constexpr int most_threads = 1024;

// One parallel_for while it runs. Each thread has its own chunk of blocks, the same one in every loop of this
// length, so that the data is still in its cache; when it is done it helps with the others.
class Loop {
 public:
  Loop(std::int64_t count, std::int64_t grain, void (*body)(const void*, std::int64_t, std::int64_t),
       const void* context, int threads)
      : count_(count),
        grain_(grain),
        blocks_((count - 1) / grain + 1),
        run_(body),
        context_(context),
        chunks_(std::min(threads, most_chunks)) {
    for (int i = 0; i < chunks_; ++i) next_[i].block.store(first_of(i), std::memory_order_relaxed);
  }

  // Takes blocks until none is left, as the thread of this number.
  void work(int thread) noexcept {
    using detail::Context, detail::ScopedValue;
    const ScopedValue place(&Context::place, caller_.place);
    const ScopedValue call(&Context::call, caller_.call);
    const ScopedValue rule(&Context::recorded_rule, caller_.recorded_rule);
    const ScopedValue grad_order(&Context::grad_order, caller_.grad_order);
    const ScopedValue grad_mode(&Context::grad_mode, caller_.grad_mode);
    const ScopedValue tracing(&Context::tracing, caller_.tracing);
    const ScopedValue plain(&Context::plain, caller_.plain);
    const bool outer = std::exchange(detail::context.in_loop, true);
    for (int i = 0; i < chunks_; ++i) {
      const int chunk = (thread + i) % chunks_;
      while (true) {
        const std::int64_t block = next_[chunk].block.fetch_add(1, std::memory_order_relaxed);
        if (block >= first_of(chunk + 1)) break;
        run(block);
      }
    }
    detail::context.in_loop = outer;
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static constexpr int most_chunks = 32;
  struct alignas(64) Next {  // no two in one cache line
    std::atomic<std::int64_t> block;
  };

  // blocks chunk / chunks, rounded down, without the product, which can overflow.
  std::int64_t first_of(int chunk) const { return blocks_ / chunks_ * chunk + blocks_ % chunks_ * chunk / chunks_; }
  void run(std::int64_t block) noexcept {
    try {
      const std::int64_t begin = block * grain_;
      run_(context_, begin, begin + std::min(grain_, count_ - begin));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (block < failed_block_) {
        failed_block_ = block;
        failure_ = std::current_exception();
      }
    }
  }

  std::int64_t count_, grain_, blocks_;
  void (*run_)(const void*, std::int64_t, std::int64_t);
  const void* context_;
  const detail::Context caller_ = detail::context;
  int chunks_;
  Next next_[most_chunks];
  std::mutex mutex_;  // of the two below
  std::int64_t failed_block_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr failure_;
};

// The worker threads. They spin a few microseconds for the next loop before they sleep: loops come close together.
class ThreadPool {
 public:
  explicit ThreadPool(int workers) {
    threads_.reserve(static_cast<std::size_t>(workers));
    try {
      for (int i = 1; i <= workers; ++i) threads_.emplace_back([this, i] { wait_for_work(i); });
    } catch (const std::system_error&) {  // the system can start no more: those that run already do all the work
    } catch (const std::bad_alloc&) {
    }
  }
  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(Loop& loop) {
    {
      const std::lock_guard lock(mutex_);
      loop_ = &loop;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    loop.work(0);
    std::unique_lock lock(mutex_);
    loop_ = nullptr;  // threads that have not come by now need not come
    while (active_.load() != 0) {
      lock.unlock();
      spin([this] { return active_.load(std::memory_order_acquire) == 0; });
      lock.lock();
      done_.wait(lock, [this] { return active_.load() == 0; });
    }
  }

 private:
  template <class Condition>
  static void spin(const Condition& fulfilled) {
    for (int i = 0; i < 2000 && !fulfilled(); ++i) {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  }

  void wait_for_work(int thread) {
    std::uint64_t seen = 0;
    while (true) {
      spin([&] { return generation_.load(std::memory_order_acquire) != seen; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || generation_.load() != seen; });
      if (closing_) return;
      seen = generation_.load();
      if (!loop_) continue;
      Loop& loop = *loop_;
      active_.fetch_add(1);
      lock.unlock();
      loop.work(thread);
      lock.lock();
      if (active_.fetch_sub(1) == 1) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> active_{0};
  bool closing_ = false;
  Loop* loop_ = nullptr;
  std::vector<std::thread> threads_;
};

int threads_at_start() {
  const char* variable = std::getenv("XGRAD_THREADS");
  if (const std::string_view text = variable ? variable : ""; !text.empty()) {
    int count = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), count);
    if (error != std::errc() || end != text.end() || count < 1 || count > most_threads)
      fail<ValueError>("XGRAD_THREADS", "'", text, "' is not an integer in [1, ", most_threads, "]");
    return count;
  }
#ifdef __linux__  // where a process may be limited to some of the processors
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, most_threads);
#endif
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
}

struct State {
  std::mutex one_loop;  // loops of different threads take turns
  std::atomic<int> count{threads_at_start()};
  std::unique_ptr<ThreadPool> pool;

  State() {
    // A child process has none of its parent's threads: it starts its own pool when it needs one.
    pthread_atfork(nullptr, nullptr, [] { (void)state().pool.release(); });
  }
  static State& state() {
    static State& only = *new State;  // never destroyed: the threads wait until the process ends
    return only;
  }
};

}  // namespace

int threads() { return State::state().count.load(std::memory_order_relaxed); }

void set_threads(int count) {
  if (count < 1 || count > most_threads)
    fail<ValueError>("set_threads", "count ", count, " is not in [1, ", most_threads, "]");
  if (detail::context.in_loop) fail<ValueError>("set_threads", "a parallel loop is running on this thread");
  State& state = State::state();
  const std::lock_guard lock(state.one_loop);
  if (count == state.count) return;
  state.pool.reset();
  state.count = count;
}

void detail::parallel_blocks(std::int64_t count, std::int64_t grain,
                             void (*run)(const void*, std::int64_t, std::int64_t), const void* body) {
  State& state = State::state();
  std::unique_lock lock(state.one_loop, std::defer_lock);
  const bool together = threads() > 1 && !detail::context.in_loop && lock.try_lock();
  Loop loop(count, std::max<std::int64_t>(grain, 1), run, body, together ? threads() : 1);
  if (together) {
    if (!state.pool) state.pool = std::make_unique<ThreadPool>(state.count - 1);
    state.pool->run(loop);
  } else {
    loop.work(0);  // inside another loop, or another thread has the pool
  }
  loop.rethrow();
}

}  // namespace xgrad
