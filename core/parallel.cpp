// A pool of waiting threads that take blocks of a loop off one counter.
#include <xgrad/core/parallel.h>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <xgrad/core/error.h>

namespace xgrad::inline XGRAD_ABI {
namespace {

constexpr int most_threads = 1024;
thread_local bool inside_loop = false;

// One parallel_for while it runs.
class Loop {
 public:
  Loop(std::int64_t count, std::int64_t grain, void (*run)(const void*, std::int64_t, std::int64_t),
       const void* context)
      : count_(count), grain_(grain), run_(run), context_(context) {}

  // Takes blocks until none is left.
  void work() noexcept {
    const bool outer = std::exchange(inside_loop, true);
    while (true) {
      const std::int64_t block = next_.fetch_add(1, std::memory_order_relaxed);
      if (block * grain_ >= count_) break;
      try {
        run_(context_, block * grain_, std::min(count_, (block + 1) * grain_));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (block < failed_block_) {
          failed_block_ = block;
          failure_ = std::current_exception();
        }
      }
    }
    inside_loop = outer;
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::int64_t count_, grain_;
  void (*run_)(const void*, std::int64_t, std::int64_t);
  const void* context_;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;  // of the two below
  std::int64_t failed_block_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr failure_;
};

// The helping threads. They spin a few microseconds for the next loop before they sleep, because loops come in rows.
class Crew {
 public:
  explicit Crew(int helpers) {
    for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { wait_for_work(); });
  }
  ~Crew() {
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
    loop.work();
    std::unique_lock lock(mutex_);
    loop_ = nullptr;  // who has not come by now need not come
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
    for (int i = 0; i < 1000 && !fulfilled(); ++i) {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  }

  void wait_for_work() {
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
      loop.work();
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
  if (const char* text = std::getenv("XGRAD_THREADS")) {
    const std::string_view digits(text);
    int count = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), count);
    if (error == std::errc() && end == digits.end() && count >= 1 && count <= most_threads) return count;
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, most_threads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
}

struct State {
  std::mutex one_loop;  // loops of different threads take turns
  std::atomic<int> count{threads_at_start()};
  std::unique_ptr<Crew> crew;

  State() {
    // A child process has none of its parent's threads: it starts a crew of its own when it needs one.
    pthread_atfork(nullptr, nullptr, [] {
      new (&state().one_loop) std::mutex;
      (void)state().crew.release();
    });
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
    fail<ValueError>("set_threads", "count ", count, " not in [1, ", most_threads, "]");
  State& state = State::state();
  const std::lock_guard lock(state.one_loop);
  if (count == state.count) return;
  state.crew.reset();
  state.count = count;
}

void detail::parallel_blocks(std::int64_t count, std::int64_t grain,
                             void (*run)(const void*, std::int64_t, std::int64_t), const void* context) {
  Loop loop(count, std::max<std::int64_t>(grain, 1), run, context);
  State& state = State::state();
  if (std::unique_lock lock(state.one_loop, std::defer_lock); threads() > 1 && !inside_loop && lock.try_lock()) {
    if (!state.crew) state.crew = std::make_unique<Crew>(threads() - 1);
    state.crew->run(loop);
  } else {
    loop.work();  // inside another loop, or another thread has the crew
  }
  loop.rethrow();
}

}  // namespace xgrad::inline XGRAD_ABI
