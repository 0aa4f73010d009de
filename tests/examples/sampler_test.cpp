// Samplers: laws of the draws, and loaders that go on with the same draws.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/ops/ops.h>

namespace xgrad::kit {
namespace {

std::vector<std::int64_t> first_numbers(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

template <class Loader>
std::vector<std::int64_t> epoch_of(Loader& loader) {
  std::vector<std::int64_t> rows;
  for (const Index& batch : loader) rows.insert(rows.end(), batch.begin(), batch.end());
  return rows;
}

/// Pearson's statistic of counts that are expected to be total p_i.
double chi_square(const std::vector<double>& counts, const std::vector<double>& probabilities) {
  const double total = std::reduce(counts.begin(), counts.end());
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

}  // namespace

TEST_CASE("a weighted sampler draws each sample with its share of the weights") {
  const std::vector<std::int64_t> data = first_numbers(6);
  DataLoader loader{
      data, {.batch_size = 100, .seed = 5, .sampler = weighted_random_sampler(tensor({1, 4, 0, 2, 0.5, 2.5}), 2000)}};
  CHECK(loader.size() == 20);
  std::vector<double> counts(6, 0);
  std::vector<std::int64_t> last;
  for (int epoch = 0; epoch < 10; ++epoch) {
    const std::vector<std::int64_t> rows = epoch_of(loader);
    CHECK(rows.size() == 2000);
    CHECK(rows != last);
    for (const std::int64_t row : rows) ++counts[static_cast<std::size_t>(row)];
    last = rows;
  }
  CHECK(counts[2] == 0);
  counts.erase(counts.begin() + 2);
  // The quantile 0.999 of chi-square with 4 degrees of freedom is 18.47.
  CHECK(chi_square(counts, {0.1, 0.4, 0.2, 0.05, 0.25}) < 18.47);
}

TEST_CASE("without replacement samples come as if drawn one after the other, each once") {
  const std::vector<double> weights{1, 2, 3, 4};
  const std::vector<std::int64_t> data = first_numbers(4);
  DataLoader loader{data,
                    {.batch_size = 2, .sampler = weighted_random_sampler(tensor(weights), 2, {.replacement = false})}};
  std::map<std::pair<std::int64_t, std::int64_t>, double> seen;
  for (int epoch = 0; epoch < 12000; ++epoch) {
    const std::vector<std::int64_t> rows = epoch_of(loader);
    ++seen[{rows.at(0), rows.at(1)}];
  }
  std::vector<double> counts, probabilities;
  for (std::int64_t i = 0; i < 4; ++i) {
    CHECK_FALSE(seen.contains({i, i}));
    for (std::int64_t j = 0; j < 4; ++j) {
      if (i == j) continue;
      const double first = weights[std::size_t(i)], second = weights[std::size_t(j)];
      counts.push_back(seen[{i, j}]);
      probabilities.push_back(first / 10 * second / (10 - first));
    }
  }
  CHECK(chi_square(counts, probabilities) < 31.26);  // the quantile 0.999 with 11 degrees of freedom
}

TEST_CASE("a random subset has each of its samples once in an epoch, in a new order") {
  const std::vector<std::int64_t> data = first_numbers(20);
  const Index rows = index({3, 19, 4, 0, 11, 12, 13});
  DataLoader loader{data, {.batch_size = 3, .sampler = subset_random_sampler(rows)}};
  const std::vector<std::int64_t> one = epoch_of(loader), two = epoch_of(loader);
  CHECK(one != two);
  CHECK(std::ranges::is_permutation(one, rows));
  CHECK(std::ranges::is_permutation(two, rows));
}

TEST_CASE("a sampler draws the same again from every place that was saved, and with workers") {
  const std::vector<std::int64_t> data = first_numbers(50);
  const Sampler sampler = weighted_random_sampler(arange(1.0, 51.0), 30);
  manual_seed(3);
  const RandomState before = random_state();
  DataLoader whole{data, {.batch_size = 4, .seed = 1, .sampler = sampler}};
  std::vector<std::vector<std::int64_t>> expected;
  std::vector<StateFile> states{whole.state_dict()};
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const Index& batch : whole) {
      expected.emplace_back(batch.begin(), batch.end());
      states.push_back(whole.state_dict());
    }
  }
  CHECK(random_state() == before);
  REQUIRE(expected.size() == 16);
  for (std::size_t from = 0; from < states.size(); ++from) {
    DataLoader loader{data, {.batch_size = 4, .seed = 1, .num_workers = int(from % 3), .sampler = sampler}};
    loader.load_state_dict(states[from]);
    std::vector<std::vector<std::int64_t>> found;
    while (loader.epoch() < 2) {
      for (const Index& batch : loader) found.emplace_back(batch.begin(), batch.end());
    }
    CHECK(found == std::vector(expected.begin() + static_cast<std::ptrdiff_t>(from), expected.end()));
  }
  DataLoader other{data, {.batch_size = 4, .seed = 1, .sampler = weighted_random_sampler(arange(2.0, 52.0), 30)}};
  CHECK_THROWS_AS(other.load_state_dict(states[3]), FormatError);
  DataLoader seed{data, {.batch_size = 4, .seed = 2, .sampler = sampler}};
  CHECK_THROWS_AS(seed.load_state_dict(states[3]), FormatError);
  CHECK(epoch_of(seed) != std::vector<std::int64_t>(expected[0].begin(), expected[0].end()));
}

TEST_CASE("a sampler goes together with lengths") {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 40; ++i) lengths.push_back(i * 7 % 40);
  const std::vector<std::int64_t> data = first_numbers(40);
  DataLoader loader{data, {.batch_size = 4, .lengths = lengths, .sampler = subset_random_sampler(arange(0, 40, 2))}};
  std::vector<std::int64_t> firsts;
  for (const Index& batch : loader) {
    std::vector<std::int64_t> of_batch;
    for (const std::int64_t row : batch) of_batch.push_back(lengths[static_cast<std::size_t>(row)]);
    CHECK(of_batch.back() - of_batch.front() == 6);  // even numbers have even lengths, all of them
    firsts.push_back(of_batch.front());
  }
  CHECK(firsts.size() == 5);
  CHECK_FALSE(std::ranges::is_sorted(firsts));
}

