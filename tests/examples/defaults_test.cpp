// What an option is where a program does not say it: other tests and the examples say most of them.
#include <doctest/doctest.h>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/prefetcher.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/data/transforms.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/draw/vectors.h>
#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/text/tokenizer.h>
#include <xgrad/kit/text/wordpiece.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/trials.h>

#include "support.h"

namespace xgrad::kit::testing {
namespace {

/// Numbers and flags as one list.
template <class... Values>
std::vector<double> all_of(Values... values) {
  return {static_cast<double>(values)...};
}

}  // namespace

TEST_CASE("options that are not said have their defaults") {
  using List = std::vector<double>;
  const DataLoaderOptions loader;
  CHECK(all_of(loader.batch_size, loader.shuffle, loader.drop_last, static_cast<std::uint64_t>(loader.seed),
               loader.num_workers) == List{1, 0, 0, 0, 0});
  const PrefetcherOptions jobs;
  CHECK(all_of(jobs.first, jobs.count, jobs.workers, jobs.ahead) == List{0, 0, 0, 1});
  const ShapesOptions shapes;
  CHECK(all_of(shapes.count, shapes.size, shapes.channels, shapes.noise) == List{1000, 28, 1, 0.1});
  CHECK(WeightsOptions{}.row == 0);
  CHECK(HeatMaps{}.columns == 4);
  const PictureGrid grid;
  CHECK(all_of(grid.columns, grid.width, grid.overlay.rows, grid.overlay.columns) == List{8, 84, 0, 0});
  const PlotOptions plot;
  const PanelPlotOptions panels;
  CHECK(all_of(plot.width, plot.height, plot.equal_aspect, PlotPanel{}.equal_aspect) == List{720, 420, 0, 0});
  CHECK(all_of(panels.columns, panels.width, panels.height, Limits{}.low, Limits{}.high) == List{2, 400, 320, 0, 1});
  const mpi::DataParallelOptions parallel;
  CHECK(all_of(parallel.first_bucket_mb, parallel.bucket_mb, mpi::Weight{}.weight.value) == List{1, 25, 1});
  const ProgressOptions progress;
  CHECK(all_of(progress.total, progress.start) == List{0, 0});
  const Terminal terminal;
  CHECK(all_of(terminal.redraws, terminal.colours, terminal.unicode, terminal.columns) == List{0, 0, 0, 0});
  CHECK(Example{}.seed == 1);
  const CorpusOptions corpus;
  CHECK(all_of(corpus.pairs, corpus.held_out, corpus.steps, corpus.min_freq) == List{600, 100, 10, 2});
  CHECK(CorpusBatch{}.tokens == 0);
  CHECK(all_of(VocabOptions{}.min_freq, WordTokenizerOptions{}.min_freq, WordPieceOptions{}.lower_case) ==
        List{1, 1, 1});
  CHECK(all_of(BpeTrainingOptions{}.size, BpeTrainingOptions{}.min_freq) == List{512, 1});
  const ClassifierOptions classifier;
  CHECK(all_of(classifier.epochs, classifier.batch, classifier.lr, classifier.crop, classifier.flip) ==
        List{10, 64, 1e-3, 0, 0});
  const TrainerOptions trainer;
  CHECK(all_of(trainer.epochs, trainer.steps, trainer.max_norm, trainer.accumulate, trainer.ema) ==
        List{10, 0, 0, 1, 0});
  CHECK(all_of(trainer.validate_every, trainer.patience, trainer.resume, trainer.interruptible) == List{0, 0, 0, 0});
  CHECK(trainer.goal == Goal::least);
  CHECK(all_of(static_cast<std::uint64_t>(Seeds{}.first), Seeds{}.count) == List{1, 1});
  const Report epoch;
  CHECK(all_of(epoch.epoch, epoch.step, epoch.loss, epoch.lr, epoch.best, StepReport{}.step, StepReport{}.loss,
               Neighbour{}.row, Neighbour{}.cosine) == List(9, 0));
  const HeatMaps maps{.queries = {"q"}, .keys = {"a", "b", "c", "d", "e"}};
  const Array equal_weights({1, 1, 1, 5}, Real(0.2));
  CHECK(alignment_text(equal_weights, maps) == alignment_text(equal_weights, maps, 3));
  CHECK(alignment_svg(equal_weights, maps) == alignment_svg(equal_weights, maps, 3));
  CHECK(all_of(WeightedLoss{}.weight.value, LossGradients{}.loss, LossGradients{}.weight) == List{1, 0, 0});
  manual_seed(1);
  const Array pictures = random_uniform({1000, 1, 1, 2}, {.seed = 1}), flipped = random_horizontal_flip()(pictures);
  int same = 0;
  for (std::int64_t i = 0; i < 1000; ++i) same += pictures.data()[2 * i] == flipped.data()[2 * i];
  CHECK(std::abs(same - 500) < 80);
}

}  // namespace xgrad::kit::testing
