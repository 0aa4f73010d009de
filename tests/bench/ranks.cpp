// One training step of several ranks, of which each has its share of the batch; under mpirun.
//
//   tests/bench/ranks [WORKLOAD...]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>

#include <CLI/CLI.hpp>

#include <xgrad/core/runtime/parallel.h>
#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/kit/mpi/run.h>

#include "models.h"

using namespace bench;

namespace {

struct Given {
  std::string workload = "W2";
  int steps = 20;
  mpi::DataParallelOptions parallel;
};

// Some rows of a batch.
using Batch = std::tuple<Index, Index, Index, Index, Tensor>;

template <class Model, class Loss>
void measure(mpi::World& world, const Given& given, const Model& model, double lr, const Batch& whole, const Loss& loss) {
  optim::AdamW adam{model.parameters(), {.lr = lr}};
  mpi::DataParallel parallel{world, model, adam, given.parallel};
  const std::int64_t samples = std::get<0>(whole).dim(0), begin = mpi::part_begin(samples, world.ranks(), world.rank()),
                     end = mpi::part_begin(samples, world.ranks(), world.rank() + 1);
  const auto own = [&](const auto&... part) { return Batch(part[{slice(begin, end)}]...); };
  const Batch batch = std::apply(own, whole);
  std::vector<double> times, hidden, waited;
  for (int i = 0; i < given.steps + 3; ++i) {
    world.wait();
    const auto start = std::chrono::steady_clock::now();
    adam.step(parallel.grad(loss(batch), {.weight = end - begin}));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (i < 3) continue;
    times.push_back(time.count());
    hidden.push_back(parallel.exchange().hidden());
    waited.push_back(parallel.exchange().waited);
  }
  if (!world.first()) return;
  const auto median = [](std::vector<double>& values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
  };
  std::printf("ranks %s %d ranks %d threads  %.3f ms  hidden %.0f %%  waited %.2f ms  gradients %.1f MB\n",
              given.workload.c_str(), world.ranks(), threads(), median(times), 100 * median(hidden), median(waited),
              static_cast<double>(model.num_parameters()) * sizeof(Real) / 1e6);
}

void measure_gpt(mpi::World& world, const Given& given, const GptOptions& o) {
  Data data(1);
  const nn::Gpt model{nn::root,
                      nn::GptOptions{.vocabulary = o.vocabulary,
                                     .context = o.context,
                                     .dim = o.dim,
                                     .heads = o.heads,
                                     .layers = o.layers,
                                     .ffn = o.ffn}};
  const Index ids = data.ids({o.batch, o.context}, static_cast<int>(o.vocabulary)),
              labels = data.ids({o.batch, o.context}, static_cast<int>(o.vocabulary));
  measure(world, given, model, o.lr, {ids, labels, labels, labels, zeros({o.batch})}, [&](const Batch& part) {
    return cross_entropy(model(std::get<0>(part)), std::get<1>(part));
  });
}

// Milliseconds of a sum over all ranks, by the bytes of the numbers: what docs/tools/predict_ranks.py is fitted to.
void measure_messages(mpi::World& world, const Given& given) {
  for (std::int64_t bytes = 4 << 10; bytes <= 64 << 20; bytes *= 4) {
    std::vector<Real> numbers(static_cast<std::size_t>(bytes) / sizeof(Real), Real(1e-30));
    std::vector<double> times;
    for (int i = 0; i < given.steps + 3; ++i) {
      world.wait();
      const auto begin = std::chrono::steady_clock::now();
      const auto sum = world.start_sum(numbers);
      while (!sum->done()) continue;
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      if (i >= 3) times.push_back(time.count());
    }
    std::ranges::sort(times);
    if (world.first()) std::printf("message %lld bytes  %.4f ms\n", static_cast<long long>(bytes), times[times.size() / 2]);
  }
}

const std::map<std::string, std::function<void(mpi::World&, const Given&)>> workloads{
    {"messages", measure_messages},
    {"W1",
     [](mpi::World& world, const Given& given) {
       Data data(1);
       constexpr std::int64_t B = 64, T = 10;
       const Translator model;
       const Index source = data.ids({B, T}, Translator::source_words), target = data.ids({B, T}, Translator::target_words),
                   labels = data.ids({B, T}, Translator::target_words);
       Index lengths(Shape{B});
       for (std::int64_t i = 0; i < B; ++i) lengths.mutable_data()[i] = 4 + data.below(7);
       measure(world, given, model, 0.005, {source, lengths, target, labels, zeros({B})}, [&](const Batch& part) {
         return cross_entropy(model(std::get<0>(part), std::get<1>(part), std::get<2>(part)), std::get<3>(part));
       });
     }},
    {"W2",
     [](mpi::World& world, const Given& given) {
       measure_gpt(world, given, {.batch = 12, .context = 64, .vocabulary = 65, .dim = 128, .heads = 4, .layers = 4, .ffn = 512, .lr = 1e-3});
     }},
    {"W3",
     [](mpi::World& world, const Given& given) {
       measure_gpt(world, given, {.batch = 4, .context = 256, .vocabulary = 8192, .dim = 512, .heads = 8, .layers = 6, .ffn = 2048, .lr = 3e-4});
     }},
    {"W7", [](mpi::World& world, const Given& given) {
       Data data(1);
       constexpr std::int64_t B = 64;
       const Cnn model;
       const Tensor x = data.numbers({B, 1, 28, 28});
       const Index labels = data.ids({B}, 10);
       measure(world, given, model, 1e-3, {labels, labels, labels, labels, x}, [&](const Batch& part) {
         return cross_entropy(model(std::get<4>(part)), std::get<0>(part));
       });
     }}};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A training step of several ranks.", "xgrad_bench_ranks");
  Given given;
  app.add_option("workload", given.workload, "W1, W2, W3, W7, or messages")->check(CLI::IsMember(workloads));
  app.add_option("--steps", given.steps, "that are timed");
  app.add_option("--bucket-mb", given.parallel.bucket_mb, "MiB of gradients that are sent together");
  CLI11_PARSE(app, argc, argv);
  return mpi::run(argc, argv, [&](mpi::World& world) { workloads.at(given.workload)(world, given); });
}
