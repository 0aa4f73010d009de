// Data sets, how samples become batches, and loading them: the same bits for any number of workers, places that are
// gone back to, errors, and no hanging.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/kit/data/collate.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/dataset.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::kit {
namespace {

struct Squares {
  std::int64_t size() const { return 10; }
  std::pair<Tensor, std::int64_t> get(std::int64_t i) const { return {tensor({Real(i)}), i * i}; }
};

struct Labelled {
  Tensor image;
  std::int64_t label;
  bool flipped;
};
struct Nested {
  std::array<float, 2> place;
  std::pair<int, std::string> what;
};
struct Six {
  int a, b, c, d, e;
  Index f;
};

static_assert(Dataset<Squares> && !BatchedDataset<Squares>);
static_assert(Dataset<std::vector<int>>);
static_assert(Dataset<TensorDataset<Tensor, Index>> && BatchedDataset<TensorDataset<Tensor, Index>>);
static_assert(BatchedDataset<ImageSet> && !Dataset<ImageSet>);
static_assert(!Dataset<Tensor> && !Dataset<Index> && !Dataset<int>);

/// Samples that draw random numbers, and take their time in another order than their own.
struct Noisy {
  std::int64_t count = 37;

  std::int64_t size() const { return count; }
  std::pair<std::int64_t, Tensor> operator[](std::int64_t i) const {
    std::this_thread::sleep_for(std::chrono::microseconds((i * 7) % 5 * 100));
    return {i, randn({3})};
  }
};

struct Failing {
  std::int64_t bad = 5;

