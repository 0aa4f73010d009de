// Ranks that are threads of this process: what DataParallel and World do with several of them, whatever carries their
// messages. tests/mpi has ranks that MPI starts.
#include <doctest/doctest.h>

#include <barrier>
#include <cmath>
#include <thread>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/xgrad.h>

#include "support.h"

namespace xgrad::kit {
namespace {

/// Where the ranks meet.
struct Meeting {
  explicit Meeting(int ranks) : barrier(ranks), texts(static_cast<std::size_t>(ranks)), numbers(texts.size()) {}

  std::barrier<> barrier;
  std::vector<std::string> texts;
  std::span<std::byte> sent;
  std::vector<std::span<Real>> numbers;
};

class RankInThread : public mpi::World {
 public:
  RankInThread(Meeting& meeting, int rank) : World(rank, static_cast<int>(meeting.texts.size())), meeting_(meeting) {}

  std::vector<std::string> gather(const std::string& text) override {
    meeting_.texts[static_cast<std::size_t>(rank())] = text;
    meeting_.barrier.arrive_and_wait();
    std::vector<std::string> all = meeting_.texts;
    meeting_.barrier.arrive_and_wait();
    return all;
  }
  void broadcast(std::span<std::byte> bytes, int from) override {
    if (rank() == from) meeting_.sent = bytes;
    meeting_.barrier.arrive_and_wait();
    if (rank() != from) std::ranges::copy(meeting_.sent, bytes.begin());
    meeting_.barrier.arrive_and_wait();
  }
  std::unique_ptr<mpi::detail::Pending> start_sum(std::span<Real> numbers) override {
    meeting_.numbers[static_cast<std::size_t>(rank())] = numbers;
    meeting_.barrier.arrive_and_wait();
    std::vector<Real> sum(numbers.size());
    for (const std::span<Real> list : meeting_.numbers) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += list[i];
    }
    meeting_.barrier.arrive_and_wait();
    std::ranges::copy(sum, numbers.begin());
    return World::start_sum(numbers);
  }

 private:
  Meeting& meeting_;
};

/// Runs f(world) in so many ranks. An error that is thrown by one of them has to be thrown by all.
void in_ranks(int ranks, const std::function<void(mpi::World&)>& f) {
  Meeting meeting(ranks);
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        RankInThread world(meeting, rank);
        manual_seed(1);
        f(world);
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
}

struct Maps : nn::Layer<Maps> {
  using Layer::Layer;
  nn::Linear in{at("in"), 6, 16};
  nn::Linear out{at("out"), 16, 3};
  Tensor forward(const Tensor& x) const { return out(tanh(in(x))); }
};

struct NormedMaps : nn::Layer<NormedMaps> {
  using Layer::Layer;
  nn::Linear in{at("in"), 6, 16};
  nn::BatchNorm1d norm{at("norm"), 16};
  Tensor forward(const Tensor& x) const { return norm(in(x)); }
};

constexpr std::int64_t samples = 21;  // so that ranks have different numbers of them

Tensor all_x() { return random_normal({samples, 6}, {.seed = 5}); }
Index all_y() { return randint(0, 3, {samples}, {.seed = 6}); }
Index own_rows(int ranks, int rank) {
  return arange(mpi::part_begin(samples, ranks, rank), mpi::part_begin(samples, ranks, rank + 1));
}
/// The mean loss of a rank's samples.
Tensor part_loss(const Maps& model, int ranks, int rank) {
  const Index rows = own_rows(ranks, rank);
  return cross_entropy(model(all_x()[rows]), all_y()[rows]);
}
Tensor own_loss(const Maps& model, const mpi::World& world) { return part_loss(model, world.ranks(), world.rank()); }
std::int64_t own_samples(const mpi::World& world) { return own_rows(world.ranks(), world.rank()).size(); }

void check_gradients_are(const Tensors& found, const Tensors& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    xgrad::testing::check_close(found[i].value(), expected[i].value(), 1e-6);
}

/// The message with which this fails on this rank.
template <class F>
std::string message_of(const F& f) {
  return xgrad::testing::error_of<ValueError>(f);
}

}  // namespace

