// Tests of core/runtime/parallel.h: every block once, the same blocks with any number of threads, exceptions, fork.
#include <xgrad/core/runtime/parallel.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/ops.h>

#include "support/again.h"
#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Calls f(begin, end) for every block of a loop, one call at a time.
template <class F>
void each_block(std::int64_t count, std::int64_t grain, const F& f) {
  std::mutex mutex;
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    f(begin, end);
  });
}

Blocks blocks_of(std::int64_t count, std::int64_t grain) {
  Blocks blocks;
  each_block(count, grain, [&](std::int64_t begin, std::int64_t end) { blocks.emplace_back(begin, end); });
  std::ranges::sort(blocks);
  return blocks;
}

// While it lives, the system refuses to start threads: their stacks would not fit into any address space.
#ifdef __EMSCRIPTEN__
struct NoNewThreads {
  ~NoNewThreads() {}  // it never starts any
};
#else
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_getattr_default_np(&usual_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoNewThreads() {
    pthread_setattr_default_np(&usual_);
    pthread_attr_destroy(&usual_);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t usual_;
};
#endif

}  // namespace

TEST_CASE("the blocks make up the range, each once, whatever the number of threads") {
  const ThreadCount restore(1);
  for (const auto& [count, grain] :
       {std::pair{0, 4}, {1, 4}, {4, 4}, {5, 4}, {1000, 7}, {1000, 1000}, {3, 1}, {10, 0}, {10, -3}}) {
    set_threads(1);
    const Blocks alone = blocks_of(count, grain);
    std::int64_t next = 0;
    for (const auto& [begin, end] : alone) {
      CHECK(begin == next);
      CHECK(end > begin);
      next = end;
    }
    CHECK(next == count);
    for (const int threads : {2, 3, 7}) {
      set_threads(threads);
      CHECK(blocks_of(count, grain) == alone);
    }
  }
}

TEST_CASE(
    "helping threads record, plain or not, trace, and are in the model, as who called them, and forget it afterwards") {
  const ThreadCount restore(2);  // the fewest of which one helps
  const Place* const place = intern("blocks.3");
  using What = std::tuple<const Place*, bool, bool, bool>;
  const auto seen = [] {
    std::mutex mutex;
    std::map<std::thread::id, What> by_thread;
    std::atomic<int> inside{0};
    parallel_for(4, 1, [&](std::int64_t, std::int64_t) {
      ++inside;
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      while (inside < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
      const std::lock_guard lock(mutex);
      by_thread[std::this_thread::get_id()] = {current_place(), recording(), runs_plain(), detail::context.tracing};
    });
    return by_thread;
  };
  {
    const NoGrad off;
    const Plain plain;
    const TraceAll trace;
    const Scope scope(place);
    const auto inside = seen();
    CHECK(inside.size() > 1);
    for (const auto& [thread, what] : inside) CHECK(what == What{place, false, true, true});
  }
  for (const auto& [thread, what] : seen()) CHECK(what == What{nullptr, true, false, false});
}

TEST_CASE("the exception of the lowest block reaches the caller, and the loop works again") {
  for (const int count : {1, 4}) {
    const ThreadCount restore(count);
    for (int run = 0; run < 50; ++run) {
      std::string what;
      try {
        parallel_for(100, 1, [](std::int64_t begin, std::int64_t) {
          if (begin >= 17) throw std::runtime_error(str("block ", begin));
        });
      } catch (const std::runtime_error& error) {
        what = error.what();
      }
      CHECK(what == "block 17");
    }
    CHECK(blocks_of(100, 10).size() == 10);
  }
}

TEST_CASE("a loop inside a loop runs on the thread that it is on") {
  const ThreadCount restore(4);
  std::atomic<int> count{0};
  std::atomic<bool> moved{false};
  parallel_for(8, 1, [&](std::int64_t, std::int64_t) {
    const auto outer = std::this_thread::get_id();
    parallel_for(100, 1, [&](std::int64_t, std::int64_t) {
      ++count;
      if (std::this_thread::get_id() != outer) moved = true;
    });
  });
  CHECK(count == 800);
  CHECK_FALSE(moved);
}

TEST_CASE("loops of several threads at the same time are all done in full") {
  const ThreadCount restore(3);
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        parallel_for(64, 8, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 4 * 200 * 64);
}

TEST_CASE("a number of threads outside 1 ... 1024, or from within a loop, is refused") {
  const int before = threads();
  for (const int count : {0, -1, 1025, 10'000}) {
    CHECK_REFUSED(ValueError, set_threads(count), "set_threads", str("count ", count, " is not in [1, 1024]"));
  }
  CHECK(threads() == before);
  for (const int count : {1, 3}) {
    const ThreadCount restore(count);
    int refused = 0;
    each_block(30, 1, [&](std::int64_t, std::int64_t) {
      CHECK_REFUSED(ValueError, set_threads(2), "set_threads", "a parallel loop is running on this thread");
      ++refused;
    });
    CHECK(refused == 30);
    CHECK(threads() == count);
  }
  const ThreadCount again(2);
  CHECK(threads() == 2);
}

TEST_CASE("where no thread can be started, loops run on those that there are") {
  const ThreadCount one(1);
  const Blocks alone = blocks_of(100, 10);
  {
    const NoNewThreads none;
    CHECK_THROWS_AS(std::thread([] {}), std::system_error);
    set_threads(4);
    CHECK(blocks_of(100, 10) == alone);
    CHECK(blocks_of(100, 10) == alone);
  }
  CHECK(threads() == 4);
  set_threads(3);
  CHECK(blocks_of(100, 10) == alone);
}

TEST_CASE("the environment says how many threads there are at first") {
  if (const char* expected = std::getenv("XGRAD_TEST_EXPECTED")) {
    CHECK(threads() == std::atoi(expected));
    CHECK(blocks_of(100, 10).size() == 10);
    return;
  }
  const auto run = [](const std::string& environment) {
    return run_again("the environment says how many threads there are at first", environment);
  };
  CHECK(run("XGRAD_TEST_EXPECTED=3 XGRAD_THREADS=3").status == 0);
  for (const std::string wrong : {"abc", "0", "-1", "1025", "3x", " 3", "2.5", "99999999999999999999"}) {
    const Again again = run("XGRAD_TEST_EXPECTED=3 XGRAD_THREADS='" + wrong + "'");
    CAPTURE(again.output);
    CHECK(again.status != 0);
    CHECK(again.output.find("XGRAD_THREADS: '" + wrong + "' is not an integer in [1, 1024]") != std::string::npos);
  }
}

TEST_CASE("a child process has a pool of its own, and can differentiate") {
  const ThreadCount restore(3);
  CHECK(blocks_of(100, 10).size() == 10);  // the threads run now
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(5);  // a hang ends the child
    std::atomic<std::int64_t> done{0};
    parallel_for(1000, 10, [&](std::int64_t begin, std::int64_t end) { done += end - begin; });
    const Tensor w = variable(Array(Shape{100'000}, Real(3)));
    const Array gradient = grad(sum(w * w), {w})[0].value();
    _exit(done == 1000 && equal(gradient, Array(Shape{100'000}, Real(6))) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(blocks_of(100, 10).size() == 10);
}
