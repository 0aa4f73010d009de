// Tests that several ranks run together: mpirun -n N xgrad_tests_mpi. With --fail RANK that rank throws, with --return
// RANK it returns a status; with --leave RANK it returns well after fewer steps than the others; with --sleep all wait.
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
using xgrad::testing::error_of;
using xgrad::testing::normal;

mpi::World* world = nullptr;  // of this process

using Batch = std::pair<Tensor, Index>;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear in{at("in"), 6, 16};
  nn::Linear out{at("out"), 16, 3};
  Tensor forward(const Tensor& x) const { return out(tanh(in(x))); }
};

struct NormedNet : nn::Layer<NormedNet> {
  using Layer::Layer;
  nn::Linear in{at("in"), 6, 16};
  nn::BatchNorm1d norm{at("norm"), 16};
  nn::Dropout dropout{at("dropout"), 0.3};
  nn::Linear out{at("out"), 16, 3};
  Tensor forward(const Tensor& x) const { return out(tanh(dropout(norm(in(x))))); }
};

// Rows of a batch of 21, so that ranks have different numbers of them.
Batch whole_batch(std::uint64_t seed, std::int64_t size = 21) {
  return {normal({size, 6}, seed), randint(0, 3, {size}, {.seed = seed + 1})};
}
// Which of n rows belong to a rank.
Index rows_of(std::int64_t n, int rank) {
  return arange(mpi::part_begin(n, world->ranks(), rank), mpi::part_begin(n, world->ranks(), rank + 1));
}
Batch own_part(const Batch& batch) {
  const Index rows = rows_of(batch.first.dim(0), world->rank());
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

void check_equal(const Tensors& found, const Tensors& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) testing::check_close(found[i].value(), expected[i].value(), 1e-13);
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
        for (const std::int64_t i : rows_of(21, rank)) of_sample.mutable_data()[i] = weights_differ ? 1 + rank : 1;
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

TEST_CASE("a trainer on all ranks has the gradients of the whole batch, of which each loads its share") {
  manual_seed(1);
  const Net model{nn::root};
  optim::Adam adam{model.parameters(), {.lr = 0.01}};
  mpi::DataParallel parallel{*world, model, adam};
  const Batch batch = whole_batch(3);
  const Index mine = world->shard()(arange(21));
  CHECK(equal(mine, rows_of(21, world->rank())));
  const kit::LossGradients made = parallel.for_trainer()(7, [&] {
    const Batch part{index_select(batch.first, 0, mine), index_select(batch.second, 0, mine)};
    return kit::WeightedLoss{loss_of(model)(part), mine.size()};
  });
  const Tensor loss = loss_of(model)(batch);
  const Tensors expected = grad(loss, model.parameters());
  check_equal(made.gradients, expected);
  CHECK(made.loss == doctest::Approx(static_cast<double>(loss.item())).epsilon(1e-12));
  CHECK(made.weight == 21);
  CHECK(parallel.steps() == 8);  // the next random numbers are those of batch 8
}

TEST_CASE("parameters that ranks do not use count 0, frozen ones get none, ranks without samples nothing") {
  manual_seed(1);
  const Net model{nn::root};
  model.out.bias.set_requires_grad(false);
  mpi::DataParallel parallel{*world, model};
  const Batch batch = whole_batch(3);
  const bool uses_all = world->first();
  const Tensor x = uses_all ? batch.first : Tensor(Array({21, 6}, Real(0)));
  const Tensor loss = uses_all ? mean(model(x)) : mean(model.in(x));
  const Tensors found = parallel.grad(loss);
  const Tensors at_first = grad(mean(model(batch.first)), {model.out.weight});
  testing::check_close(found[2].value(), (at_first[0] / static_cast<double>(world->ranks())).value(), 1e-13);
  CHECK_FALSE(found[3].defined());

  const Tensors of_first = parallel.grad(world->first() ? mean(model(batch.first)) : Tensor(), {world->first() ? 3.0 : 0.0});
  testing::check_close(of_first[2].value(), at_first[0].value(), 1e-13);
}

TEST_CASE("running statistics are the mean of those of the ranks") {
  manual_seed(1);
  const NormedNet model{nn::root};
  mpi::DataParallel parallel{*world, model};
  const Batch batch = whole_batch(3, 32);
  const Batch mine = own_part(batch);
  parallel.grad(loss_of(model)(mine), {.weight = mine.second.size()});
  const Tensor h = model.in(batch.first);
  Tensor expected = Array(Shape{16}, Real(0));
  for (int rank = 0; rank < world->ranks(); ++rank) {
    expected = expected + 0.1 * mean(h[rows_of(32, rank)], 0) / static_cast<double>(world->ranks());
  }
  const NamedArrays state = model.state_dict();
  testing::check_close(std::get<Array>(state.at("norm.running_mean")), expected.value(), 1e-12);
  CHECK(std::get<Index>(state.at("norm.num_batches_tracked")).item() == 1);
  CHECK(is_common(bits_of(state)));
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

TEST_CASE("gradients travel while the backward pass runs") {
  manual_seed(1);
  const Net model{nn::root};
  const double tiny = 40.0 * sizeof(Real) / (1 << 20);  // MiB: several buckets
  mpi::DataParallel parallel{*world, model, {.first_bucket_mb = tiny, .bucket_mb = tiny}};
  const auto loss = [&](const Batch& part) {
    return cross_entropy(model.out(tanh(slowly(model.in(part.first)))), part.second);
  };
  const Batch batch = whole_batch(3), mine = own_part(batch);
  const Tensors found = parallel.grad(loss(mine), {.weight = mine.second.size()});
  const Tensors expected = grad(loss(batch), model.parameters());
  check_equal(found, expected);
  CHECK(parallel.exchange().buckets >= 4);
  if (world->ranks() == 1) return;
  CHECK(parallel.exchange().started_during_pass >= 1);
  // Of out.weight and out.bias, which are complete before the sleeps: a quarter of all numbers, in two of five buckets.
  CHECK(soon([&] {
    parallel.grad(loss(mine));
    return parallel.exchange().completed_during_pass >= 1;
  }));
}

TEST_CASE("half of the buckets are summed before the pass ends") {
  if (world->ranks() == 1) return;
  manual_seed(1);
  struct Two : nn::Layer<Two> {
    using Layer::Layer;
    nn::Linear first{at("first"), 6, 4};
    nn::Linear second{at("second"), 4, 64};
    Tensor forward(const Tensor& x) const { return second(slowly(first(x))); }
  };
  const Two model{nn::root};
  const double tiny = 40.0 * sizeof(Real) / (1 << 20);
  mpi::DataParallel parallel{*world, model, {.first_bucket_mb = tiny, .bucket_mb = tiny}};
  const Tensor x = normal({4, 6}, 1);
  const mpi::ExchangeReport& report = parallel.exchange();
  const auto half_done = [&] {
    parallel.grad(mean(square(model(x))));
    CHECK(report.started_during_pass >= report.buckets / 2);
    return report.completed_during_pass >= report.buckets / 2;
  };
  CHECK(soon(half_done));
}

TEST_CASE("what differs between ranks is refused on all of them, with both sides") {
  if (world->ranks() == 1) return;
  const bool odd = world->rank() == 1;
  const Net model{nn::root};
  const auto says = [](const std::string& message, const std::string& part) {
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    CHECK_MESSAGE(message.find("rank 1 has") != std::string::npos, message);
    CHECK_MESSAGE(message.find("rank 0 has") != std::string::npos, message);
  };
  manual_seed(odd ? 2 : 1);
  says(error_of<ValueError>([&] { mpi::DataParallel(*world, model); }), "seed 2");
  manual_seed(1);
  says(error_of<ValueError>([&] { mpi::DataParallel(*world, model, {.bucket_mb = odd ? 5.0 : 25.0}); }), "buckets 1 and 5");
  manual_seed(1);
  const auto weights = model.parameters();
  optim::Adam adam{weights, {.lr = 0.1}};
  if (odd) adam.step(Tensors{ones_like(weights[0]), {}, {}, {}});
  says(error_of<ValueError>([&] { mpi::DataParallel(*world, model, adam); }), "adam, mark");
  const nn::Linear wide{nn::root, 6, odd ? 3 : 4};
  manual_seed(1);
  says(error_of<ValueError>([&] { mpi::DataParallel(*world, wide); }), "2 parameters of 21 numbers");
  manual_seed(1);
  mpi::DataParallel parallel{*world, model};
  parallel.agree("the data differ", odd ? "600 samples" : "601 samples");
  says(error_of<ValueError>([&] { parallel.grad(mean(model(normal({4, 6}, 1)))); }), "601 samples");
}

TEST_CASE("bad arguments are refused before anything has changed") {
  manual_seed(1);
  const Net model{nn::root};
  const Tensor x = normal({4, 6}, 1);
  const auto refuses = [&](const mpi::DataParallelOptions& options) {
    manual_seed(1);
    return error_of<ValueError>([&] { mpi::DataParallel(*world, model, options); });
  };
  CHECK(refuses({.bucket_mb = 0}).find("buckets of 1 and 0 MiB") != std::string::npos);
  const nn::Linear stranger{nn::root, 2, 2};
  optim::SGD of_stranger{stranger.parameters(), {.lr = 1}};
  CHECK(error_of<ValueError>([&] { mpi::DataParallel(*world, model, of_stranger); }).find("none of the model's") !=
        std::string::npos);
  manual_seed(1);
  mpi::DataParallel parallel{*world, model};
  CHECK(error_of<ShapeError>([&] { parallel.grad(model(x)); }).find("[4, 3]") != std::string::npos);
  CHECK(error_of<ValueError>([&] { parallel.grad(mean(model(x)), {-1}); }).find("weight -1") != std::string::npos);
  CHECK(error_of<ValueError>([&] { parallel.grad(Tensor(), {0}); }).find("no rank has") != std::string::npos);
  CHECK(parallel.grad(mean(model(x)))[0].defined());  // all of them can go on
}

TEST_CASE("hooks see the mean gradient of their rank, and what they return is averaged") {
  manual_seed(1);
  const Net model{nn::root};
  const Tensor w = model.out.weight;
  const Batch batch = whole_batch(3), mine = own_part(batch);
  const auto part = [&](int rank) {
    const Index rows = rows_of(21, rank);
    return Batch{batch.first[rows], batch.second[rows]};
  };
  const Tensor h = model.in(mine.first);
  const Tensors of_rank = grad(cross_entropy(model.out(tanh(h)), mine.second), {w, h});
  const auto decayed = [&](const Tensor& g) { return clamp(g, -0.01, 0.01) + 0.5 * w; };
  Array expected(w.shape(), Real(0));
  for (int rank = 0; rank < world->ranks(); ++rank) {
    const Tensor g = grad(loss_of(model)(part(rank)), {w})[0];
    expected = (expected + decayed(g) * static_cast<double>(part(rank).second.size()) / 21.0).value();
  }
  Tensor seen, seen_by_layer;
  w.on_grad([&](const Tensor& g) {
    seen = g;
    return decayed(g);
  });
  model.in.on_forward([&](const nn::ForwardCall& call) {
    call.output.on_grad([&](const Tensor& g) {
      seen_by_layer = g;
      return Tensor();
    });
  });
  mpi::DataParallel parallel{*world, model};
  const Tensors found = parallel.grad(loss_of(model)(mine), {.weight = mine.second.size()});
  testing::check_close(found[2].value(), expected, 1e-13);
  testing::check_close(seen.value(), of_rank[0].value(), 1e-13);
  testing::check_close(seen_by_layer.value(), of_rank[1].value(), 1e-13);
}

TEST_CASE("a trainer leaves out a batch that no rank has a weight for") {
  manual_seed(1);
  const NormedNet normed{nn::root};
  mpi::DataParallel parallel{*world, normed};
  const Batch mine = own_part(whole_batch(3));
  const auto before = bits_of(normed.state_dict());
  const kit::LossGradients made = parallel.for_trainer()(0, [&] {
    return kit::WeightedLoss{loss_of(normed)(mine), 0};
  });
  CHECK(made.weight == 0);
  CHECK(bits_of(normed.state_dict()) == before);
  const kit::LossGradients next = parallel.for_trainer()(0, [&] {
    return kit::WeightedLoss{loss_of(normed)(mine), mine.second.size()};
  });
  CHECK(next.weight == 21);
}

TEST_CASE("shares of a batch are as equal as possible") {
  for (const std::int64_t n : {0, 1, 5, 7, 21, 64}) {
    CHECK(mpi::part_begin(n, 8, 0) == 0);
    CHECK(mpi::part_begin(n, 8, 8) == n);
    for (std::int64_t p = 0; p < 8; ++p) {
      const std::int64_t size = mpi::part_begin(n, 8, p + 1) - mpi::part_begin(n, 8, p);
      CHECK(size >= n / 8);
      CHECK(size <= n / 8 + 1);
    }
  }
  CHECK(mpi::part_begin(7, 3, 1) == 3);
  CHECK(mpi::part_begin(7, 3, 2) == 5);
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
    if (word == "--sleep" || word == "--fail" || word == "--return") of_all.wait();
    if (word == "--sleep" || word == "--fail" || word == "--return") {
      if (of_all.first()) std::cout << "waiting" << std::endl;
      while (true) of_all.wait();
    }
    doctest::Context context(argc, argv);
    if (!of_all.first()) context.setOption("minimal", true);
    return context.run();
  });
}
