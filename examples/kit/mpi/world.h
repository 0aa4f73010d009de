// World: the processes that train together. A program that was started without mpirun is a world of one rank.
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

/// Communication that runs while the program computes. It progresses when done() is called. The memory that it uses
/// must stay valid until it is done; the destructor waits until then.
///
/// Threads: only the thread of its World.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  virtual ~Pending() = default;
  virtual bool done() = 0;
};

}  // namespace detail

/// The processes of a parallel program. Each has a rank, 0 ... ranks() - 1. This class is a world of one rank; mpi::run
/// makes worlds of several. All ranks must call its functions in the same order, except for rank(), ranks(), first()
/// and shard().
///
/// Threads: only the main thread.
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

  /// The sum over all ranks, computed by a binary tree over the ranks: the same bits on every rank.
  double sum(double number);
  std::vector<double> sum(std::span<const double> numbers);
  /// The numbers or texts of all ranks, ordered by rank.
  std::vector<double> gather(double number);
  virtual std::vector<std::string> gather(const std::string& text);
  /// Copies the bytes of rank `from` to every rank.
  virtual void broadcast(std::span<std::byte> bytes, int from = 0);
  template <class T>
  void broadcast(std::span<T> numbers, int from = 0) {
    broadcast(std::as_writable_bytes(numbers), from);
  }
  /// Waits until all ranks have called it.
  void wait();

  /// A function that selects the shard of this rank, consecutive samples, from the numbers of all samples of a batch.
  /// Use it as `.mine` of a kit::DataLoader; batch_size is then the number of samples of all ranks.
  std::function<Index(const Index& rows)> shard() const;
  /// A directory for the kit::Trainer of this rank: `folder` itself on rank 0, and its subdirectories `rank_1` and so
  /// on. If rank 0 has a checkpoint, it is copied there, so that all ranks resume from it. Throws what std::filesystem
  /// throws.
  std::filesystem::path own_folder(const std::filesystem::path& folder);

  /// Throws ValueError on every rank if the text differs between ranks: `model: rank 1 has "...", rank 0 has "..."`.
  void agree(std::string_view what, const std::string& text);

  /// Starts to sum `numbers` over all ranks; the sums will replace the numbers. MPI chooses the order of the sum, in
  /// float or double.
  virtual std::unique_ptr<detail::Pending> start_sum(std::span<Real> numbers);
  /// The seed that the last DataParallel gave to the generator of this rank. It differs between ranks.
  std::optional<std::uint64_t> seed_of_rank = {};

 protected:
  World(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

 private:
  int rank_ = 0, ranks_ = 1;
};

/// a[0] + a[1] + ... by a binary tree: the sum of the first half, rounded up, plus the sum of the second half,
/// recursively.
double tree_sum(std::span<const double> numbers);

/// The first element of part p if n elements are divided into `parts` consecutive parts whose sizes differ by at most
/// 1.
std::int64_t part_begin(std::int64_t n, std::int64_t parts, std::int64_t p);

}  // namespace xgrad::mpi