TEST_CASE("ranks that are threads have the gradients of the whole batch, in one bucket and in many") {
  const double tiny = 40.0 * sizeof(Real) / (1 << 20);  // MiB
  for (const int ranks : {1, 2, 3}) {
    for (const double first : {1.0, tiny}) {
      CAPTURE(ranks);
      CAPTURE(first);
      in_ranks(ranks, [&](mpi::World& world) {
        const Maps model{nn::root}, alone{nn::root};
        if (world.first()) alone.load_state_dict(model.state_dict());
        if (!world.first()) model.in.weight.assign(zeros_like(model.in.weight).value());  // has rank 0's values instead
        optim::SGD sgd{model.parameters(), {.lr = 0.5}}, other{alone.parameters(), {.lr = 0.5}};
        mpi::DataParallel parallel{world, model, sgd, {.first_bucket_mb = first, .bucket_mb = 2 * first}};
        if (!world.first()) alone.load_state_dict(model.state_dict());
        for (int step = 0; step < 3; ++step) {
          const Tensor loss = cross_entropy(alone(all_x()), all_y());
          const Tensors expected = grad(loss, alone.parameters());
          const Tensors found = parallel.grad(own_loss(model, world), {.weight = own_samples(world)});
          check_gradients_are(found, expected);
          CHECK(parallel.loss() == doctest::Approx(static_cast<double>(loss.item())).epsilon(1e-5));
          if (ranks > 1) CHECK(parallel.weight() == samples);
          CHECK(parallel.steps() == step + 1);
          // 163 numbers: 40, and 80 and the rest.
          CHECK(parallel.exchange().buckets == (first < 1 ? 3 : 1));
          // The first step does not know yet that the last layer is complete first; later all but what `in` fills is
          // sent.
          if (ranks > 1 && first < 1) CHECK(parallel.exchange().started_during_pass >= 1);
          if (ranks > 1 && first < 1) CHECK(parallel.exchange().completed_during_pass >= 1);
          CHECK(parallel.exchange().milliseconds >= parallel.exchange().waited);
          sgd.step(found);
          other.step(expected);
        }
        world.agree("the parameters differ", str(detail::mark_of(model.parameters())));
      });
    }
  }
}

TEST_CASE("ranks count by their weights; one without weight runs nothing, and what no rank uses gets zeros") {
  in_ranks(3, [](mpi::World& world) {
    const Maps model{nn::root};
    model.out.bias.set_requires_grad(false);
    mpi::DataParallel parallel{world, model};
    const double weight = world.rank() == 2 ? 0 : 1 + 2 * world.rank();  // 1, 3, 0
    const Tensor loss = weight > 0 ? own_loss(model, world) : Tensor();
    const Tensors found = parallel.grad(loss, {.weight = weight});
    const Tensors wanted{model.in.weight, model.in.bias, model.out.weight};
    const Tensors a = grad(part_loss(model, 3, 0), wanted), b = grad(part_loss(model, 3, 1), wanted);
    for (std::size_t i = 0; i < 3; ++i) {
      xgrad::testing::check_close(found[i].value(), ((a[i] + 3 * b[i]) / 4).value(), 1e-6);
    }
    CHECK_FALSE(found[3].defined());
    CHECK(parallel.weight() == 4);
    const auto part = [&] { return mean(model.in(all_x())); };
    const auto whole = [&] { return mean(model(all_x())); };
    const Tensors of_part = parallel.grad(part());
    CHECK(equal(of_part[2].value(), zeros_like(model.out.weight).value()));
    xgrad::testing::check_close(of_part[0].value(), grad(part(), {model.in.weight})[0].value(), 1e-6);
    const Tensors of_both = parallel.grad(world.first() ? whole() : part());
    xgrad::testing::check_close(of_both[2].value(), (grad(whole(), {model.out.weight})[0] / 3).value(), 1e-6);
  });
}

TEST_CASE("a hook in a rank sees the rank's mean gradient, and the ranks' mean is that of what hooks return") {
  in_ranks(2, [](mpi::World& world) {
    const Maps model{nn::root};
    const Tensor w = model.out.weight;
    Array expected(w.shape(), Real(0));
    for (int rank = 0; rank < 2; ++rank) {
      const Tensor g = grad(part_loss(model, 2, rank), {w})[0];
      expected =
          (expected + (clamp(g, -0.01, 0.01) + 0.5 * w) * static_cast<double>(own_rows(2, rank).size()) / 21.0).value();
    }
    const Index rows = own_rows(2, world.rank());
    const Tensor h = model.in(all_x()[rows]);
    const Tensors of_rank = grad(cross_entropy(model.out(tanh(h)), all_y()[rows]), {w, h});
    Tensor seen, seen_by_layer;
    w.on_grad([&](const Tensor& g) {
      seen = g;
      return clamp(g, -0.01, 0.01) + 0.5 * w;
    });
    model.in.on_forward([&](const nn::ForwardCall& call) {
      call.output.on_grad([&](const Tensor& g) {
        seen_by_layer = g;
        return Tensor();
      });
    });
    mpi::DataParallel parallel{world, model};
    const Tensors found = parallel.grad(own_loss(model, world), {.weight = own_samples(world)});
    xgrad::testing::check_close(found[2].value(), expected, 1e-6);
    xgrad::testing::check_close(seen.value(), of_rank[0].value(), 1e-6);
    xgrad::testing::check_close(seen_by_layer.value(), of_rank[1].value(), 1e-6);
    Tensor again;
    w.on_grad([&](const Tensor& g) {
      again = g;
      return Tensor();
    });
    grad(own_loss(model, world), {w});
    CHECK(again.defined());  // and no hook of DataParallel is left
  });
}

