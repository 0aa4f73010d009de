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
#include <numeric>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/train/trials.h>
#include <xgrad/xgrad.h>

#include "experiments.h"
#include "stacks.h"

namespace {

using namespace residual;

// ---- Report ---------------------------------------------------------------------------------------------------------

/// One kind of stack at one depth.
struct Stack {
  Path path;
  std::int64_t depth;
};

const char* name(Path path) { return path == Path::plain ? "plain" : "residual"; }

/// The training of one stack with one seed.
struct Result {
  double first_gradient;
  std::vector<double> losses;  // of each epoch

  /// The mean of the last ten epochs, which differ by the chance of batches.
  double last() const {
    const auto count = std::min<std::int64_t>(10, std::ssize(losses));
    return std::accumulate(losses.end() - count, losses.end(), 0.0) / static_cast<double>(count);
  }
};

void draw(const Config& config, const std::vector<Stack>& stacks, const std::vector<kit::Trials<Result>>& results,
          const std::filesystem::path& out) {
  const auto [shallowest, deepest] = std::ranges::minmax(config.depths);
  std::vector<kit::Series> curves;
  std::array<kit::Series, 2> by_depth{{{.name = name(Path::plain), .style = kit::Series::Style::marked},
                                       {.name = name(Path::residual), .style = kit::Series::Style::marked}}};
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const auto& [path, depth] = stacks[i];
    kit::Series& line = by_depth.at(path == Path::plain ? 0 : 1);
    line.x.push_back(static_cast<double>(depth));
    line.y.push_back(results[i].mean(&Result::last));
    if (depth != shallowest && depth != deepest) continue;
    kit::Series& curve = curves.emplace_back(results[i].curve(&Result::losses));
    if (depth == shallowest) curve.style = kit::Series::Style::dashed;
  }
  kit::save(out / "loss.svg", kit::line_plot(curves, {.title = str("Training loss, mean of ", config.seeds, " seeds"),
                                                      .x_label = "epoch",
                                                      .y_label = "cross-entropy"}));
  kit::save(out / "depth.svg",
            kit::line_plot({by_depth[0], by_depth[1]}, {.title = "Training loss at the end, over the depth",
                                                        .x_label = "blocks",
                                                        .y_label = "cross-entropy",
                                                        .x_scale = kit::Scale::log}));
}

void run(const Config& config, kit::Example& example) {
  std::cout << config.points << " points on " << arms << " arms of a spiral, layers of width " << config.width << ", "
            << config.epochs << " epochs; training loss at the end (guessing: " << kit::fixed(std::log(arms), 3)
            << ")\n";
  std::vector<Stack> stacks;
  std::vector<std::string> names;
  for (const Path path : {Path::plain, Path::residual}) {
    for (const std::int64_t depth : config.depths) {
      stacks.push_back({path, depth});
      names.push_back(str(name(path), ", ", depth, " blocks"));
    }
  }
  const Spiral data = spiral(config);
  const auto results = kit::trials(names, {example.seed, config.seeds}, [&](std::size_t i, Seed seed) {
    const auto& [path, depth] = stacks[i];
    return Result{.first_gradient = first_gradient(config, data, depth, path, seed),
                  .losses = train(config, data, depth, path, seed, [](double) {})};
  });

  kit::Table table({"", "blocks", "loss", "first gradient", "loss of each seed"});
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const auto& [path, depth] = stacks[i];
    const std::string loss = kit::fixed(results[i].mean(&Result::last), 3);
    table.row({name(path), depth, loss, kit::fixed(results[i].mean(&Result::first_gradient), 2),
               results[i].each(&Result::last)});
    example.result.add(str(name(path), "_", depth), loss);
  }
  std::cout << table.text();
  draw(config, stacks, results, example.out);
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
