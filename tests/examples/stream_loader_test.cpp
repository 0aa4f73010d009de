// Loading streams: order, the buffer that shuffles, the same bits for any number of workers, places that are gone back
// to, errors, and a trainer that does not know how long an epoch is.
#include <doctest/doctest.h>

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include <xgrad/kit/data/stream_loader.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "support.h"

namespace xgrad::kit {
namespace {

using testing::TemporaryFolder;
using testing::write_text;

/// 0, 1, ..., n - 1.
auto counting(std::int64_t n) {
  return [n] {
    return [i = std::int64_t{0}, n]() mutable -> std::optional<std::int64_t> {
      if (i == n) return {};
      return i++;
    };
  };
}

/// Numbers, each with its random numbers, and batches that draw, too.
auto noisy(std::int64_t n) {
  return [n](std::int64_t epoch) {
    return [=, i = std::int64_t{0}]() mutable -> std::optional<std::pair<std::int64_t, Tensor>> {
      if (i == n) return {};
      return std::pair(1000 * epoch + i++, randn({2}));
    };
  };
}
std::vector<Real> with_noise(const std::vector<std::pair<std::int64_t, Tensor>>& samples) {
  std::vector<Real> numbers{randn({}).item()};
  for (const auto& [i, noise] : samples) {
    numbers.push_back(static_cast<Real>(i));
    numbers.insert(numbers.end(), noise.value().begin(), noise.value().end());
  }
  return numbers;
}

template <class Loader>
std::vector<std::vector<std::int64_t>> rows_of(Loader& loader) {
  std::vector<std::vector<std::int64_t>> rows;
  for (const Index& batch : loader) rows.emplace_back(batch.begin(), batch.end());
  return rows;
}

template <class Loader>
std::vector<std::int64_t> numbers_of(Loader& loader) {
  std::vector<std::int64_t> numbers;
  for (const Index& batch : loader) numbers.insert(numbers.end(), batch.begin(), batch.end());
  return numbers;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  Lines::Pass next = Lines(path)();
  while (const auto line = next()) lines.push_back(*line);
  return lines;
}

}  // namespace

TEST_CASE("a stream comes in order, the last batch smaller or left out, and its end is known in its last batch") {
  StreamLoader loader{counting(7), {.batch_size = 3}};
  CHECK(rows_of(loader) == std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {3, 4, 5}, {6}});
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const Index& batch : loader) {
    CHECK(batch.size() > 0);
    places.emplace_back(loader.position(), loader.size());
  }
  CHECK(places == std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 0}, {2, 0}, {3, 3}});
  CHECK(loader.epoch() == 2);
  CHECK(loader.position() == 0);
  StreamLoader whole{counting(7), {.batch_size = 3, .drop_last = true, .num_workers = 2}};
  CHECK(rows_of(whole) == std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {3, 4, 5}});
  StreamLoader even{counting(6), {.batch_size = 3}};
  CHECK(rows_of(even).size() == 2);
}

TEST_CASE("a buffer shuffles: each sample once, none before its time, as far as the buffer reaches") {
  StreamLoader loader{counting(1000), {.batch_size = 10, .shuffle_buffer = 50, .seed = 4}};
  const std::vector<std::int64_t> one = numbers_of(loader), two = numbers_of(loader);
  CHECK(one != two);
  double moved = 0;
  for (const auto& order : {one, two}) {
    std::vector<std::int64_t> all = order;
    std::ranges::sort(all);
    for (std::int64_t i = 0; i < 1000; ++i) {
      CHECK(all.at(static_cast<std::size_t>(i)) == i);
      CHECK(order[static_cast<std::size_t>(i)] < i + 50);
      moved += double(std::abs(order[static_cast<std::size_t>(i)] - i)) / 2000;
    }
  }
  // A sample waits for a geometric time of mean 50, so it is |T - 50| away from its place: 2 * 50 / e on the average.
  CHECK(moved == doctest::Approx(2 * 50 / std::exp(1)).epsilon(0.15));
  // As large as the stream it is a permutation, all equally probable: 3! in 6000 epochs.
  StreamLoader small{counting(3), {.batch_size = 3, .shuffle_buffer = 3}};
  std::vector<double> counts(27, 0);
  for (int epoch = 0; epoch < 6000; ++epoch) {
    const auto order = numbers_of(small);
    ++counts[static_cast<std::size_t>(9 * order[0] + 3 * order[1] + order[2])];
  }
  double chi_square = 0;
  int possible = 0;
  for (const double count : counts) {
    if (count == 0) continue;
    ++possible;
    chi_square += (count - 1000) * (count - 1000) / 1000;
  }
  CHECK(possible == 6);
  CHECK(chi_square < 20.52);  // the quantile 0.999 with 5 degrees of freedom
}