TEST_CASE(
    "real buffers of ranks are averaged, integers are those of the first rank that ran, without weights nothing") {
  in_ranks(3, [](mpi::World& world) {
    const NormedMaps model{nn::root};
    mpi::DataParallel parallel{world, model};
    const auto loss_of = [&](int rank) { return mean(model(all_x()[own_rows(3, rank)])); };
    const Array before = model.norm.running_mean.value();
    CHECK(message_of([&] { parallel.grad(loss_of(world.rank()), {.weight = 0}); }) ==
          "data_parallel: no rank has a loss of a weight above 0");
    CHECK(equal(model.norm.running_mean.value(), before));
    CHECK(model.norm.num_batches_tracked.item() == 0);
    Array means(before.shape(), Real(0));
    for (const int rank : {1, 2}) {
      means = (means + mean(model.in(all_x()[own_rows(3, rank)]), 0)).value();
    }
    const bool runs = world.rank() > 0;
    parallel.grad(runs ? loss_of(world.rank()) : Tensor(), {.weight = runs ? 1 : 0});
    xgrad::testing::check_close(model.norm.running_mean.value(), (0.1 * means / 2).value(), 1e-6);
    CHECK(model.norm.num_batches_tracked.item() == 1);
    const kit::LossGradients left_out = parallel.for_trainer()(3, [&] {
      return WeightedLoss{loss_of(world.rank()), 0};
    });
    CHECK(left_out.weight == 0);
    CHECK(model.norm.num_batches_tracked.item() == 1);
  });
}

TEST_CASE("random numbers of a rank depend on seed, step and rank, and a step that is gone back to draws them again") {
  std::vector<std::vector<RandomState>> drawn(2);
  in_ranks(2, [&](mpi::World& world) {
    const Maps model{nn::root};
    mpi::DataParallel parallel{world, model};
    std::vector<RandomState>& mine = drawn[static_cast<std::size_t>(world.rank())];
    for (int step = 0; step < 2; ++step) {
      mine.push_back(random_state());
      parallel.grad(own_loss(model, world));
    }
    parallel.go_to(1);
    CHECK(random_state() == mine[1]);
    parallel.for_trainer()(0, [&] {
      CHECK(random_state() == mine[0]);
      return WeightedLoss{own_loss(model, world), 2};
    });
    CHECK(parallel.weight() == 4);
    mpi::DataParallel second{world, model};  // begins with a seed of rank 0
    CHECK(second.steps() == 0);
  });
  CHECK_FALSE(drawn[0][0] == drawn[1][0]);
  CHECK_FALSE(drawn[0][0] == drawn[0][1]);
}

