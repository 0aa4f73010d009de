// Work done ahead of its consumer by other threads, and handed over in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

struct PrefetcherOptions {
  std::int64_t first = 0;  ///< the first job
  std::int64_t count = 0;  ///< jobs are first, ..., count - 1
  int workers = 0;         ///< threads; without any, a job is done when it is waited for
  std::int64_t ahead = 1;  ///< so many jobs at most are done or begun and not yet released
};
/// Does jobs ahead. Job k belongs to the place k % ahead, which it has for itself until it is released: its result goes
/// there.
///
///     kit::Prefetcher jobs({.count = n, .workers = 2, .ahead = 4},
///                          [&](std::int64_t k, const auto&) { place[k % 4] = make(k); });
///     for (std::int64_t k = 0; k < n; ++k) {
///       jobs.wait();                // job k is done
///       use(place[k % 4]);
///       jobs.release();
///     }
///
/// One mutex guards all shared data; writes of a job are visible to the thread that waited for it. If the system cannot
/// start more threads, the existing ones do the work.
///
/// Threads: one consumer, which also makes and ends it.
class Prefetcher {
 public:
  using Options = PrefetcherOptions;
  /// A job. A long one asks now and then whether it is stopped, and then may return without a result.
  using Job = std::function<void(std::int64_t k, const Prefetcher& from)>;

  /// Throws ValueError unless 0 <= workers <= 1024 and ahead >= 1, and for an empty function.
  Prefetcher(const Options& options, Job job);
  /// Waits until the jobs that have been begun return; no other is begun.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// Waits until the next job is done. Throws what the job threw, and then does no further jobs; ValueError if there is
  /// no next job.
  void wait();
  /// Gives up the place of the job that was waited for.
  void release();
  /// Whether results are no longer wanted.
  bool stopped() const;

 private:
  struct Place {
    bool done = false;
    std::exception_ptr error = {};
  };

  void work();
  Place run(std::int64_t k) const;
  Place& place_of(std::int64_t k) { return places_[static_cast<std::size_t>(k % options_.ahead)]; }

  const Options options_;
  const Job job_;
  mutable std::mutex mutex_;  // guards all below but the threads
  std::condition_variable space_, ready_;
  std::int64_t next_;      // the first job that has not been begun
  std::int64_t released_;  // the first job whose place is still its own
  bool stopped_ = false;
  std::vector<Place> places_;
  std::vector<std::thread> threads_;
};

}  // namespace xgrad::kit