  std::int64_t size() const { return 20; }
  std::int64_t operator[](std::int64_t i) const {
    if (i == bad) fail<ValueError>("failing", "no picture here");
    if (i == bad + 10) throw 42;
    return i;
  }
};

/// The noise of each batch of a Noisy, until `epochs` are done.
std::vector<std::vector<Real>> noise_of(DataLoader<Noisy>& loader, std::int64_t epochs) {
  std::vector<std::vector<Real>> noises;
  while (loader.epoch() < epochs) {
    for (const auto& [ids, noise] : loader) noises.emplace_back(noise.value().begin(), noise.value().end());
  }
  return noises;
}

/// What each sample of a Noisy draws in batches of this size, by its number.
std::map<std::int64_t, std::vector<Real>> draws_in(std::int64_t batch) {
  DataLoader loader{Noisy(), {.batch_size = batch, .seed = 9}};
  std::map<std::int64_t, std::vector<Real>> drawn;
  for (const auto& [ids, noise] : loader) {
    for (std::int64_t i = 0; i < ids.size(); ++i) {
      const Array row = noise[{i}].value();
      drawn[ids.at({i})] = {row.begin(), row.end()};
    }
  }
  return drawn;
}

template <class Loader>
std::vector<std::vector<std::int64_t>> rows_of(Loader& loader) {
  std::vector<std::vector<std::int64_t>> rows;
  for (const Index& batch : loader) rows.emplace_back(batch.begin(), batch.end());
  return rows;
}

std::vector<std::int64_t> ascending(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<std::int64_t> joined(const std::vector<std::vector<std::int64_t>>& rows) {
  std::vector<std::int64_t> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

}  // namespace

TEST_CASE("anything with a size and samples by number is a data set") {
  CHECK(sample_of(Squares(), 3).second == 9);
  CHECK(sample_of(std::vector<int>{5, 6, 7}, 2) == 7);
}

TEST_CASE("a data set of arrays gives rows, one at a time or many, and refuses those that are not there") {
  const Tensor x = variable({{1, 2}, {3, 4}, {5, 6}});
  const TensorDataset data{x, index({7, 8, 9}), Mask({3}, {true, false, true}), Array({3, 1, 1}, {1, 2, 3})};
  CHECK(data.size() == 3);
  const auto [row, label, flag, array] = data.get(1);
  CHECK(equal(row.value(), Array({2}, {3, 4})));
  CHECK_FALSE(row.requires_grad());
  CHECK(label.item() == 8);
  CHECK_FALSE(flag.item());
  CHECK(array.shape() == Shape{1, 1});
  const auto [rows, labels, flags, arrays] = data.batch(index({2, 0}));
  CHECK(equal(rows.value(), Array({2, 2}, {5, 6, 1, 2})));
  CHECK(equal(labels, index({9, 7})));
  CHECK(equal(flags, Mask({2}, {true, true})));
  CHECK(equal(arrays, Array({2, 1, 1}, {3, 1})));
  for (const std::int64_t i : {-1, -2, 3}) {  // none is counted from the end
    CAPTURE(i);
    CHECK_THROWS_AS(data.get(i), ValueError);
    CHECK_THROWS_AS(data.batch(index({0, i})), ValueError);
  }
  CHECK_REFUSED(ShapeError, (TensorDataset{x, index({1, 2})}), "tensor_dataset",
                "equally many rows, got [[3, 2], [2]]");
  CHECK_THROWS_AS((TensorDataset{Tensor(3)}), ShapeError);
  CHECK_THROWS_AS((TensorDataset{x, Tensor(3)}), ShapeError);
}

TEST_CASE("samples of every kind become a batch") {
  CHECK(equal(default_collate(std::vector<float>{1.5f, 2}).value(), Array({2}, {1.5f, 2})));
  CHECK(equal(default_collate(std::vector<double>{0.5}).value(), Array({1}, {0.5f})));
  CHECK(equal(default_collate(std::vector<int>{3, -4}), index({3, -4})));
  CHECK(equal(default_collate(std::vector<bool>{true, false}), Mask({2}, {true, false})));
  CHECK(equal(default_collate(Tensors{tensor({1, 2}), tensor({3, 4})}).value(), Array({2, 2}, {1, 2, 3, 4})));
  CHECK(equal(default_collate(std::vector<Index>{index({1}), index({2})}), index({{1}, {2}})));
  CHECK(default_collate(std::vector<std::string>{"a", "b"}) == std::vector<std::string>{"a", "b"});
  CHECK(equal(default_collate(std::vector<std::vector<int>>{{1, 2}, {3, 4}}), index({{1, 2}, {3, 4}})));
  CHECK(equal(default_collate(std::vector<std::vector<double>>{{1}, {3}}).value(), Array({2, 1}, {1, 3})));

  const auto [numbers, words] = default_collate(std::vector<std::pair<int, std::string>>{{1, "one"}, {2, "two"}});
  CHECK(equal(numbers, index({1, 2})));
  CHECK(words[1] == "two");
  const auto [images, labels, flipped] =
      default_collate(std::vector<Labelled>{{tensor({1, 2}), 7, true}, {tensor({3, 4}), 8, false}});
  CHECK(images.shape() == Shape{2, 2});
  CHECK(equal(labels, index({7, 8})));
  CHECK(equal(flipped, Mask({2}, {true, false})));
  const auto [places, what] = default_collate(std::vector<Nested>{{{1, 2}, {3, "three"}}});
  CHECK(equal(places.value(), Array({1, 2}, {1, 2})));
  CHECK(equal(std::get<0>(what), index({3})));
  const auto [a, b, c, d, e, f] = default_collate(std::vector<Six>{{1, 2, 3, 4, 5, index({6, 7})}});
  CHECK(equal(concat(std::vector<Index>{a, b, c, d, e}), index({1, 2, 3, 4, 5})));
  CHECK(f.shape() == Shape{1, 2});
}

TEST_CASE("samples that do not fit together are named") {
  CHECK_REFUSED(ShapeError, default_collate(Tensors{tensor({1, 2}), tensor({1, 2}), tensor({1})}), "collate",
                "sample 2 of the batch is [1], sample 0 [2]; a function that makes the batch can pad them");
  CHECK_THROWS_AS(default_collate(std::vector<std::vector<int>>{{1, 2}, {3}}), ShapeError);
  CHECK_THROWS_WITH_AS(default_collate(Tensors{}), "collate: a batch needs samples", ValueError);
}

TEST_CASE("without shuffling batches come in order, the last one smaller or left out") {
  const std::vector<std::int64_t> data = ascending(7);
  DataLoader loader{data, {.batch_size = 3}};
  CHECK(loader.size() == 3);
  CHECK(rows_of(loader) == std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(loader.samples() == 0);
  for (const Index& batch : loader) CHECK(loader.samples() == batch.size());
  DataLoader whole{data, {.batch_size = 3, .drop_last = true}};
  CHECK(whole.size() == 2);
  CHECK(rows_of(whole) == std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {3, 4, 5}});
  DataLoader single{data};
  CHECK(single.size() == 7);
}

TEST_CASE("shuffled, each epoch has every sample once, in an order of seed and epoch alone") {
  const std::vector<std::int64_t> data = ascending(100);
  DataLoader loader{data, {.batch_size = 8, .shuffle = true, .seed = 3}};
  DataLoader again{data, {.batch_size = 8, .shuffle = true, .seed = 3, .num_workers = 2}};
  DataLoader other{data, {.batch_size = 8, .shuffle = true, .seed = 4}};
  const auto first = rows_of(loader), second = rows_of(loader);
  CHECK(loader.epoch() == 2);
  CHECK(first == rows_of(again));
  CHECK(second == rows_of(again));
  CHECK(first != second);
  CHECK(first != rows_of(other));
  for (auto all : {joined(first), joined(second)}) {
    std::ranges::sort(all);
    CHECK(all == data);
  }
}

TEST_CASE("a seed gives the order and the random numbers of samples that it has always given") {
  struct Drawing {
    std::int64_t size() const { return 8; }
    std::pair<std::int64_t, Tensor> operator[](std::int64_t i) const { return {i, rand({})}; }
  };
  // Written by tests/fixtures/make_stored_files.py, which knows the generator from its paper.
  const StateFile stored = load_safetensors(XGRAD_TESTS_DIR "/fixtures/stored/random.safetensors");
  DataLoader loader{Drawing(), {.batch_size = 8, .shuffle = true, .seed = 2026}};
  for (const std::int64_t epoch : {0, 1}) {
    for (const auto& [i, numbers] : loader) {
      CHECK(equal(i, stored.get<Index>("epochs")[{epoch}]));
      const Array of_samples = stored.get<Array>("samples")[{epoch}];
      xgrad::testing::check_close(numbers.value(), index_select(Tensor(of_samples), 0, i).value(), 1e-7, 1);
    }
  }
}

TEST_CASE("any number of workers gives the same bits, random samples included, and leaves the generator alone") {
  manual_seed(11);
  const RandomState before = random_state();
  const auto made = [](int workers) {
    return DataLoader<Noisy>{Noisy(), {.batch_size = 4, .shuffle = true, .seed = 9, .num_workers = workers}};
  };
  auto plain = made(0);
  const std::vector<std::vector<Real>> expected = noise_of(plain, 3);
  CHECK(std::ranges::count(expected, expected[1]) == 1);
  for (const int workers : {1, 2, 5}) {
    auto loader = made(workers);
    CHECK(noise_of(loader, 3) == expected);
  }
  CHECK(random_state() == before);
}

TEST_CASE("what collate draws is another number for each batch, and none that a sample draws") {
  const auto collate = [](std::vector<std::pair<std::int64_t, Tensor>> samples) {
    return std::pair(randn({3}).value(), std::move(samples));
  };
  DataLoader loader(Noisy(), {.batch_size = 10, .seed = 9}, collate);
  std::set<Real> drawn;
  for (const auto& [own, samples] : loader) {
    drawn.insert(own.begin(), own.end());
    for (const auto& sample : samples) drawn.insert(sample.second.value().begin(), sample.second.value().end());
  }
  CHECK(drawn.size() == 3 * (4 + 37));
}

TEST_CASE("what a sample draws depends on its number and not on the batch that it is in") {
  const auto of_pairs = draws_in(2);
  CHECK(of_pairs.size() == 37);
  CHECK(of_pairs == draws_in(10));
}

TEST_CASE("a data set that makes batches itself is asked for them") {
  const ImageSet set = draw_shapes({.seed = 1}, {.count = 25, .size = 8});
  DataLoader loader{set, {.batch_size = 10, .num_workers = 2}};
  std::int64_t first = 0;
  for (const auto& [images, labels] : loader) {
    const ImageBatch expected = set.batch(arange(first, std::min<std::int64_t>(first + 10, 25)));
    CHECK(equal(images, expected.images));
    CHECK(equal(labels, expected.labels));
    first += labels.size();
  }
  CHECK(first == 25);
  DataLoader rows{TensorDataset{index({5, 6, 7})}, {.batch_size = 2}};
  CHECK(equal(std::get<0>(*rows.begin()), index({5, 6})));
}

TEST_CASE("a function that is given makes the batches") {
  using Sentences = std::vector<std::vector<std::int64_t>>;
  DataLoader loader{Sentences{{1}, {2, 3}, {4, 5, 6}}, {.batch_size = 2, .num_workers = 1}, [](const Sentences& some) {
                      return std::pair(Index(some.back()), std::ssize(some));
                    }};
  std::vector<std::pair<Index, std::int64_t>> found;
  for (const auto& batch : loader) found.push_back(batch);
  REQUIRE(found.size() == 2);
  CHECK(equal(found[0].first, index({2, 3})));
  CHECK(found[0].second == 2);
  CHECK(equal(found[1].first, index({4, 5, 6})));
  CHECK(found[1].second == 1);
}

TEST_CASE("a loader goes on with the very next batch, from every place") {
  const auto make = [](int workers) {
    return DataLoader<Noisy>{Noisy(), {.batch_size = 4, .shuffle = true, .seed = 2, .num_workers = workers}};
  };
  auto whole = make(0);
  std::vector<std::vector<Real>> expected;
  std::vector<StateFile> states{whole.state_dict()};
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const auto& [ids, noise] : whole) {
      expected.emplace_back(noise.value().begin(), noise.value().end());
      states.push_back(whole.state_dict());
    }
  }
  REQUIRE(expected.size() == 20);
  for (std::size_t from = 0; from < states.size(); ++from) {
    auto loader = make(from % 3 == 0 ? 2 : 0);
    loader.load_state_dict(states[from]);
    CHECK(noise_of(loader, 2) == std::vector(expected.begin() + static_cast<std::ptrdiff_t>(from), expected.end()));
  }
}

