// Threads that take jobs in order, and a consumer that waits for them in the same order.
#include <xgrad/kit/data/prefetcher.h>

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

Prefetcher::Prefetcher(const Options& options, Job job)
    : options_(options), job_(std::move(job)), next_(options.first), released_(options.first) {
  if (options.workers < 0 || options.workers > 1024) {
    fail<ValueError>("prefetcher", "workers must be from 0 to 1024, got ", options.workers);
  }
  if (options.ahead < 1) fail<ValueError>("prefetcher", "ahead must be at least 1, got ", options.ahead);
  xgrad::detail::refuse_empty("prefetcher", job_);
  places_.resize(static_cast<std::size_t>(options.ahead));
  const std::int64_t workers = std::clamp<std::int64_t>(options.count - options.first, 0, options.workers);
  threads_.reserve(static_cast<std::size_t>(workers));
  try {
    while (std::ssize(threads_) < workers) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // the system can start no more: those that run already do all the work
  } catch (const std::bad_alloc&) {
  }
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  space_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    space_.wait(lock, [this] { return stopped_ || next_ >= options_.count || next_ < released_ + options_.ahead; });
    if (stopped_ || next_ >= options_.count) return;
    const std::int64_t k = next_++;
    lock.unlock();
    Place result = run(k);
    lock.lock();
    place_of(k) = std::move(result);
    ready_.notify_one();
  }
}

Prefetcher::Place Prefetcher::run(std::int64_t k) const {
  try {
    job_(k, *this);
    return {.done = true};
  } catch (...) {
    return {.done = true, .error = std::current_exception()};
  }
}

void Prefetcher::wait() {
  std::unique_lock lock(mutex_);
  if (stopped_ || released_ >= options_.count) fail<ValueError>("prefetcher", "there is no next job");
  Place& place = place_of(released_);
  if (threads_.empty() && !place.done) {
    lock.unlock();
    place = run(released_);
    lock.lock();
  }
  ready_.wait(lock, [&] { return place.done; });
  if (!place.error) return;
  stopped_ = true;
  const std::exception_ptr error = std::exchange(place.error, {});
  lock.unlock();
  space_.notify_all();
  std::rethrow_exception(error);
}

void Prefetcher::release() {
  {
    const std::lock_guard lock(mutex_);
    Place& place = place_of(released_);
    if (!place.done) fail<ValueError>("prefetcher", "nothing was waited for");
    place = {};
    ++released_;
  }
  space_.notify_all();
}

bool Prefetcher::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace xgrad::kit
