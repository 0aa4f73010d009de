// DataLoader: the batches of a data set, in a new order every epoch, made ahead by worker threads if wanted.
//
//     kit::DataLoader loader{kit::TensorDataset{x, y}, {.batch_size = 50, .shuffle = true, .seed = 1}};
//     for (int epoch = 0; epoch < 10; ++epoch) {
//       for (const auto& [inputs, labels] : loader) {
//         adam.step(grad(cross_entropy(net(inputs), labels), net.parameters()));
//       }
//     }
//
// The batches and their order depend on the seed, the number of the epoch and the numbers of the samples, and not on
// the workers: with 0 of them or 8 the bits are the same.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/files/state.h>
#include <xgrad/kit/data/collate.h>
#include <xgrad/kit/data/dataset.h>
#include <xgrad/kit/data/prefetcher.h>
#include <xgrad/kit/program/fingerprint.h>

namespace xgrad::kit {

/// An error from a data set, with the samples that it came from: one, or those of a batch. The error itself is nested
/// (std::rethrow_if_nested).
struct SampleError : Error {
  SampleError(std::vector<std::int64_t> samples, std::string_view text);
  std::vector<std::int64_t> samples;
};

struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;    ///< a new order in every epoch
  bool drop_last = false;  ///< leave out the last batch of an epoch where it would be smaller
  Seed seed = 0;           ///< of the order, and of random numbers of samples
  int num_workers = 0;     ///< threads that make two batches ahead each; 0: a batch is made when it is asked for
  /// Which samples of a batch are loaded, given their numbers: at least one of them. Without a function, all.
  std::function<Index(const Index& rows)> mine = {};
};

namespace detail {
/// The batches of an epoch, and how far a loader has come.
class LoaderProgress {
 public:
  LoaderProgress(const DataLoaderOptions& options, std::int64_t samples);

  std::int64_t batches() const { return batches_; }
  std::int64_t epoch() const { return epoch_; }
  std::int64_t position() const { return position_; }
  /// The numbers of the samples of batch k of this epoch.
  const Index& rows(std::int64_t k) const { return plan_[static_cast<std::size_t>(k)]; }

  /// Begins an epoch, or goes on in the one that was loaded.
  void begin();
  /// One more batch was handed out.
  void advance() { ++position_; }
  void end_epoch();

  StateFile state_dict() const;
  /// The progress of a state. Throws FormatError for a state with other attributes, and for a place that is none.
  LoaderProgress at(const StateFile& state) const;
  /// The options on which the samples of batches depend: equal for loaders that exchange states.
  std::string attributes() const;

 private:
  Index drawn() const;
  std::vector<Index> planned() const;

  DataLoaderOptions options_;
  std::int64_t samples_, batches_;
  std::int64_t epoch_ = 0, position_ = 0;
  bool resumed_ = false;
  std::vector<Index> plan_;
};

/// Goes over the batches of one epoch.
template <class Loader, class Batch>
class BatchIterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  explicit BatchIterator(Loader& loader) : loader_(&loader) {}
  const Batch& operator*() const { return *loader_->current_; }
  const Batch* operator->() const { return &*loader_->current_; }
  BatchIterator& operator++() {
    loader_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const BatchIterator& at, std::default_sentinel_t) { return at.at_end(); }

 private:
  bool at_end() const { return !loader_->current_; }
  Loader* loader_;
};

/// The index for the random numbers of an epoch itself: no sample has it.
inline constexpr std::int64_t of_epoch = std::numeric_limits<std::int64_t>::min();

/// While it lives, this thread's generator depends on these three numbers alone.
class SampleRandomness {
 public:
  SampleRandomness(Seed seed, std::int64_t epoch, std::int64_t index);
  ~SampleRandomness() { set_random_state(earlier_); }
  SampleRandomness(const SampleRandomness&) = delete;
  SampleRandomness& operator=(const SampleRandomness&) = delete;

 private:
  RandomState earlier_;
};