TEST_CASE("a state is loaded while workers make batches of another epoch") {
  DataLoader<Noisy> loader{Noisy(), {.batch_size = 4, .shuffle = true, .seed = 2, .num_workers = 2}};
  const StateFile start = loader.state_dict();
  std::vector<std::vector<Real>> first;
  for (int pass = 0; pass < 20; ++pass) {
    for (const auto& [ids, noise] : loader) {
      first.emplace_back(noise.value().begin(), noise.value().end());
      break;
    }
    loader.load_state_dict(start);
    CHECK(loader.samples() == 0);
  }
  CHECK(std::ranges::adjacent_find(first, std::not_equal_to<>()) == first.end());
}

TEST_CASE("when a state has been loaded no worker is in the data set any more") {
  struct Busy {
    std::atomic<int>* inside;
    std::int64_t size() const { return 1000; }
    std::int64_t operator[](std::int64_t i) const {
      ++*inside;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      --*inside;
      return i;
    }
  };
  std::atomic<int> inside = 0;
  DataLoader loader{Busy{&inside}, {.batch_size = 4, .num_workers = 2}};
  const StateFile start = loader.state_dict();
  loader.begin();
  while (inside == 0) std::this_thread::yield();  // the batches after the first
  loader.load_state_dict(start);
  CHECK(inside.load() == 0);
}

