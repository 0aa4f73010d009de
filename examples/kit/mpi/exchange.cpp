// Buckets, and the sum by a tree.
#include <xgrad/kit/mpi/exchange.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace xgrad::mpi::detail {
namespace {

// To the nearest bfloat16, ties to even; NaN stays one.
std::uint16_t to_bfloat16(Real number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (std::isnan(number)) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

Real from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

}  // namespace

TreeSum::TreeSum(World& world, std::span<Real> numbers, int tag, bool bfloat16)
    : world_(world), numbers_(numbers), tag_(tag), bfloat16_(bfloat16), range_{0, numbers.size() / 2, numbers.size()} {
  done();
}

std::span<Real> TreeSum::part(const Range& range, bool first) const {
  return first ? numbers_.subspan(range.begin, range.middle - range.begin)
               : numbers_.subspan(range.middle, range.end - range.middle);
}

// Starts the next round; false if there is none.
bool TreeSum::post() {
  if (!gathering_ && bit_ >= world_.ranks()) {
    gathering_ = true;
    if (bfloat16_ && world_.ranks() > 1) {  // the sums of this rank are what the others will have of them
      for (Real& number : numbers_.subspan(range_.begin, range_.end - range_.begin)) {
        number = from_bfloat16(to_bfloat16(number));
      }
    }
  }
  if (gathering_) {
    if (bit_ == 1) return false;
    bit_ >>= 1;
    range_ = outer_.back();
    outer_.pop_back();
  }
  const int partner = world_.rank() ^ bit_;
  const std::span<Real> kept = part(range_, lower()), given = part(range_, !lower());
  const std::span<const Real> out = gathering_ ? kept : given;
  const std::span<Real> in = gathering_ ? given : kept;
  if (bfloat16_) {
    rounded_out_.resize(out.size());
    std::ranges::transform(out, rounded_out_.begin(), to_bfloat16);
    rounded_in_.resize(in.size());
    pending_ = world_.start_exchange(partner, tag_, std::as_bytes(std::span(rounded_out_)),
                                     std::as_writable_bytes(std::span(rounded_in_)));
  } else {
    received_.resize(gathering_ ? 0 : in.size());
    const std::span<Real> into = gathering_ ? in : std::span(received_);
    pending_ = world_.start_exchange(partner, tag_, std::as_bytes(out), std::as_writable_bytes(into));
  }
  return true;
}

// A round is over.
void TreeSum::take() {
  pending_.reset();
  if (gathering_) {
    if (bfloat16_) std::ranges::transform(rounded_in_, part(range_, !lower()).begin(), from_bfloat16);
    return;
  }
  const std::span<Real> kept = part(range_, lower());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] += bfloat16_ ? from_bfloat16(rounded_in_[i]) : received_[i];
  outer_.push_back(range_);
  const std::size_t begin = lower() ? range_.begin : range_.middle, end = lower() ? range_.middle : range_.end;
  range_ = {begin, begin + (end - begin) / 2, end};
  bit_ <<= 1;
}

bool TreeSum::done() {
  while (true) {
    if (pending_) {
      if (!pending_->done()) return false;
      take();
    }
    if (!post()) return true;
  }
}

Exchange::Exchange(World& world, std::int64_t count, const ExchangeOptions& options)
    : world_(world), options_(options), count_(static_cast<std::size_t>(count)) {
  constexpr auto each = static_cast<std::int64_t>(sizeof(Real));
  std::int64_t size = std::max<std::int64_t>(1, options.first_bucket_bytes / each);
  for (std::int64_t begin = 0; begin < count; begin = buckets_.back().end) {
    buckets_.push_back({.begin = begin, .end = std::min(count, begin + size), .missing = 0});
    size = std::max<std::int64_t>(1, options.bucket_bytes / each);
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
  if (options_.overlap) start_complete();
}

// In the order of the buckets, which is the same on all ranks.
void Exchange::start_complete() {
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) start(buckets_[next_++]);
}

void Exchange::start(Bucket& bucket) {
  if (!busy_since_) busy_since_ = Clock::now();
  const std::span<Real> numbers = std::span(numbers_).subspan(static_cast<std::size_t>(bucket.begin),
                                                              static_cast<std::size_t>(bucket.end - bucket.begin));
  const auto tag = static_cast<int>(&bucket - buckets_.data());
  if (options_.tree || options_.bfloat16) {
    bucket.pending = std::make_unique<TreeSum>(world_, numbers, tag, options_.bfloat16);
  } else {
    bucket.pending = world_.start_sum(numbers);
  }
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
