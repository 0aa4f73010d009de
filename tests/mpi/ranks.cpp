// What MPI carries between ranks that run together: mpirun -n N xgrad_tests_mpi. (tests/examples/ranks_test.cpp: what
// DataParallel does with it.) With --fail RANK that rank throws, with --return RANK it returns a status; with --leave RANK
// it returns well after fewer steps than the others; with --sleep all wait.
#define DOCTEST_CONFIG_IMPLEMENT
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

#include <support/check.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/kit/mpi/run.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;
using xgrad::testing::normal;

mpi::World* world = nullptr;  // of this process

using Batch = std::pair<Tensor, Index>;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear in{at("in"), 6, 16};
  nn::Linear out{at("out"), 16, 3};
  Tensor forward(const Tensor& x) const { return out(tanh(in(x))); }
};

// Rows of a batch of 21, so that ranks have different numbers of them.
Batch whole_batch(std::uint64_t seed) { return {normal({21, 6}, seed), randint(0, 3, {21}, {.seed = seed + 1})}; }
Index rows_of(int rank) {
  return arange(mpi::part_begin(21, world->ranks(), rank), mpi::part_begin(21, world->ranks(), rank + 1));
}
Batch own_part(const Batch& batch) {
  const Index rows = rows_of(world->rank());
  return {batch.first[rows], batch.second[rows]};
}
template <class Model>
auto loss_of(const Model& model) {
  return [&model](const Batch& part) { return cross_entropy(model(part.first), part.second); };
}

// The largest difference between the parameters of two models, relative to the largest parameter.
double difference(const nn::Module& a, const nn::Module& b) {
  double most = 0, largest = 0;
  const Tensors x = a.parameters(), y = b.parameters();
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max<double>(most, max(abs(x[i] - y[i])).item());
    largest = std::max<double>(largest, max(abs(y[i])).item());
  }
  return most / largest;
}

std::uint64_t bits_of(const NamedArrays& arrays) {
  std::uint64_t mark = kit::fingerprint({});
  for (const auto& [name, any] : arrays) {
    std::visit([&](const auto& array) { mark = kit::detail::mark_of(array, mark); }, any);
  }
  return mark;
}
// Whether all ranks have the same.
bool is_common(std::uint64_t bits) {
  const std::vector<std::string> all = world->gather(std::to_string(bits));
  return std::set<std::string>(all.begin(), all.end()).size() == 1;
}

TEST_CASE("sums over ranks are the same on all, by a tree") {
  const double mine = 1 + world->rank() * 0.1;
  std::vector<double> terms;
  for (int rank = 0; rank < world->ranks(); ++rank) terms.push_back(1 + rank * 0.1);
  CHECK(world->sum(mine) == mpi::tree_sum(terms));
  CHECK(world->gather(mine) == terms);
  const std::vector<std::string> texts = world->gather(std::string(static_cast<std::size_t>(world->rank()), 'x'));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) CHECK(texts[rank].size() == rank);
  std::vector<double> sent{world->first() ? 7.0 : 0.0};
  world->broadcast(std::span(sent));
  CHECK(sent[0] == 7);
}

TEST_CASE("ten steps leave the parameters that one rank has after the whole batches") {
  for (const bool weights_differ : {false, true}) {
    manual_seed(1);
    const Net model{nn::root};
    const Net alone{nn::root};
    alone.load_state_dict(model.state_dict());
    optim::Adam adam{model.parameters(), {.lr = 0.01}}, other{alone.parameters(), {.lr = 0.01}};
    mpi::DataParallel parallel{*world, model, adam};
    for (std::uint64_t step = 0; step < 10; ++step) {
      const Batch batch = whole_batch(step), mine = own_part(batch);
      const double samples = static_cast<double>(mine.second.size());
      const double weight = weights_differ ? samples * (1 + world->rank()) : samples;
      adam.step(parallel.grad(loss_of(model)(mine), {.weight = weight}));
      // The mean that is asked for, on one rank.
      Array of_sample(Shape{21});
      for (int rank = 0; rank < world->ranks(); ++rank) {
        for (const std::int64_t i : rows_of(rank)) of_sample.mutable_data()[i] = weights_differ ? 1 + rank : 1;
      }
      const Tensor weighted = of_sample, losses = cross_entropy(alone(batch.first), batch.second, {.reduction = Reduction::none});
      const Tensor loss = sum(losses * weighted) / sum(weighted);
      other.step(grad(loss, alone.parameters()));
      CHECK(parallel.loss() == doctest::Approx(static_cast<double>(loss.item())).epsilon(1e-12));
    }
    CHECK(difference(model, alone) < 1e-12);
    CHECK(is_common(bits_of(model.state_dict())));
  }
}