TEST_CASE("ranks that differ are refused on all of them, with both sides") {
  in_ranks(2, [](mpi::World& world) {
    const bool odd = world.rank() == 1;
    const Maps model{nn::root};
    const auto says = [](const std::string& message, const std::string& expected) {
      CHECK_MESSAGE(message.find(expected) != std::string::npos, message);
    };
    const auto made = [&](const mpi::DataParallelOptions& options) { mpi::DataParallel(world, model, options); };
    manual_seed(odd ? 2 : 1);
    CHECK(message_of([&] { made({}); }) ==
          "the random numbers differ: rank 1 has \"seed 2, 0 draws\", rank 0 has \"seed 1, 0 draws\"");
    manual_seed(1);
    CHECK(message_of([&] { made({.bucket_mb = odd ? 5.0 : 25.0}); }) ==
          "the options of DataParallel differ: rank 1 has \"buckets 1 and 5\", rank 0 has \"buckets 1 and 25\"");
    CHECK(message_of([&] { made({.first_bucket_mb = 0}); }) == "data_parallel: buckets of 0 and 25 MiB");
    CHECK(message_of([&] { made({.bucket_mb = 0}); }) == "data_parallel: buckets of 1 and 0 MiB");
    optim::Adam adam{model.parameters(), {.lr = odd ? 0.1 : 0.2}};
    says(message_of([&] { mpi::DataParallel(world, model, adam); }), "the optimizers differ: rank 1 has \"adam, mark ");
    const nn::Linear stranger{nn::root, 2, odd ? 3 : 4};
    says(message_of([&] { mpi::DataParallel(world, stranger); }),
         "the models differ: rank 1 has \"2 parameters of 9 numbers, mark ");
    optim::SGD of_stranger{stranger.parameters(), {.lr = 1}};
    says(message_of([&] { mpi::DataParallel(world, model, of_stranger); }), "is none of the model's");
    mpi::DataParallel parallel{world, model};
    parallel.agree("the data differ", odd ? "600 samples" : "601 samples");
    CHECK(message_of([&] { parallel.grad(own_loss(model, world)); }) ==
          "the data differ: rank 1 has \"600 samples\", rank 0 has \"601 samples\"");
    CHECK(message_of([&] { parallel.grad(own_loss(model, world), {-1}); }) == "data_parallel: a loss of weight -1");
    CHECK(message_of([&] { parallel.grad(own_loss(model, world), {HUGE_VAL}); }) ==
          "data_parallel: a loss of weight inf");
    says(xgrad::testing::error_of<ShapeError>([&] { parallel.grad(model(all_x())); }), "the loss has shape [21, 3]");
    CHECK(parallel.grad(own_loss(model, world))[0].defined());  // asked for once
  });
}

TEST_CASE("shares of a batch are as equal as possible") {
  for (const std::int64_t n : {0, 1, 5, 7, 21, 64}) {
    CHECK(mpi::part_begin(n, 8, 0) == 0);
    CHECK(mpi::part_begin(n, 8, 8) == n);
    for (std::int64_t rank = 0; rank < 8; ++rank) {
      const std::int64_t share = mpi::part_begin(n, 8, rank + 1) - mpi::part_begin(n, 8, rank);
      CHECK((share == n / 8 || share == n / 8 + 1));
    }
  }
}

TEST_CASE("a world sums by a tree, gathers by rank, and has a shard and a folder for each rank") {
  const testing::TemporaryFolder folder;
  xgrad::testing::write_text(folder / "checkpoint.safetensors", "new");
  std::filesystem::create_directories(folder / "rank_1");
  xgrad::testing::write_text(folder / "rank_1/checkpoint.safetensors", "old");
  xgrad::testing::write_text(folder / "rank_1/log.csv", "old");
  in_ranks(3, [&](mpi::World& world) {
    CHECK(world.sum(0.1 * (1 + world.rank())) == (0.1 + 0.2) + 0.1 * 3);
    CHECK(world.gather(2.0 * world.rank()) == std::vector<double>{0, 2, 4});
    const std::vector<double> mine{1.0 + world.rank(), 10};
    CHECK(world.sum(mine) == std::vector<double>{6, 30});
    const std::vector<double> uneven(static_cast<std::size_t>(1 + world.rank()), 1);
    CHECK(xgrad::testing::error_of<ShapeError>([&] { world.sum(uneven); }).starts_with("sum: "));
    std::vector<double> sent{world.rank() == 1 ? 7.0 : 0.0};
    world.broadcast(std::span(sent), 1);
    CHECK(sent[0] == 7);
    const Index rows = world.shard()(arange(7));
    CHECK(equal(rows, world.rank() == 0 ? arange(0, 3) : world.rank() == 1 ? arange(3, 5) : arange(5, 7)));
    const auto own = world.own_folder(folder.path());
    CHECK(own == (world.first() ? folder.path() : folder.path() / str("rank_", world.rank())));
    CHECK(testing::read_text(own / "checkpoint.safetensors") == "new");
    if (!world.first()) CHECK_FALSE(std::filesystem::exists(own / "log.csv"));
  });
  CHECK(mpi::tree_sum({}) == 0);
  const std::vector<double> terms{0.1, 0.2, 0.3, 0.4, 0.5};
  CHECK(mpi::tree_sum(terms) == ((0.1 + 0.2) + 0.3) + (0.4 + 0.5));
}

}  // namespace xgrad::kit