TEST_CASE("a pass that is left early has been an epoch") {
  const std::vector<std::int64_t> data = ascending(50);
  DataLoader loader{data, {.batch_size = 5, .shuffle = true, .num_workers = 2}};
  DataLoader whole{data, {.batch_size = 5, .shuffle = true}};
  for (const Index& batch : loader) {
    CHECK(batch.size() == 5);
    break;
  }
  CHECK(loader.position() == 1);
  rows_of(whole);
  CHECK(rows_of(loader) == rows_of(whole));
  CHECK(loader.epoch() == 2);
  loader.load_state_dict(loader.state_dict());  // also a pass that goes on from a state
  for (int pass = 0; pass < 2; ++pass) {
    for (const Index& batch : loader) {
      CHECK(batch.size() == 5);
      break;
    }
  }
  CHECK(loader.epoch() == 3);
}

TEST_CASE("a state of another loader is refused, and nothing has changed") {
  const std::vector<std::int64_t> data = ascending(7);
  DataLoader loader{data, {.batch_size = 3}}, other{data, {.batch_size = 2}};
  CHECK_REFUSED(FormatError, loader.load_state_dict(other.state_dict()), "data_loader",
                "7 samples, batch_size 2, shuffle",
                "seed 0; this one has 7 samples, batch_size 3, shuffle false, drop_last false, seed 0");
  StateFile state = loader.state_dict();
  for (const Index& wrong : {index({0, 4}), index({-1, 0}), index({0, -1}), index({0})}) {
    state.arrays["position"] = wrong;
    CHECK_THROWS_AS(loader.load_state_dict(state), FormatError);
  }
  state.arrays.clear();
  CHECK_THROWS_AS(loader.load_state_dict(state), FormatError);
  CHECK(loader.epoch() == 0);
  CHECK(rows_of(loader).size() == 3);
}