TEST_CASE("any number of workers gives the same bits, and each place that was saved is gone back to") {
  manual_seed(8);
  const RandomState before = random_state();
  const auto make = [](int workers, std::int64_t factor = 2) {
    return StreamLoader<decltype(noisy(1)), std::vector<Real> (*)(const std::vector<std::pair<std::int64_t, Tensor>>&)>{
        noisy(41),
        {.batch_size = 4, .shuffle_buffer = 9, .seed = 2, .num_workers = workers, .prefetch_factor = factor},
        with_noise};
  };
  auto whole = make(0);
  std::vector<std::vector<Real>> expected;
  std::vector<StateFile> states{whole.state_dict()};
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const auto& batch : whole) {
      expected.push_back(batch);
      states.push_back(whole.state_dict());
    }
  }
  REQUIRE(expected.size() == 22);
  CHECK(expected[0] != expected[11]);
  for (std::size_t from = 0; from < states.size(); ++from) {
    auto loader = make(static_cast<int>(from % 4), 1 + static_cast<std::int64_t>(from % 3));
    loader.load_state_dict(states[from]);
    std::vector<std::vector<Real>> found;
    while (loader.epoch() < 2) {
      for (const auto& batch : loader) found.push_back(batch);
    }
    CHECK(found == std::vector(expected.begin() + static_cast<std::ptrdiff_t>(from), expected.end()));
  }
  CHECK(random_state() == before);
}

TEST_CASE("a pass that is left early has been an epoch, and states of others are refused") {
  StreamLoader loader{counting(30), {.batch_size = 5, .shuffle_buffer = 10, .num_workers = 3}};
  StreamLoader whole{counting(30), {.batch_size = 5, .shuffle_buffer = 10}};
  for (const Index& batch : loader) {
    CHECK(batch.size() == 5);
    break;
  }
  rows_of(whole);
  CHECK(rows_of(loader) == rows_of(whole));
  CHECK(loader.epoch() == 2);
  StreamLoader other{counting(30), {.batch_size = 5, .shuffle_buffer = 11}};
  CHECK_THROWS_WITH_AS(
      other.load_state_dict(loader.state_dict()),
      "data_loader: the state is of a loader with a stream, batch_size 5, shuffle_buffer 10, drop_last "
      "false, seed 0; this one has a stream, batch_size 5, shuffle_buffer 11, drop_last false, seed 0",
      FormatError);
  StreamLoader shorter{counting(12), {.batch_size = 5, .shuffle_buffer = 10}};
  auto at = whole.begin();
  ++at, ++at, ++at;
  shorter.load_state_dict(whole.state_dict());
  CHECK_THROWS_WITH_AS(shorter.begin(), "data_loader: the stream ends behind 12 samples, before batch 4", FormatError);
}

TEST_CASE("an error of a stream arrives behind the batches before it, with the number of its sample") {
  const auto failing = [] {
    return [i = std::int64_t{0}]() mutable -> std::optional<std::int64_t> {
      if (i == 7) fail<ValueError>("failing", "no more");
      return i++;
    };
  };
  for (const int workers : {0, 1, 3}) {
    StreamLoader loader{failing, {.batch_size = 2, .num_workers = workers}};
    std::int64_t seen = 0;
    const auto run = [&] {
      for (const Index& batch : loader) seen += batch.size();
    };
    CHECK_THROWS_WITH_AS(run(), "data_loader: sample 7: failing: no more", SampleError);
    CHECK(seen == 6);
  }
  StreamLoader bad{counting(9), {.batch_size = 4, .num_workers = 1}, [](const std::vector<std::int64_t>& some) {
                     if (some.front() == 4) fail<ValueError>("mine", "no");
                     return some.size();
                   }};
  CHECK_THROWS_WITH_AS(([&] {
                         for (const auto& batch : bad) CHECK(batch == 4);
                       }()),
                       "data_loader: samples [4, 5, 6, 7]: mine: no", SampleError);
  StreamLoader empty{counting(0)};
  CHECK_THROWS_WITH_AS(empty.begin(), "data_loader: the stream has no batch", ValueError);
  CHECK_THROWS_AS((StreamLoader{counting(1), {.batch_size = 0}}), ValueError);
  CHECK_THROWS_AS((StreamLoader{counting(1), {.shuffle_buffer = -1}}), ValueError);
}

