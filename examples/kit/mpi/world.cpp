// A world of one, and what worlds of several do with their texts.
#include <xgrad/kit/mpi/world.h>

#include <algorithm>
#include <cstring>

#include <xgrad/core/base/error.h>

namespace xgrad::mpi {

std::vector<std::string> World::gather(const std::string& text) { return {text}; }

void World::broadcast(std::span<std::byte>, int) {}

std::unique_ptr<detail::Pending> World::start_sum(std::span<Real>) {
  struct Done : detail::Pending {
    bool done() override { return true; }
  };
  return std::make_unique<Done>();
}

namespace {

// The lists of all ranks, by rank. Throws ShapeError unless they are equally long.
std::vector<std::vector<double>> gathered(World& world, std::span<const double> numbers) {
  std::string mine(numbers.size_bytes(), '\0');
  if (!numbers.empty()) std::memcpy(mine.data(), numbers.data(), mine.size());
  std::vector<std::vector<double>> lists;
  for (const std::string& bytes : world.gather(mine)) {
    if (bytes.size() != mine.size()) {
      fail<ShapeError>("sum", numbers.size(), " numbers on rank ", world.rank(), ", ", bytes.size() / sizeof(double),
                       " on rank ", lists.size());
    }
    lists.emplace_back(numbers.size());
    if (!numbers.empty()) std::memcpy(lists.back().data(), bytes.data(), bytes.size());
  }
  return lists;
}

}  // namespace

std::vector<double> World::gather(double number) {
  std::vector<double> all;
  for (const std::vector<double>& list : gathered(*this, {&number, 1})) all.push_back(list.front());
  return all;
}

double World::sum(double number) { return tree_sum(gather(number)); }

std::vector<double> World::sum(std::span<const double> numbers) {
  const std::vector<std::vector<double>> lists = gathered(*this, numbers);
  std::vector<double> sums, terms(lists.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::ranges::transform(lists, terms.begin(), [i](const std::vector<double>& list) { return list[i]; });
    sums.push_back(tree_sum(terms));
  }
  return sums;
}

std::function<Index(const Index& rows)> World::shard() const {
  return [rank = rank_, ranks = ranks_](const Index& rows) {
    const std::int64_t begin = part_begin(rows.size(), ranks, rank), end = part_begin(rows.size(), ranks, rank + 1);
    return Index({end - begin}, std::span(rows.data() + begin, rows.data() + end));
  };
}

std::filesystem::path World::own_folder(const std::filesystem::path& folder) {
  std::filesystem::path own = folder;
  if (!first()) {
    own /= str("rank_", rank_);
    std::filesystem::create_directories(own);
    for (const char* name : {"checkpoint.safetensors", "log.csv"}) {
      std::filesystem::remove(own / name);
      if (std::filesystem::exists(folder / name)) std::filesystem::copy_file(folder / name, own / name);
    }
  }
  wait();
  return own;
}

void World::wait() { gather(std::string()); }

void World::agree(std::string_view what, const std::string& text) {
  const std::vector<std::string> all = gather(text);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all[0]) {
      fail<ValueError>(what, "rank ", rank, " has ", escaped(all[rank]), ", rank 0 has ", escaped(all[0]));
    }
  }
}

double tree_sum(std::span<const double> numbers) {
  if (numbers.empty()) return 0;
  if (numbers.size() == 1) return numbers[0];
  const std::size_t left = (numbers.size() + 1) / 2;
  return tree_sum(numbers.first(left)) + tree_sum(numbers.subspan(left));
}

std::int64_t part_begin(std::int64_t n, std::int64_t parts, std::int64_t p) { return (n * p + parts - 1) / parts; }

}  // namespace xgrad::mpi