TEST_CASE("an error arrives with the number of its sample, behind the batches before it") {
  for (const int workers : {0, 1, 3}) {
    DataLoader loader{Failing(), {.batch_size = 2, .num_workers = workers}};
    std::int64_t seen = 0;
    const auto run = [&] {
      for (const Index& batch : loader) seen += batch.size();
    };
    try {
      run();
      FAIL("it went on");
    } catch (const SampleError& error) {
      CHECK(std::string(error.what()) == "data_loader: sample 5: failing: no picture here");
      CHECK(error.samples == std::vector<std::int64_t>{5});
      CHECK_THROWS_AS(std::rethrow_if_nested(error), ValueError);
    }
    CHECK(seen == 4);
    CHECK_THROWS_AS(run(), SampleError);
    CHECK(seen == 8);
  }
  DataLoader odd{Failing{-1}, {.batch_size = 20}};
  CHECK_REFUSED(SampleError, odd.begin(), "data_loader", "sample 9: something that is no std::exception was thrown");
  const std::vector<Tensor> uneven{tensor({1}), tensor({1, 2})};
  DataLoader batches{uneven, {.batch_size = 2, .num_workers = 1}};
  CHECK_REFUSED(SampleError, batches.begin(), "data_loader", "samples [0, 1]: collate: sample 1 of the batch is [2]",
                "sample 0 [1]; a function that makes the batch can pad them");
  const auto no = [](const std::vector<std::int64_t>&) -> Index { fail<ValueError>("mine", "no"); };
  const auto named = [&](std::int64_t batch) {
    DataLoader many{std::vector<std::int64_t>(20, 0), {.batch_size = batch}, no};
    return xgrad::testing::error_of<SampleError>([&] { many.begin(); });
  };
  CHECK(named(8) == "data_loader: samples [0, 1, 2, 3, 4, 5, 6, 7]: mine: no");
  CHECK(named(9) == "data_loader: samples 0, 1, 2, ... (9 of them): mine: no");
}

TEST_CASE("a loader that dies in the middle waits for no more than the samples that are being made") {
  std::atomic<int> made = 0;
  struct Slow {
    std::atomic<int>* made;
    std::int64_t size() const { return 1000; }
    std::int64_t operator[](std::int64_t i) const {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++*made;
      return i;
    }
  };
  for (const int batches : {0, 1, 3}) {
    // Without the question whether they are stopped, the batches that are begun would be finished: 10 each. They are, too, if
    // this thread stands still for the time of a batch, which it will not do five times.
    const int begun = 10 * (batches + 1 + 3 * 2);
    int least = begun;
    for (int attempt = 0; attempt < 5 && least == begun; ++attempt) {
      made = 0;
      {
        DataLoader loader{Slow{&made}, {.batch_size = 10, .num_workers = 3}};
        auto at = loader.begin();
        for (int i = 0; i < batches; ++i) ++at;
      }
      least = std::min(least, made.load());
    }
    CHECK(least < begun);
  }
}

