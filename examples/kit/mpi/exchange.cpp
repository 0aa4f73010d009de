// Buckets.
#include <xgrad/kit/mpi/exchange.h>

#include <algorithm>

namespace xgrad::mpi::detail {

Exchange::Exchange(World& world, std::int64_t count, std::int64_t first_bucket_bytes, std::int64_t bucket_bytes)
    : world_(world), count_(static_cast<std::size_t>(count)) {
  constexpr auto each = static_cast<std::int64_t>(sizeof(Real));
  std::int64_t size = std::max<std::int64_t>(1, first_bucket_bytes / each);
  for (std::int64_t begin = 0; begin < count; begin = buckets_.back().end) {
    buckets_.push_back({.begin = begin, .end = std::min(count, begin + size), .missing = 0});
    size = std::max<std::int64_t>(1, bucket_bytes / each);
  }
}

void Exchange::begin() {
  for (Bucket& bucket : buckets_) {
    bucket = {.begin = bucket.begin, .end = bucket.end, .missing = bucket.end - bucket.begin};
  }
  next_ = first_ = 0;
  in_pass_ = true;
  busy_since_.reset();
  report_ = {.buckets = static_cast<int>(buckets_.size())};
}

void Exchange::ready(std::int64_t begin, std::int64_t end) {
  const auto overlaps = std::ranges::upper_bound(buckets_, begin, {}, &Bucket::end);
  for (auto bucket = overlaps; bucket != buckets_.end() && bucket->begin < end; ++bucket) {
    bucket->missing -= std::min(end, bucket->end) - std::max(begin, bucket->begin);
  }
  // In the order of the buckets, which is the same on all ranks.
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) start(buckets_[next_++]);
}

void Exchange::start(Bucket& bucket) {
  if (!busy_since_) busy_since_ = Clock::now();
  const std::span<Real> numbers = std::span(numbers_).subspan(static_cast<std::size_t>(bucket.begin),
                                                              static_cast<std::size_t>(bucket.end - bucket.begin));
  bucket.pending = world_.start_sum(numbers);
}

void Exchange::advance() {
  for (std::size_t i = first_; i < next_; ++i) {
    Bucket& bucket = buckets_[i];
    if (!bucket.pending || !bucket.pending->done()) continue;
    bucket.pending.reset();
    if (in_pass_) ++report_.completed_during_pass;
  }
  while (first_ < next_ && !buckets_[first_].pending) ++first_;
  if (first_ == next_ && busy_since_) {
    report_.milliseconds += std::chrono::duration<double, std::milli>(Clock::now() - *busy_since_).count();
    busy_since_.reset();
  }
}

void Exchange::finish() {
  const Clock::time_point end_of_pass = Clock::now();
  in_pass_ = false;
  while (next_ < buckets_.size()) start(buckets_[next_++]);
  while (first_ < buckets_.size()) advance();
  report_.waited = std::chrono::duration<double, std::milli>(Clock::now() - end_of_pass).count();
}

}  // namespace xgrad::mpi::detail