// x, whose gradient takes as long as ten sleeps, between which the exchange may go on.
Tensor slowly(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 10; ++i) {
    y = record("slowly", Array(y.value()), wrt(y, [](const Tensor& gy) {
                 std::this_thread::sleep_for(std::chrono::milliseconds(10));
                 return gy;
               }));
  }
  return y;
}

// Whether that holds on all ranks in one of ten attempts: a rank that the system lets wait completes nothing.
template <class F>
bool soon(const F& holds) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (world->sum(holds() ? 1 : 0) == world->ranks()) return true;
  }
  return false;
}

TEST_CASE("gradients travel while the backward pass runs: half of the buckets are summed before it ends") {
  manual_seed(1);
  struct Two : nn::Layer<Two> {
    using Layer::Layer;
    nn::Linear first{at("first"), 6, 4};
    nn::Linear second{at("second"), 4, 64};
    Tensor forward(const Tensor& x) const { return second(slowly(first(x))); }
  };
  const Two model{nn::root};
  const double tiny = 40.0 * sizeof(Real) / (1 << 20);  // MiB: several buckets
  mpi::DataParallel parallel{*world, model, {.first_bucket_mb = tiny, .bucket_mb = tiny}};
  const Batch batch = whole_batch(3), mine = own_part(batch);
  const Tensors found = parallel.grad(loss_of(model)(mine), {.weight = mine.second.size()});
  const Tensors expected = grad(loss_of(model)(batch), model.parameters());
  for (std::size_t i = 0; i < expected.size(); ++i) testing::check_close(found[i].value(), expected[i].value(), 1e-13);
  const mpi::ExchangeReport& report = parallel.exchange();
  CHECK(report.buckets >= 4);
  if (world->ranks() == 1) return;
  // Those of `second` are complete before the sleeps.
  CHECK(soon([&] {
    parallel.grad(loss_of(model)(mine));
    CHECK(report.started_during_pass >= report.buckets / 2);
    return report.completed_during_pass >= report.buckets / 2;
  }));
}

// A training of a rank.
void make_steps(int count) {
  manual_seed(1);
  const Net model{nn::root};
  mpi::DataParallel parallel{*world, model};
  const Batch mine = own_part(whole_batch(3));
  for (int step = 0; step < count; ++step) parallel.grad(loss_of(model)(mine), {.weight = mine.second.size()});
}

}  // namespace

int main(int argc, char** argv) {
  return mpi::run(argc, argv, [&](mpi::World& of_all) {
    world = &of_all;
    const std::string_view word = argc > 1 ? argv[1] : "";
    if (word == "--fail" && of_all.rank() == std::atoi(argv[2])) fail<ValueError>("test", "thrown on purpose");
    if (word == "--return" && of_all.rank() == std::atoi(argv[2])) return 3;
    if (word == "--leave") {
      make_steps(of_all.rank() == std::atoi(argv[2]) ? 5 : 6);
      return 0;
    }
    if (word == "--sleep" || word == "--fail" || word == "--return") {
      of_all.wait();
      if (of_all.first()) std::cout << "waiting" << std::endl;
      while (true) of_all.wait();
    }
    doctest::Context context(argc, argv);
    if (!of_all.first()) context.setOption("minimal", true);
    return context.run();
  });
}