/// A number that is another for other content, but by chance: of arrays, numbers and text, and lists, tuples and plain
/// structs of them. All else counts as nothing.
template <class T>
std::uint64_t mark_of(const T& part, std::uint64_t mark = fingerprint({})) {
  const auto all_of = [&](const auto&... parts) { (static_cast<void>(mark = mark_of(parts, mark)), ...); };
  if constexpr (std::same_as<T, Tensor>) {
    return mark_of(part.value(), mark);
  } else if constexpr (is_array<T>) {
    for (const std::int64_t size : part.shape()) mark = mark_of(size, mark);
    for (const auto value : part) mark = mark_of(value, mark);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fingerprint({reinterpret_cast<const char*>(&part), sizeof part}, mark);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return fingerprint(part, mark);
  } else if constexpr (requires { part.has_value(); *part; }) {
    if (part.has_value()) return mark_of(*part, mark);
  } else if constexpr (TupleLike<T>) {
    std::apply(all_of, part);
  } else if constexpr (std::ranges::range<const T>) {
    for (const auto& one : part) mark = mark_of(one, mark);
  } else if constexpr (field_count<T>() > 0) {
    std::apply(all_of, fields(part));
  }
  return mark;
}

/// Throws the exception that is being handled as a SampleError.
[[noreturn]] void throw_of_samples(std::vector<std::int64_t> samples);

/// The function that makes batches if no other is given.
struct DefaultCollate {
  template <class T>
  auto operator()(const std::vector<T>& samples) const {
    return default_collate(samples);
  }
};
template <class Data, class Collate>
inline constexpr bool takes_whole_batches = BatchedDataset<Data>&& std::same_as<Collate, DefaultCollate>;

template <class Data>
using Sample = std::remove_cvref_t<decltype(sample_of(std::declval<const Data&>(), 0))>;

template <class Data, class Collate>
auto batch_type() {
  if constexpr (takes_whole_batches<Data, Collate>) {
    return std::type_identity<std::remove_cvref_t<decltype(std::declval<const Data&>().batch(Index()))>>();
  } else {
    return std::type_identity<std::remove_cvref_t<std::invoke_result_t<const Collate&, std::vector<Sample<Data>>>>>();
  }
}
}  // namespace detail

