// StreamLoader: the batches of a stream, whose length is unknown: the lines of a large file, or the results of a
// function.
//
//     kit::StreamLoader lines{kit::Lines("corpus.txt.gz"), {.batch_size = 32, .shuffle_buffer = 10000, .seed = 1}};
//     for (const std::vector<std::string>& some : lines) std::cout << some.front();
//
//     const auto countdown = [](std::int64_t epoch) {  // begins a pass
//       return [left = 3 + epoch]() mutable -> std::optional<std::int64_t> {
//         if (left == 0) return {};
//         return left--;
//       };
//     };
//     kit::StreamLoader numbers{countdown, {.batch_size = 2}};  // [3, 2], [1]
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <xgrad/kit/data/collate.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/packed.h>
#include <xgrad/kit/data/prefetcher.h>

namespace xgrad::kit {

namespace detail {
/// The function that gives the samples of a pass.
template <class S>
auto pass_of(const S& stream, std::int64_t epoch) {
  if constexpr (std::invocable<const S&, std::int64_t>) {
    return stream(epoch);
  } else {
    return stream();
  }
}
template <class S>
using Pass = decltype(pass_of(std::declval<const S&>(), 0));
}  // namespace detail

/// A function that begins a pass: stream(), or stream(epoch), is a function of which each call gives the next sample,
/// a std::optional, and nothing at the end. One thread at a time calls it.
template <class S>
concept Stream = (std::invocable<const S&, std::int64_t> || std::invocable<const S&>)&&requires(detail::Pass<S> next) {
  { next().has_value() } -> std::convertible_to<bool>;
  *next();
};

/// The lines of a text file, plain or packed by gzip, without their ends (\n, \r\n): a stream of std::string.
///
/// Threads: many may begin passes of one object; a pass is for one at a time.
class Lines {
 public:
  /// Throws IoError if the file cannot be opened or is no regular file.
  explicit Lines(std::filesystem::path path) : path_(std::move(path)) { PackedFile{path_}; }

  /// The lines of one pass. A call throws IoError if reading fails or the packed data are damaged.
  class Pass {
   public:
    explicit Pass(const std::filesystem::path& path) : file_(path) {}
    std::optional<std::string> operator()();

   private:
    PackedFile file_;
    std::string read_;      // read ahead
    std::size_t used_ = 0;  // of it, given out
  };
  Pass operator()() const { return Pass(path_); }

 private:
  std::filesystem::path path_;
};

struct StreamLoaderOptions {
  std::int64_t batch_size = 1;
  /// Samples that wait, of which one is drawn at random whenever one is wanted; 0: samples come in their order. The
  /// larger, the better mixed: sample i comes no sooner than at place i - shuffle_buffer.
  std::int64_t shuffle_buffer = 0;
  bool drop_last = false;  ///< leave out the last batch of an epoch where it would be smaller
  Seed seed = 0;           ///< of the order, and of random numbers of samples
  int num_workers = 0;     ///< threads that make batches ahead; without any, a batch is made when it is asked for
  std::int64_t prefetch_factor = 2;  ///< number of batches ahead for each worker
};

namespace detail {
void check(const StreamLoaderOptions& options);
std::string settings_of(const StreamLoaderOptions& options);
}  // namespace detail

/// The batches of a stream, as a range: each pass over it is an epoch. A pass that is left early counts, too.
///
/// Everything else is as with a DataLoader: a batch is the result of `collate(std::vector<Sample>)`, random numbers
/// depend on seed, epoch and the sample's number in the stream, and workers change the time and nothing else. The
/// stream is read by one of them at a time; `collate` is called by all, so slow work belongs there.
///
/// One batch is made ahead even without workers, so that the last one is known to be the last.
///
/// Threads: one at a time.
template <Stream S, class Collate = detail::DefaultCollate>
class StreamLoader {
  using Pass = detail::Pass<S>;

