// World: the processes that train together. A program started without mpirun is a world of one.
//
//     return mpi::run(argc, argv, [&](mpi::World& world) {
//       ...
//       const double right = world.sum(right_here);           // over all ranks
//       if (world.first()) std::cout << right << "\n";
//     });
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/array/array.h>

namespace xgrad::mpi {

namespace detail {

/// Communication that goes on while the program computes. It advances when done() is asked. The memory that it was
/// given must stay until it is done; its destructor waits for that.
///
/// Threads: that of its world.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  virtual ~Pending() = default;
  virtual bool done() = 0;
};

}  // namespace detail

/// The processes of a parallel program; each has a rank, 0 ... ranks() - 1. This class is a world of one; mpi::run
/// makes those of several. Every function but rank(), ranks(), first() and shard() has to be called by all ranks, in
/// the same order.
///
/// Threads: the main thread alone.
class World {
 public:
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World() = default;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Whether this is rank 0, which prints and writes files.
  bool first() const { return rank_ == 0; }

  /// The sum over all ranks, added by a binary tree over their numbers: the same bits on every rank.
  double sum(double number);
  std::vector<double> sum(std::span<const double> numbers);
  /// The numbers of all ranks, by rank; and the texts.
  std::vector<double> gather(double number);
  virtual std::vector<std::string> gather(const std::string& text);
  /// Rank `from`'s bytes on every rank.
  virtual void broadcast(std::span<std::byte> bytes, int from = 0);
  template <class T>
  void broadcast(std::span<T> numbers, int from = 0) {
    broadcast(std::as_writable_bytes(numbers), from);
  }
  /// Returns when all ranks have come here.
  void wait();

  /// A function that gives this rank's shard of a batch, consecutive samples, from the numbers of them all: for `.mine`
  /// of a kit::DataLoader, whose batch_size is then that of all ranks together.
  std::function<Index(const Index& rows)> shard() const;
  /// A folder for this rank's kit::Trainer: `folder` itself on rank 0; below it `rank_1` and so on, with a copy of rank
  /// 0's checkpoint if there is one, so that all ranks resume from it. Throws what std::filesystem does.
  std::filesystem::path own_folder(const std::filesystem::path& folder);

  /// Throws ValueError on every rank unless the text is the same on all of them: `model: rank 1 has "...", rank 0 has
  /// "..."`.
  void agree(std::string_view what, const std::string& text);

  /// Starts the sum over all ranks of `numbers`, which are replaced by it: of float or double, in an order that is
  /// MPI's choice.
  virtual std::unique_ptr<detail::Pending> start_sum(std::span<Real> numbers);
  /// The seed that a DataParallel last gave this rank's generator, which is of this rank alone.
  std::optional<std::uint64_t> seed_of_rank = {};

 protected:
  World(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

 private:
  int rank_ = 0, ranks_ = 1;
};

/// a[0] + a[1] + ... by a binary tree: the first half, rounded up, and the second one, and so on within them.
double tree_sum(std::span<const double> numbers);

/// Where part p of n things cut into `parts` runs begins; runs are as equally long as possible.
std::int64_t part_begin(std::int64_t n, std::int64_t parts, std::int64_t p);

}  // namespace xgrad::mpi
