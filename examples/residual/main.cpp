// Residual connections against degradation: a deeper plain stack fits the same training data worse than a shallow one,
// and the same stack with residual connections does not (He, Zhang, Ren, Sun, "Deep Residual Learning for Image
// Recognition", 2015, figure 1).
//
// Every layer has batch norm, so that no signal dies out on its way to the loss. The norm of the first gradient that
// arrives at the lowest layer tells what becomes of it on its way back.
//
//   examples/run residual [--depths N N ...] [--width N] [--epochs N] [--seeds N] [--out FOLDER] ...
//
// Read in this order: stacks.h, and this file.
#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <iostream>

#include <CLI/CLI.hpp>

#include <kit/cli.h>
#include <kit/format.h>
#include <kit/output.h>
#include <kit/plot.h>
#include <kit/progress.h>
#include <xgrad/xgrad.h>

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

std::vector<Result> train_all(const Config& config, const Spiral& data, std::uint64_t first_seed) {
  std::vector<Result> results;
  for (const Path path : {Path::plain, Path::residual}) {
    for (const std::int64_t depth : config.depths) results.push_back({.path = path, .depth = depth});
  }
  kit::ProgressBar bar({.total = std::ssize(results) * config.seeds * config.epochs, .title = "training"});
  std::int64_t done = 0;
  for (Result& result : results) {
    const std::string title = cat(name(result.path), " ", result.depth);
    result.losses.resize(static_cast<std::size_t>(config.epochs));
    for (std::int64_t i = 0; i < config.seeds; ++i) {
      const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(i);
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
  std::array<kit::Series, 2> by_depth{{{.name = name(Path::plain)}, {.name = name(Path::residual)}}};
  for (const Result& result : results) {
    kit::Series& line = by_depth.at(result.path == Path::plain ? 0 : 1);
    line.x.push_back(static_cast<double>(result.depth));
    line.y.push_back(mean(result.last));
    if (result.depth != shallowest && result.depth != deepest) continue;
    kit::Series& curve = curves.emplace_back();
    curve.name = cat(name(result.path), ", ", result.depth, " blocks");
    curve.y = result.losses;
    for (std::size_t e = 0; e < curve.y.size(); ++e) curve.x.push_back(static_cast<double>(e + 1));
    if (result.depth == shallowest) curve.style = kit::Series::Style::dashed;
  }
  kit::save_text(out / "loss.svg",
                 kit::line_plot(curves, {.title = cat("Training loss, mean of ", config.seeds, " seeds"),
                                         .x_label = "epoch",
                                         .y_label = "cross-entropy"}));
  kit::save_text(out / "depth.svg",
                 kit::line_plot({by_depth[0], by_depth[1]}, {.title = "Training loss at the end, over the depth",
                                                             .x_label = "blocks",
                                                             .y_label = "cross-entropy"}));
}

int run(const Config& config, const kit::CommonOptions& common) {
  const std::filesystem::path out = kit::output_folder("residual", common.out);
  if (common.threads > 0) set_threads(common.threads);
  std::cout << to_string(build_info()) << "\n"
            << config.points << " points on " << arms << " arms of a spiral, layers of width " << config.width << ", "
            << config.epochs << " epochs; training loss at the end (guessing: " << kit::fixed(std::log(arms), 3)
            << ")\n";
  const std::vector<Result> results = train_all(config, spiral(config), common.seed);

  kit::ResultLine line;
  std::cout << std::setw(24) << "loss" << std::setw(16) << "first gradient"
            << "   loss of each seed\n";
  for (const Result& result : results) {
    std::cout << std::left << std::setw(9) << name(result.path) << std::right << std::setw(7) << result.depth
              << std::setw(8) << kit::fixed(mean(result.last), 3) << std::setw(16)
              << kit::fixed(mean(result.first_gradients), 2) << "  ";
    for (const double loss : result.last) std::cout << " " << kit::fixed(loss, 3);
    std::cout << "\n";
    line.add(cat(name(result.path), "_", result.depth), kit::fixed(mean(result.last), 3));
  }
  draw(config, results, out);
  std::cout << out.string() << ": loss.svg, depth.svg\n";
  line.add("out", out.string()).print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains plain and residual stacks of growing depth.", "residual");
  Config config;
  kit::CommonOptions common;
  kit::add_common_options(app, common);
  kit::add_numbers(app, "--depths", config.depths, "blocks of two layers", 1, 1000);
  kit::add_number(app, "--width", config.width, "of the layers", 1, 10'000);
  kit::add_number(app, "--epochs", config.epochs, "times that every point is seen", 1, 1'000'000);
  kit::add_number(app, "--lr", config.learning_rate, "learning rate", 1e-9, 1000);
  kit::add_number(app, "--seeds", config.seeds, "train every stack so many times", 1, 1000);
  return kit::run_example(app, argc, argv, [&] { return run(config, common); });
}