TEST_CASE("each job is done once, from the first to the last, and without workers by its consumer") {
  for (const int workers : {0, 1, 3, 1024}) {
    CAPTURE(workers);
    std::mutex mutex;
    std::map<std::int64_t, int> done;
    int own = 0;
    {
      Prefetcher jobs({.first = 2, .count = 9, .workers = workers, .ahead = 3},
                      [&, consumer = std::this_thread::get_id()](std::int64_t k, const Prefetcher& from) {
                        const std::lock_guard lock(mutex);
                        ++done[k];
                        own += std::this_thread::get_id() == consumer && !from.stopped();
                      });
      for (std::int64_t k = 2; k < 9; ++k) {
        jobs.wait();
        jobs.wait();  // for the same one
        jobs.release();
        if (workers == 0) CHECK_THROWS_AS(jobs.release(), ValueError);
      }
    }
    CHECK(done == decltype(done){{2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}});
    CHECK(own == (workers == 0 ? 7 : 0));
  }
}

TEST_CASE("each worker makes two batches ahead of the one that is in use") {
  struct Counted {
    std::atomic<int>* made;
    std::int64_t size() const { return 100; }
    std::int64_t operator[](std::int64_t i) const { return ++*made, i; }
  };
  std::atomic<int> made = 0;
  DataLoader loader{Counted{&made}, {.num_workers = 2}};
  const auto at = loader.begin();
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); };
  for (int waited = 0; made < 5 && waited < 1000; ++waited) pause();
  pause();
  CHECK(made == 5);
  CHECK(at->item() == 0);
}

TEST_CASE("workers are never further ahead than they may be") {
  std::mutex mutex;
  std::int64_t most = 0, taken = 0;
  constexpr std::int64_t ahead = 6;
  {
    Prefetcher jobs({.count = 200, .workers = 3, .ahead = ahead}, [&](std::int64_t k, const Prefetcher&) {
      const std::lock_guard lock(mutex);
      most = std::max(most, k - taken);
    });
    for (std::int64_t k = 0; k < 200; ++k) {
      jobs.wait();
      {
        const std::lock_guard lock(mutex);
        ++taken;
      }
      jobs.release();
    }
    CHECK_REFUSED(ValueError, jobs.wait(), "prefetcher", "there is no next job");
  }
  CHECK(most < ahead);
  const auto nothing = [](std::int64_t, const Prefetcher&) {};
  CHECK_REFUSED(ValueError, Prefetcher({.workers = -1}, nothing), "prefetcher", "workers", "from 0 to 1024, got -1");
  CHECK_THROWS_AS(Prefetcher({.workers = 1025}, nothing), ValueError);
  CHECK_THROWS_AS(Prefetcher({.ahead = 0}, nothing), ValueError);
  CHECK_REFUSED(ValueError, Prefetcher({}, {}), "prefetcher", "the function is empty");
  Prefetcher failing({.count = 9, .workers = 2, .ahead = 3},
                     [](std::int64_t, const Prefetcher&) { throw std::runtime_error("job"); });
  CHECK_THROWS_WITH(failing.wait(), "job");
  CHECK(failing.stopped());
  CHECK_REFUSED(ValueError, failing.wait(), "prefetcher", "there is no next job");
  Prefetcher idle({.count = 1}, nothing);
  CHECK_REFUSED(ValueError, idle.release(), "prefetcher", "nothing was waited for");
}