TEST_CASE("lines of a file are read, plain and packed, however they end") {
  const TemporaryFolder folder;
  CHECK(lines_of(write_text(folder / "a", "one\ntwo\r\n\n four\nlast")) ==
        std::vector<std::string>{"one", "two", "", " four", "last"});
  CHECK(lines_of(write_text(folder / "b", "one\n")) == std::vector<std::string>{"one"});
  CHECK(lines_of(write_text(folder / "c", "")).empty());
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 300; ++i) {  // longer than the pieces that are read, and shorter
    expected.emplace_back(static_cast<std::size_t>(i % 7 == 0 ? 70'000 + i : i), static_cast<char>('a' + i % 26));
    text += expected.back() + "\n";
  }
  CHECK(lines_of(write_text(folder / "d", text)) == expected);
  const gzFile file = gzopen((folder / "d.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  CHECK(lines_of(folder / "d.gz") == expected);
  CHECK_THROWS_AS(Lines(folder / "none"), IoError);
  StreamLoader loader{Lines(folder / "d.gz"), {.batch_size = 128}};
  std::vector<std::size_t> sizes;
  for (const std::vector<std::string>& batch : loader) sizes.push_back(batch.size());
  CHECK(sizes == std::vector<std::size_t>{128, 128, 44});
}

TEST_CASE("a trainer learns from a stream, flushes what it gathered, and goes on bit for bit") {
  // y = 2 x: 7 batches, of which two and two make a step.
  const auto points = [] {
    return [i = 0]() mutable -> std::optional<std::pair<Tensor, Tensor>> {
      if (i++ == 26) return {};
      const Tensor x = randn({1});
      return std::pair(x, 2 * x);
    };
  };
  const auto run = [&](const std::filesystem::path& folder, std::int64_t stop_after, int workers) {
    manual_seed(1);
    const nn::Linear net(nn::root, 1, 1);
    optim::SGD sgd{net.parameters(), {.lr = 0.1}};
    StreamLoader loader{points, {.batch_size = 4, .shuffle_buffer = 5, .seed = 3, .num_workers = workers}};
    std::ostringstream said;
    Trainer* running = nullptr;
    TrainerOptions options{.epochs = 3,
                           .accumulate = 2,
                           .folder = folder,
                           .resume = true,
                           .terminal = {.out = &said, .redraws = true, .columns = 80}};
    options.on_step = [&](const StepReport& step) {
      if (step.step == stop_after) running->stop();
    };
    Trainer trainer{net, sgd, options};
    running = &trainer;
    trainer.fit(loader, [&](const Tensor& x, const Tensor& y) { return mse_loss(net(x), y); });
    if (stop_after < 0) {
      CHECK(trainer.steps() == 12);  // 4 in an epoch
      CHECK(trainer.history().back().loss < trainer.history().front().loss);
      CHECK(said.str().find("epoch 1/3 7/") == std::string::npos);  // no total is claimed
      CHECK(said.str().find("epoch 3/3") != std::string::npos);
    }
    std::vector<Real> weights;
    for (const Tensor& parameter : net.parameters()) weights.push_back(parameter.value().data()[0]);
    return weights;
  };
  const TemporaryFolder whole, parts;
  const std::vector<Real> expected = run(whole.path(), -1, 0);
  for (const std::int64_t stop : {3, 4, 9}) run(parts.path(), stop, 2);
  CHECK(run(parts.path(), -1, 1) == expected);
}

}  // namespace xgrad::kit