TEST_CASE("samplers refuse what makes no sense") {
  const std::vector<std::int64_t> data = first_numbers(5);
  const auto message = [&](const DataLoaderOptions& options) -> std::string {
    try {
      DataLoader loader{data, options};
      loader.begin();
    } catch (const ValueError& error) {
      return error.what();
    }
    return "accepted";
  };
  const Sampler sampler = subset_random_sampler(index({1, 2}));
  CHECK(message({.sampler = sampler}) == "accepted");
  CHECK(message({.shuffle = true, .sampler = sampler}) ==
        "data_loader: a sampler has an order of its own, so shuffle has to be false");
  CHECK(message({.sampler = Sampler{.size = 1}}) == "data_loader: the sampler has no function");
  CHECK(message({.sampler = subset_random_sampler(Index(Shape{0}))}) ==
        "data_loader: the size of a sampler must be at least 1, got 0");
  CHECK(message({.batch_size = 3, .drop_last = true, .sampler = sampler}) ==
        "data_loader: 2 samples are fewer than a batch of 3, and drop_last is set");
  CHECK(message({.sampler = Sampler{.size = 2, .draw = [] {
                                      return index({1, 2, 3});
                                    }}}) == "data_loader: the sampler drew samples of shape [3], said were 2");
  CHECK(message({.sampler = subset_random_sampler(index({1, 5}))}) == "data_loader: sample 5 is not in [0, 5)");
  CHECK_THROWS_AS(weighted_random_sampler(tensor({{1, 2}}), 1), ShapeError);
  CHECK_THROWS_AS(weighted_random_sampler(tensor({1, -2}), 1), ValueError);
  CHECK_THROWS_AS(weighted_random_sampler(tensor({1, 0}), 2, {.replacement = false}), ValueError);
  CHECK_THROWS_AS(subset_random_sampler(index({{1}})), ShapeError);
}

}  // namespace xgrad::kit
