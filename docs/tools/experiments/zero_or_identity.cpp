// Zero is easier than the identity: a plain block learns y = x, and so does a residual one, which only has to become 0
// (He, Zhang, Ren, Sun, "Deep Residual Learning for Image Recognition", 2015, section 3.1).
//
//   docs/tools/run zero_or_identity [--steps N] [--scale NUMBER] [--seeds N] [--out FOLDER] ...
//
// Read in this order: near_zero.h, and this file.
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/train/trials.h>

#include "experiments.h"
#include "near_zero.h"

namespace {

using namespace near_zero;

struct Config {
  std::int64_t steps = 1000;
  double scale = 0.1;  // standard deviation of the points
  std::int64_t seeds = 5;
};

// The first step before which the error is below 1 %; all steps if none is.
std::int64_t first_below(const std::vector<double>& errors) {
  return std::ranges::find_if(errors, [](double error) { return error < 0.01; }) - errors.begin();
}

void run(const Config& config, kit::Example& example) {
  std::cout << "y = x for points of standard deviation " << config.scale << "; error in parts of |x|^2\n";
  kit::Table table({"block", "first error", "last error", "steps to 0.01"});
  std::vector<kit::Series> curves;
  const auto found = kit::trials({"plain", "residual"}, {example.seed, config.seeds}, [&](std::size_t i, Seed seed) {
    return fit(i == 0 ? Path::plain : Path::residual, static_cast<int>(config.steps), config.scale, seed);
  });
  for (const auto& one : found) {
    const kit::Series& curve = curves.emplace_back(one.curve(std::identity()));
    table.row({one.name, kit::fixed(curve.y.front(), 3), kit::fixed(curve.y.back(), 6),
               kit::fixed(one.mean(first_below), 0)});
  }
  std::cout << table.text();
  kit::save(example.out / "zero_or_identity.svg",
            kit::line_plot(curves, {.title = str("Learning y = x near 0, mean of ", config.seeds, " seeds"),
                                    .x_label = "step",
                                    .y_label = "error in parts of |x|^2",
                                    .y_scale = kit::Scale::log}));
}

}  // namespace

int experiments::zero_or_identity(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--steps", c.steps, "steps of Adam", 1, 1'000'000);
    o.real("--scale", c.scale, "standard deviation of the points", 1e-9, 1e9);
    o.integer("--seeds", c.seeds, "train both blocks so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "zero_or_identity", "A plain and a residual block learn the identity.", options,
                           run);
}
