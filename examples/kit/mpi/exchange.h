// Exchange: the sum of a long list of numbers over all ranks, in buckets that go out as soon as they are complete.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <xgrad/core/base/config.h>
#include <xgrad/kit/mpi/world.h>

namespace xgrad::mpi {

/// How well the exchange of a step was hidden behind the backward pass.
struct ExchangeReport {
  int buckets = 0;
  int started_during_pass = 0;    ///< of them: sent before the last gradient rule ran
  int completed_during_pass = 0;  ///< of them: summed before the pass ended
  double milliseconds = 0;        ///< in which a bucket was on its way
  double waited = 0;              ///< milliseconds of these, behind the pass
  /// The fraction of the time of communication in which the program computed.
  double hidden() const { return milliseconds > 0 ? 1 - waited / milliseconds : 0; }
};

namespace detail {

/// Sums one list after another.
///
/// Threads: that of its world.
class Exchange {
 public:
  Exchange(World& world, std::int64_t count, std::int64_t first_bucket_bytes, std::int64_t bucket_bytes);

  /// The numbers of this rank, and behind finish() the sums. There is no memory for them before they are asked for.
  std::span<Real> numbers() {
    numbers_.resize(count_);
    return numbers_;
  }
  /// Another list is going to be summed.
  void begin();
  /// Numbers begin ... end - 1 are complete.
  void ready(std::int64_t begin, std::int64_t end);
  /// A gradient rule of the pass is about to run.
  void rule_begins() { report_.started_during_pass = static_cast<int>(next_); }
  /// Communication goes on where it can.
  void advance();
  /// The pass has ended: sends what was not sent and waits for all.
  void finish();
  const ExchangeReport& report() const { return report_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Bucket {
    std::int64_t begin, end, missing;
    std::unique_ptr<Pending> pending = {};
  };
  void start(Bucket& bucket);

  World& world_;
  const std::size_t count_;
  std::vector<Real> numbers_;
  std::vector<Bucket> buckets_;
  std::size_t next_ = 0;   // to be started
  std::size_t first_ = 0;  // that is not done
  bool in_pass_ = false;
  std::optional<Clock::time_point> busy_since_;
  ExchangeReport report_;
};

}  // namespace detail
}  // namespace xgrad::mpi
