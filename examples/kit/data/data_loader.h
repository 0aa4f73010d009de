// DataLoader: the batches of a data set, with options for shuffling and for worker threads.
//
//     kit::DataLoader loader{kit::TensorDataset{x, y}, {.batch_size = 50, .shuffle = true, .seed = 1}};
//     for (int epoch = 0; epoch < 10; ++epoch) {
//       for (const auto& [inputs, labels] : loader) {
//         adam.step(grad(cross_entropy(net(inputs), labels), net.parameters()));
//       }
//     }
//
// The batches and their order depend on the seed, the number of the epoch and the numbers of the samples. They do not
// depend on the number of workers: 0 or 8 workers give the same bits.
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

/// An error from a data set, with the numbers of the samples: one sample, or all of a batch. The original error is
/// nested (std::rethrow_if_nested).
struct SampleError : Error {
  SampleError(std::vector<std::int64_t> samples, std::string_view text);
  std::vector<std::int64_t> samples;
};

struct DataLoaderOptions {
  std::int64_t batch_size = 1;
  bool shuffle = false;    ///< a new random order in every epoch
  bool drop_last = false;  ///< skip the last batch of an epoch if it would be smaller
  Seed seed = 0;           ///< seed of the order and of the random numbers of samples
  int num_workers = 0;     ///< number of threads; each prepares two batches; 0: batches are made on demand
  /// A function of the numbers of all samples in a batch. It returns the numbers of the samples that this loader loads,
  /// at least one. By default all.
  std::function<Index(const Index& rows)> mine = {};
};

namespace detail {
/// The batches of an epoch, and the position of a loader in it.
class LoaderProgress {
 public:
  LoaderProgress(const DataLoaderOptions& options, std::int64_t samples);

  std::int64_t batches() const { return batches_; }
  std::int64_t epoch() const { return epoch_; }
  std::int64_t position() const { return position_; }
  /// The numbers of the samples in batch k of this epoch.
  const Index& rows(std::int64_t k) const { return plan_[static_cast<std::size_t>(k)]; }

  /// Starts an epoch, or continues the epoch of a loaded state.
  void begin();
  /// Counts a batch that was returned.
  void advance() { ++position_; }
  void end_epoch();

  StateFile state_dict() const;
  /// The progress of a state. Throws FormatError for a state with other attributes or an impossible position.
  LoaderProgress at(const StateFile& state) const;
  /// The options that determine the batches. They must be equal for loaders that exchange states.
  std::string attributes() const;

 private:
  std::vector<Index> planned() const;

  DataLoaderOptions options_;
  std::int64_t samples_, batches_;
  std::int64_t epoch_ = 0, position_ = 0;
  bool resumed_ = false;
  std::vector<Index> plan_;
};

/// The index for the random order of an epoch. No sample has it.
inline constexpr std::int64_t of_epoch = std::numeric_limits<std::int64_t>::min();

/// A scope in which the generator of this thread depends only on these three numbers.
class SampleRandomness {
 public:
  SampleRandomness(Seed seed, std::int64_t epoch, std::int64_t index);
  ~SampleRandomness() { set_random_state(earlier_); }
  SampleRandomness(const SampleRandomness&) = delete;
  SampleRandomness& operator=(const SampleRandomness&) = delete;

