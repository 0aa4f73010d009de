// A program that links the kit: a command line, a curve that is fitted, and its picture.
#include <xgrad/core/graph/grad.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/losses/distance_loss.h>

using namespace xgrad;

struct Config {
  std::int64_t steps = 20;
};

void run(const Config& config, kit::Example& example) {
  const Tensor x = tensor({0, 1, 2}), y = tensor({1, 3, 5}), slope = variable(0, "slope");
  kit::Series curve{.name = "loss & steps"};
  for (std::int64_t step = 0; step < config.steps; ++step) {
    const Tensor loss = mse_loss(slope * x + 1, y);
    slope.assign((slope - grad(loss, {slope})[0] / 5).value());
    curve.y.push_back(loss.item());
  }
  kit::save(example.out / "loss.svg", kit::line_plot({curve}, {.title = "A line", .y_scale = kit::Scale::log}));
  example.result.add("slope", slope.item());
}

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) { o.integer("--steps", c.steps, "training steps", 1, 1000); };
  return kit::main<Config>(argc, argv, "draw", "Fits a line.", options, run);
}
