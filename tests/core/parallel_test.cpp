// Tests of core/parallel.h: every block once, the same blocks with any number of threads, exceptions, fork.
#include <xgrad/core/parallel.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <xgrad/core/error.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

using Blocks = std::vector<std::pair<std::int64_t, std::int64_t>>;

Blocks blocks_of(std::int64_t count, std::int64_t grain) {
  std::mutex mutex;
  Blocks blocks;
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    blocks.emplace_back(begin, end);
  });
  std::ranges::sort(blocks);
  return blocks;
}

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

TEST_CASE("several threads take part") {
  const ThreadCount restore(4);
  CHECK(threads() == 4);
  std::mutex mutex;
  std::vector<std::thread::id> ids;
  std::atomic<int> inside{0};
  parallel_for(4, 1, [&](std::int64_t, std::int64_t) {
    ++inside;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (inside < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ids.push_back(std::this_thread::get_id());
  });
  std::ranges::sort(ids);
  CHECK(ids.front() != ids.back());
}

TEST_CASE("the exception of the lowest block reaches the caller, and the loop works again") {
  for (const int count : {1, 4}) {
    const ThreadCount restore(count);
    for (int run = 0; run < 50; ++run) {
      std::string what;
      try {
        parallel_for(100, 1, [](std::int64_t begin, std::int64_t) {
          if (begin >= 17) throw std::runtime_error(cat("block ", begin));
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

TEST_CASE("a number of threads outside 1 ... 1024 is refused") {
  const int before = threads();
  CHECK(error_of<ValueError>([] { set_threads(0); }) == "set_threads: count 0 not in [1, 1024]");
  error_of<ValueError>([] { set_threads(-1); });
  error_of<ValueError>([] { set_threads(10'000); });
  CHECK(threads() == before);
}

TEST_CASE("a child process has a crew of its own") {
  const ThreadCount restore(3);
  CHECK(blocks_of(100, 10).size() == 10);  // the threads run now
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(5);  // a hang ends the child
    std::atomic<std::int64_t> sum{0};
    parallel_for(1000, 10, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    _exit(sum == 1000 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(blocks_of(100, 10).size() == 10);
}

TEST_CASE("threads can be told to stay on processors of their own") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  if (CPU_COUNT(&before) < 2) return;
  const ThreadCount one(1);
  setenv("XGRAD_PIN_THREADS", "1", 1);
  set_threads(2);
  std::mutex mutex;
  std::set<std::pair<std::thread::id, int>> seen;
  std::set<int> allowed;
  for (int i = 0; i < 50; ++i) {
    parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
      cpu_set_t mine;
      sched_getaffinity(0, sizeof mine, &mine);
      const std::lock_guard lock(mutex);
      seen.emplace(std::this_thread::get_id(), sched_getcpu());
      allowed.insert(CPU_COUNT(&mine));
    });
  }
  unsetenv("XGRAD_PIN_THREADS");
  set_threads(1);
  sched_setaffinity(0, sizeof before, &before);
  CHECK(allowed == std::set<int>{1});
  CHECK(seen.size() <= 2);  // no thread was seen on two processors
}
