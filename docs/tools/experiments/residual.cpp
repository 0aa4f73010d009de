// Residual connections against degradation: a deeper plain stack fits the same training data worse than a shallow one,
// and the same stack with residual connections does not (He, Zhang, Ren, Sun, "Deep Residual Learning for Image
// Recognition", 2015, figure 1).
//
// Every layer has batch norm, so that no signal dies out on its way to the loss. The norm of the first gradient at the
// lowest layer shows how it changes on its way back.
//
//   docs/tools/run residual [--depths N N ...] [--width N] [--epochs N] [--seeds N] [--out FOLDER] ...
//
// Read in this order: stacks.h, and this file.
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/xgrad.h>

#include "experiments.h"
#include "stacks.h"

namespace {

using namespace residual;

// ---- Report ---------------------------------------------------------------------------------------------------------

/// The training loss of one kind of stack at one depth, mean of all seeds.
struct Result {
  Path path;
  std::int64_t depth;
  std::vector<double> losses = {};
  std::vector<double> first_gradients = {};  // of each seed
  std::vector<double> last = {};  // of each seed: mean of the last ten epochs, which differ by the chance of batches
};

const char* name(Path path) { return path == Path::plain ? "plain" : "residual"; }

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<Result> train_all(const Config& config, const Spiral& data, Seed first_seed) {
  std::vector<Result> results;
  for (const Path path : {Path::plain, Path::residual}) {
    for (const std::int64_t depth : config.depths) results.push_back({.path = path, .depth = depth});
  }
  kit::ProgressBar bar({.total = std::ssize(results) * config.seeds * config.epochs, .title = "training"});
  std::int64_t done = 0;
  for (Result& result : results) {
    const std::string title = str(name(result.path), " ", result.depth);
    result.losses.resize(static_cast<std::size_t>(config.epochs));
    for (std::int64_t i = 0; i < config.seeds; ++i) {
      const Seed seed = first_seed + static_cast<std::uint64_t>(i);
      result.first_gradients.push_back(first_gradient(config, data, result.depth, result.path, seed));
      const std::vector<double> losses = train(config, data, result.depth, result.path, seed, [&](double loss) {
        bar.update(++done, {{"stack", title}, {"loss", kit::fixed(loss, 3)}});
      });
      for (std::size_t e = 0; e < losses.size(); ++e) {
        result.losses[e] += losses[e] / static_cast<double>(config.seeds);
      }
      result.last.push_back(mean(std::span(losses).last(std::min<std::size_t>(10, losses.size()))));
    }
  }
  return results;
}

void draw(const Config& config, const std::vector<Result>& results, const std::filesystem::path& out) {
  const auto [shallowest, deepest] = std::ranges::minmax(config.depths);
  std::vector<kit::Series> curves;
  std::array<kit::Series, 2> by_depth{{{.name = name(Path::plain), .style = kit::Series::Style::marked},
                                       {.name = name(Path::residual), .style = kit::Series::Style::marked}}};
  for (const Result& result : results) {
    kit::Series& line = by_depth.at(result.path == Path::plain ? 0 : 1);
    line.x.push_back(static_cast<double>(result.depth));
    line.y.push_back(mean(result.last));
    if (result.depth != shallowest && result.depth != deepest) continue;
    kit::Series& curve = curves.emplace_back();
    curve.name = str(name(result.path), ", ", result.depth, " blocks");
    curve.y = result.losses;
    if (result.depth == shallowest) curve.style = kit::Series::Style::dashed;
  }
  kit::save_text(out / "loss.svg",
                 kit::line_plot(curves, {.title = str("Training loss, mean of ", config.seeds, " seeds"),
                                         .x_label = "epoch",
                                         .y_label = "cross-entropy"}));
  kit::save_text(out / "depth.svg",
                 kit::line_plot({by_depth[0], by_depth[1]}, {.title = "Training loss at the end, over the depth",
                                                             .x_label = "blocks",
                                                             .y_label = "cross-entropy",
                                                             .x_scale = kit::Scale::log}));
}

void run(const Config& config, kit::Example& example) {
  std::cout << config.points << " points on " << arms << " arms of a spiral, layers of width " << config.width << ", "
            << config.epochs << " epochs; training loss at the end (guessing: " << kit::fixed(std::log(arms), 3)
            << ")\n";
  const std::vector<Result> results = train_all(config, spiral(config), example.seed);

  kit::Table table({"", "blocks", "loss", "first gradient", "loss of each seed"});
  for (const Result& result : results) {
    const std::string loss = kit::fixed(mean(result.last), 3);
    table.row({name(result.path), result.depth, loss, kit::fixed(mean(result.first_gradients), 2),
               experiments::of_each_seed(result.last)});
    example.result.add(str(name(result.path), "_", result.depth), loss);
  }
  std::cout << table.text();
  draw(config, results, example.out);
}

}  // namespace

int experiments::residual(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integers("--depths", c.depths, "blocks of two layers", 1, 1000);
    o.integer("--width", c.width, "of the layers", 1, 10'000);
    o.integer("--epochs", c.epochs, "times that every point is seen", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
    o.integer("--seeds", c.seeds, "train every stack so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "residual", "Trains plain and residual stacks of growing depth.", options, run);
}