 private:
  RandomState earlier_;
};

/// A hash of the content of arrays, numbers and text, and of lists, tuples and plain structs of these. Other types do
/// not contribute.
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

/// The default function that makes batches.
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

/// The batches of a data set as a range. Each pass over it is an epoch, also if the pass ends early.
///
/// The loader stores a data set that is a temporary; any other must outlive the loader. A batch is the result of
/// `collate(std::vector<Sample>)`, by default of default_collate(). If no collate is given and the data set has
/// batch(rows), that function makes the batch. Samples that draw random numbers (randn, next_random_key) use their own
/// generator, which depends on seed, epoch and number of the sample. The generator of the training loop does not
/// change. (The draws of batch(rows) depend on the first row.)
///
/// Threads: one thread at a time. With workers, several threads read samples from the data set and call `collate` at
/// the same time.
template <class D, class Collate = detail::DefaultCollate>
requires(Dataset<std::remove_cvref_t<D>> || BatchedDataset<std::remove_cvref_t<D>>) class DataLoader {
  using Data = std::remove_cvref_t<D>;
  static constexpr bool whole_batches = detail::takes_whole_batches<Data, Collate>;

 public:
  using Options = DataLoaderOptions;
  using Batch = typename decltype(detail::batch_type<Data, Collate>())::type;

  /// Throws ValueError for options out of range, and if there would be no batch.
  explicit DataLoader(D data, const Options& options = {}, Collate collate = {})
      : data_(std::forward<D>(data)),
        collate_(std::move(collate)),
        seed_(options.seed),
        workers_(options.num_workers),
        progress_(options, static_cast<std::int64_t>(data_.size())),
        batches_(static_cast<std::size_t>(std::max<std::int64_t>(1, 2 * options.num_workers))) {}
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  /// The number of batches in an epoch.
  std::int64_t size() const { return progress_.batches(); }
  /// The number of the current epoch, which is the number of completed epochs.
  std::int64_t epoch() const { return progress_.epoch(); }
  /// The number of batches of this epoch that were returned.
  std::int64_t position() const { return progress_.position(); }
  /// The number of samples in the current batch; 0 outside of a pass.
  std::int64_t samples() const { return current_ ? progress_.rows(position() - 1).size() : 0; }
  const Data& data() const { return data_; }
  /// A hash of what the batches depend on: the size of the data set, its first and last sample, and the options.
  std::string fingerprint() const {
    return str(progress_.attributes(), ", first sample ", mark_of_sample(0), ", last ",
               mark_of_sample(static_cast<std::int64_t>(data_.size()) - 1));
  }

  /// Iterates over the batches of one epoch.
  class Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(DataLoader& loader) : loader_(&loader) {}
    const Batch& operator*() const { return *loader_->current_; }
    const Batch* operator->() const { return &*loader_->current_; }
    Iterator& operator++() {
      loader_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !loader_->current_; }

   private:
    DataLoader* loader_;
  };

  /// Starts an epoch, or continues one after load_state_dict(). A pass in progress ends. begin() and ++ throw
  /// SampleError, which holds the error of the data set or of `collate`.
  Iterator begin() {
    jobs_.reset();
    progress_.begin();
    jobs_.emplace(
        PrefetcherOptions{
            .first = progress_.position(), .count = size(), .workers = workers_, .ahead = std::ssize(batches_)},
        [this](std::int64_t k, const Prefetcher& from) { place_of(k) = batch(progress_.rows(k), k, &from); });
    next();
    return Iterator(*this);
  }
  std::default_sentinel_t end() const { return {}; }

  /// Epoch and position, for a checkpoint. Within the loop it is the position after the current batch.
  StateFile state_dict() const { return progress_.state_dict(); }
  /// Restores a state: the next pass starts with the batch after the saved position. Throws FormatError for the state
  /// of a loader with another number of samples or other options, except for the number of workers. If it throws,
  /// nothing is changed.
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

  /// Batch k, made of these samples, or nothing if it is no longer needed.
  std::optional<Batch> batch(const Index& rows, std::int64_t k, const Prefetcher* from = nullptr) const {
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
      return detail::mark_of(batch(Index({1}, {row}), -1));
    } else {
      return detail::mark_of(sample(row));
    }
  }

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
  std::vector<std::optional<Batch>> batches_;  // batch k in element k % size
  std::optional<Batch> current_;
  std::optional<Prefetcher> jobs_;  // destroyed first: its threads write to the members above
};

template <class D>
DataLoader(D&&, const DataLoaderOptions&) -> DataLoader<D>;
template <class D>
explicit DataLoader(D&&) -> DataLoader<D>;
template <class D, class Collate>
DataLoader(D&&, const DataLoaderOptions&, Collate) -> DataLoader<D, Collate>;

}  // namespace xgrad::kit