/// The batches of a data set, as a range: each pass over it is an epoch. A pass that is left early counts, too.
///
/// `D` is the data set, which is kept if it is given as a temporary, and referred to otherwise. A batch is the result
/// of `collate(std::vector<Sample>)`, by default of default_collate(); if no collate is given and the data set has
/// batch(rows), of that. Samples that draw random numbers (randn, next_random_key) get those of a generator of their
/// own, which depends on seed, epoch and number of the sample; the generator of the training loop is left alone. (The
/// draws of batch(rows) depend on the first of the rows.)
///
/// Threads: one at a time. With workers, samples are taken from the data set by several threads at once, and the
/// function that makes batches is called by them.
template <class D, class Collate = detail::DefaultCollate>
requires(Dataset<std::remove_cvref_t<D>> || BatchedDataset<std::remove_cvref_t<D>>) class DataLoader {
  using Data = std::remove_cvref_t<D>;
  static constexpr bool whole_batches = detail::takes_whole_batches<Data, Collate>;

 public:
  using Options = DataLoaderOptions;
  using Batch = typename decltype(detail::batch_type<Data, Collate>())::type;

  /// Throws ValueError for sizes and counts out of their range, and if there is not one batch.
  explicit DataLoader(D data, const Options& options = {}, Collate collate = {})
      : data_(std::forward<D>(data)),
        collate_(std::move(collate)),
        seed_(options.seed),
        workers_(options.num_workers),
        progress_(options, static_cast<std::int64_t>(data_.size())),
        batches_(static_cast<std::size_t>(std::max<std::int64_t>(1, 2 * options.num_workers))) {}
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// How many batches an epoch has.
  std::int64_t size() const { return progress_.batches(); }
  /// How many epochs have been done: the number of the one that is going on.
  std::int64_t epoch() const { return progress_.epoch(); }
  /// How many batches of it have been handed out.
  std::int64_t position() const { return progress_.position(); }
  /// How many samples the current batch has; 0 outside of a pass.
  std::int64_t samples() const { return current_ ? progress_.rows(position() - 1).size() : 0; }
  const Data& data() const { return data_; }
  /// A hash of what batches depend on: the size of the data set, its first and last sample, and the options.
  std::string fingerprint() const {
    return str(progress_.attributes(), ", first sample ", mark_of_sample(0), ", last ",
               mark_of_sample(static_cast<std::int64_t>(data_.size()) - 1));
  }

  using Iterator = detail::BatchIterator<DataLoader, Batch>;

  /// Begins an epoch, or after load_state_dict() goes on in one; a pass that is still going on ends. This and ++ throw
  /// SampleError with what the data set or `collate` threw.
  Iterator begin() {
    jobs_.reset();
    progress_.begin();
    jobs_.emplace(
        PrefetcherOptions{
            .first = progress_.position(), .count = size(), .workers = workers_, .ahead = std::ssize(batches_)},
        [this](std::int64_t k, const Prefetcher& from) { place_of(k) = batch(k, from); });
    next();
    return Iterator(*this);
  }
  std::default_sentinel_t end() const { return {}; }

  /// Epoch and position, for a checkpoint: inside of the loop the position after the current batch.
  StateFile state_dict() const { return progress_.state_dict(); }
  /// The next pass begins where the state was taken: with the very next batch. Throws FormatError for a state of a
  /// loader with another number of samples or other options (but for the workers'); then nothing has changed.
  void load_state_dict(const StateFile& state) {
    detail::LoaderProgress progress = progress_.at(state);
    jobs_.reset();  // workers read the epoch
    current_.reset();
    progress_ = std::move(progress);
  }

 private:
  std::optional<Batch>& place_of(std::int64_t k) {
    return batches_[static_cast<std::size_t>(k % std::ssize(batches_))];
  }

  /// Batch k of the epoch, or nothing once it is no longer wanted.
  std::optional<Batch> batch(std::int64_t k, const Prefetcher& from) const { return made(progress_.rows(k), k, &from); }

  /// Batch k, of these samples.
  std::optional<Batch> made(const Index& rows, std::int64_t k, const Prefetcher* from = nullptr) const {
    try {
      if constexpr (whole_batches) {
        const detail::SampleRandomness random(seed_, progress_.epoch(), *rows.begin());
        return data_.batch(rows);
      } else {
        std::vector<detail::Sample<Data>> samples;
        samples.reserve(static_cast<std::size_t>(rows.size()));
        for (const std::int64_t row : rows) {
          if (from && from->stopped()) return std::nullopt;
          samples.push_back(sample(row));
        }
        const detail::SampleRandomness random(seed_, progress_.epoch(), -1 - k);
        return collate_(std::move(samples));
      }
    } catch (const SampleError&) {
      throw;
    } catch (...) {
      detail::throw_of_samples({rows.begin(), rows.end()});
    }
  }

  auto sample(std::int64_t row) const {
    try {
      const detail::SampleRandomness random(seed_, progress_.epoch(), row);
      return sample_of(data_, row);
    } catch (...) {
      detail::throw_of_samples({row});
    }
  }

  std::uint64_t mark_of_sample(std::int64_t row) const {
    if constexpr (whole_batches) {
      return detail::mark_of(made(Index({1}, {row}), -1));
    } else {
      return detail::mark_of(sample(row));
    }
  }

  friend Iterator;
  void next() {
    current_.reset();
    if (progress_.position() == size()) {
      jobs_.reset();
      progress_.end_epoch();
      return;
    }
    jobs_->wait();
    current_ = std::exchange(place_of(progress_.position()), std::nullopt);
    jobs_->release();
    progress_.advance();
  }

  D data_;
  Collate collate_;
  Seed seed_;
  int workers_;
  detail::LoaderProgress progress_;
  std::vector<std::optional<Batch>> batches_;  // in the places of their jobs
  std::optional<Batch> current_;
  std::optional<Prefetcher> jobs_;  // ends first: it writes to the others
};

template <class D>
DataLoader(D&&, const DataLoaderOptions&) -> DataLoader<D>;
template <class D>
explicit DataLoader(D&&) -> DataLoader<D>;
template <class D, class Collate>
DataLoader(D&&, const DataLoaderOptions&, Collate) -> DataLoader<D, Collate>;

}  // namespace xgrad::kit