 public:
  using Options = StreamLoaderOptions;
  using Sample = std::remove_cvref_t<decltype(*std::declval<Pass&>()())>;
  using Batch = std::remove_cvref_t<std::invoke_result_t<const Collate&, std::vector<Sample>>>;

  /// Throws ValueError for sizes and counts out of their range.
  explicit StreamLoader(S stream, const Options& options = {}, Collate collate = {})
      : stream_(std::move(stream)), collate_(std::move(collate)), options_(options) {
    detail::check(options);
    batches_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, options.num_workers * options.prefetch_factor)));
  }
  StreamLoader(const StreamLoader&) = delete;
  StreamLoader& operator=(const StreamLoader&) = delete;

  /// The number of batches of the epoch: 0 while it is unknown, position() from its last batch on.
  std::int64_t size() const { return current_ && !ahead_ && !error_ ? position() : 0; }
  /// How many epochs have been done: the number of the one that is going on.
  std::int64_t epoch() const { return place_.epoch(); }
  /// How many batches of it have been handed out.
  std::int64_t position() const { return place_.position(); }

  using Iterator = detail::BatchIterator<StreamLoader, Batch>;

  /// Begins an epoch, or after load_state_dict() goes on in one, for which it goes over the samples before; a pass that
  /// is still going on ends. This and ++ throw SampleError with what the stream or `collate` threw; this throws
  /// ValueError for a stream without a batch, FormatError for one that ends before the place of the state.
  Iterator begin() {
    end_pass();
    place_.begin();
    pass_.emplace(detail::pass_of(stream_, epoch()));
    waiting_.clear();
    read_ = taken_ = 0;
    turn_ = position();
    while (taken_ < position() * options_.batch_size && taken()) continue;
    if (position() > 0 && taken_ <= (position() - 1) * options_.batch_size) {
      fail<FormatError>("data_loader", "the stream ends behind ", taken_, " samples, before batch ", position());
    }
    jobs_.emplace(PrefetcherOptions{.first = position(),
                                    .count = std::numeric_limits<std::int64_t>::max(),
                                    .workers = options_.num_workers,
                                    .ahead = std::ssize(batches_)},
                  [this](std::int64_t k, const Prefetcher& from) { place_of(k) = batch(k, from); });
    fetch();
    if (!ahead_ && !error_ && position() == 0) fail<ValueError>("data_loader", "the stream has no batch");
    next();
    return Iterator(*this);
  }
  std::default_sentinel_t end() const { return {}; }

  /// Epoch and position, for a checkpoint: inside of the loop the position after the current batch.
  StateFile state_dict() const { return place_.state_dict(detail::settings_of(options_)); }
  /// The next pass begins where the state was taken: with the very next batch, if the stream is the same. Throws
  /// FormatError for a state of a loader with other options (but for the workers'); then nothing has changed.
  void load_state_dict(const StateFile& state) {
    const detail::LoaderPlace place(state, detail::settings_of(options_), std::numeric_limits<std::int64_t>::max());
    end_pass();  // workers read the epoch
    place_ = place;
  }

 private:
  std::optional<Batch>& place_of(std::int64_t k) {
    return batches_[static_cast<std::size_t>(k % std::ssize(batches_))];
  }

  void end_pass() {
    jobs_.reset();
    current_.reset();
    ahead_.reset();
    error_ = {};
    for (std::optional<Batch>& batch : batches_) batch.reset();
  }

  struct Numbered {
    std::int64_t number;  // in the stream
    Sample sample;
  };

  /// The next sample of the stream, or nothing at its end.
  std::optional<Sample> read() {
    if (!pass_) return {};
    try {
      const detail::SampleRandomness random(options_.seed, epoch(), read_);
      std::optional<Sample> sample = (*pass_)();
      if (sample) {
        ++read_;
      } else {
        pass_.reset();
      }
      return sample;
    } catch (...) {
      pass_.reset();
      detail::throw_of_samples({read_});
    }
  }

  /// One of those that wait, which are filled up before.
  std::optional<Numbered> taken() {
    while (std::ssize(waiting_) < std::max<std::int64_t>(1, options_.shuffle_buffer)) {
      std::optional<Sample> sample = read();
      if (!sample) break;
      waiting_.push_back({read_ - 1, std::move(*sample)});
    }
    if (waiting_.empty()) return {};
    if (waiting_.size() > 1) {
      const detail::SampleRandomness random(options_.seed, epoch(), detail::of_epoch + taken_);
      const Index place = random_integers(0, std::ssize(waiting_), {}, next_random_key());
      std::swap(waiting_[static_cast<std::size_t>(place.item())], waiting_.back());
    }
    ++taken_;
    std::optional<Numbered> sample = std::move(waiting_.back());
    waiting_.pop_back();
    return sample;
  }

  /// Waits for its turn to read, and goes when it has read.
  class Turn {
   public:
    Turn(StreamLoader& loader, std::int64_t k) : loader_(loader), lock_(loader.mutex_) {
      loader_.next_turn_.wait(lock_, [&] { return loader_.turn_ == k; });
    }
    ~Turn() {
      ++loader_.turn_;
      lock_.unlock();
      loader_.next_turn_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    StreamLoader& loader_;
    std::unique_lock<std::mutex> lock_;
  };

  /// Batch k of the epoch; nothing after the last, and once it is no longer wanted.
  std::optional<Batch> batch(std::int64_t k, const Prefetcher& from) {
    std::vector<Sample> samples;
    std::vector<std::int64_t> numbers;
    {
      const Turn turn(*this, k);
      while (std::ssize(samples) < options_.batch_size && !from.stopped()) {
        std::optional<Numbered> next = taken();
        if (!next) break;
        samples.push_back(std::move(next->sample));
        numbers.push_back(next->number);
      }
    }
    if (from.stopped() || samples.empty()) return {};
    if (options_.drop_last && std::ssize(samples) < options_.batch_size) return {};
    try {
      const detail::SampleRandomness random(options_.seed, epoch(), -1 - k);
      return collate_(std::move(samples));
    } catch (...) {
      detail::throw_of_samples(std::move(numbers));
    }
  }

  /// The next batch, or the exception in its place.
  void fetch() {
    ahead_.reset();
    try {
      jobs_->wait();
      ahead_ = std::exchange(place_of(position() + (current_ ? 1 : 0)), std::nullopt);
      jobs_->release();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  friend Iterator;
  void next() {
    current_.reset();
    if (error_) std::rethrow_exception(std::exchange(error_, {}));
    if (!ahead_) {
      end_pass();
      place_.end_epoch();
      return;
    }
    current_ = std::move(ahead_);
    fetch();
    place_.advance();
  }

  S stream_;
  Collate collate_;
  StreamLoaderOptions options_;
  detail::LoaderPlace place_;
  std::optional<Pass> pass_;           // until it has ended
  std::vector<Numbered> waiting_;      // in the buffer
  std::int64_t read_ = 0, taken_ = 0;  // samples so far from the stream, from those that waited
  std::mutex mutex_;                   // guards the stream and those that wait
  std::condition_variable next_turn_;
  std::int64_t turn_ = 0;                      // the batch that reads now
  std::vector<std::optional<Batch>> batches_;  // in the places of their jobs
  std::optional<Batch> current_, ahead_;       // ahead_ comes next
  std::exception_ptr error_;                   // in its place
  std::optional<Prefetcher> jobs_;             // ends first: it writes to the others
};

template <class S>
StreamLoader(S, const StreamLoaderOptions&) -> StreamLoader<S>;
template <class S>
explicit StreamLoader(S) -> StreamLoader<S>;
template <class S, class Collate>
StreamLoader(S, const StreamLoaderOptions&, Collate) -> StreamLoader<S, Collate>;

}  // namespace xgrad::kit