TEST_CASE("loaders that share every batch together have the samples of one, in its order") {
  const Index ids = arange(23);
  const TensorDataset data{ids, to_real(ids)};
  const DataLoaderOptions options{.batch_size = 6, .shuffle = true, .seed = 4};
  DataLoader whole{data, options};
  for (const int ranks : {1, 2, 3, 5}) {
    std::vector<std::unique_ptr<DataLoader<decltype(data)>>> loaders;
    for (int rank = 0; rank < ranks; ++rank) {
      DataLoaderOptions of_rank = options;
      of_rank.mine = [=](const Index& rows) {
        const std::int64_t n = rows.size();
        return rows[{slice(n * rank / ranks, n * (rank + 1) / ranks)}];
      };
      loaders.push_back(std::make_unique<DataLoader<decltype(data)>>(data, of_rank));
      loaders.back()->load_state_dict(whole.state_dict());  // a state fits any number of them
      CHECK(loaders.back()->size() == whole.size());
      CHECK(loaders.back()->fingerprint() == whole.fingerprint());
    }
    std::vector<std::vector<std::int64_t>> expected, found(static_cast<std::size_t>(whole.size()));
    for (const auto& [rows, x] : whole) expected.emplace_back(rows.begin(), rows.end());
    for (const auto& loader : loaders) {
      auto all = found.begin();
      for (const auto& [rows, x] : *loader) {
        CHECK(x.shape() == rows.shape());
        CHECK(loader->samples() == rows.size());
        all->insert(all->end(), rows.begin(), rows.end());
        ++all;
      }
    }
    CHECK(found == expected);
  }
  const auto fingerprint = [&](const Index& a, const Tensor& b) {
    return DataLoader(TensorDataset{a, b}, options).fingerprint();
  };
  CHECK(whole.fingerprint() != fingerprint(ids, to_real(ids) * 2));
  CHECK(whole.fingerprint() != fingerprint(ids[{slice(0, 22)}], to_real(ids)[{slice(0, 22)}]));
  Index other = ids;
  other.mutable_data()[22] = 0;  // the last sample alone
  CHECK(whole.fingerprint() != fingerprint(other, to_real(ids)));
  // The last batch has five samples.
  const auto sixth = [](const Index& rows) { return rows[{slice(5, none)}]; };
  DataLoader last{data, {.batch_size = 6, .mine = sixth}};
  CHECK_REFUSED(ValueError, last.begin(), "data_loader",
                "`mine` leaves none of the 5 samples of a batch: set drop_last");
  DataLoader dropped{data, {.batch_size = 6, .drop_last = true, .mine = sixth}};
  CHECK(std::get<0>(*dropped.begin()).at({0}) == 5);
}

TEST_CASE("a fingerprint is of samples, and makes no batch of them") {
  std::atomic<int> read = 0;
  struct Counted {
    std::atomic<int>* read;
    std::int64_t scale = 1;
    std::int64_t size() const { return 10; }
    std::int64_t operator[](std::int64_t i) const { return ++*read, i * scale; }
  };
  const auto pairs = [](const std::vector<std::int64_t>& some) {
    if (some.size() % 2 != 0) fail<ValueError>("pairs", "half a pair");
    return Index(some);
  };
  const DataLoader loader{Counted{&read}, {.batch_size = 2}, pairs}, other{Counted{&read, 2}, {.batch_size = 2}, pairs};
  const std::string of_loader = loader.fingerprint();
  CHECK(read == 2);
  CHECK(of_loader == DataLoader(Counted{&read}, {.batch_size = 2}).fingerprint());
  CHECK(of_loader != other.fingerprint());
  const auto of = [](const auto& data) { return DataLoader(data).fingerprint(); };
  CHECK(of(std::vector<std::string>{"a"}) != of(std::vector<std::string>{"b"}));
  CHECK(of(std::vector<std::vector<int>>{{1, 2}}) != of(std::vector<std::vector<int>>{{1, 3}}));
  CHECK(of(std::vector<Labelled>{{tensor({1}), 7, true}}) != of(std::vector<Labelled>{{tensor({1}), 7, false}}));
}

TEST_CASE("a loader refuses options that make no sense") {
  const auto made = [](std::int64_t n, const DataLoaderOptions& options) { DataLoader{ascending(n), options}; };
  CHECK_REFUSED(ValueError, made(5, {.batch_size = 0}), "data_loader", "batch_size must be at least 1, got 0");
  CHECK_REFUSED(ValueError, made(5, {.num_workers = -1}), "data_loader", "num_workers must be from 0 to 1024, got -1");
  CHECK_REFUSED(ValueError, made(5, {.num_workers = 1025}), "data_loader", "num_workers", "from 0 to 1024, got 1025");
  CHECK_REFUSED(ValueError, made(5, {.batch_size = 6, .drop_last = true}), "data_loader", "5 samples", "batch of 6");
  CHECK_REFUSED(ValueError, made(0, {}), "data_loader", "the data set has no samples");
  made(1, {.num_workers = 1024});
  made(5, {.batch_size = 6});
  made(6, {.batch_size = 6, .drop_last = true});
}

}  // namespace xgrad::kit
