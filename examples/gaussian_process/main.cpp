// Gaussian-process regression on the data of kernel_regression: the width of the kernel, the size of the function and
// the noise are found by the gradient of the marginal likelihood, and every prediction has a deviation. Next to it,
// attention pooling with the same kernel.
//
//   examples/run gaussian_process [--samples N] [--steps N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "../kernel_regression/regression.h"
#include "process.h"

namespace {

using namespace gaussian_process;
using kernel_regression::Samples;

struct Config {
  std::int64_t samples = 50;
  std::int64_t steps = 200;
  double learning_rate = 0.05;
};

/// The area between two curves over the same places, as its outline.
kit::Series band(const std::string& name, const Tensor& x, const Tensor& low, const Tensor& high) {
  return {.name = name,
          .x = concat({x, flip(x, {0})}),
          .y = concat({high, flip(low, {0})}),
          .style = kit::Series::Style::area};
}

/// The share of values that lie within two deviations of the mean.
Real within(const Prediction& at, const Tensor& deviation, const Tensor& values) {
  return mean(abs(values - at.mean) <= 2 * deviation).item();
}

void run(const Config& config, kit::Example& example) {
  const std::filesystem::path& out = example.out;
  const Samples seen = kernel_regression::observed(config.samples), wanted = kernel_regression::asked(50),
                fresh = kernel_regression::observed(1000);
  const Tensor x = flatten(seen.x), y = flatten(seen.y), places = flatten(wanted.x), truth = flatten(wanted.y);

  const GaussianProcess process{nn::root};
  optim::Adam adam{process.parameters(), {.lr = config.learning_rate}};
  kit::Trainer trainer{process, adam, {.validate_every = 1}};
  const auto& history = trainer.fit(config.steps, [&] { return -process.log_likelihood(x, y); });
  const double first = -history.front().loss, last = -history.back().loss;

  const NoGrad off;
  const Prediction answer = process(places, x, y), at_fresh = process(flatten(fresh.x), x, y);
  const Tensor observed = sqrt(square(at_fresh.deviation) + square(process.noise()));
  const Tensor pooled = flatten(matmul(kernel_regression::kernel_weights(wanted.x, seen.x, process.w()), seen.y));

  const Real off_by = mse_loss(answer.mean, truth).item(), pooled_off_by = mse_loss(pooled, truth).item();
  const Real covered = within(at_fresh, observed, flatten(fresh.y));
  const std::string w = kit::fixed(process.w().item(), 2);
  kit::save(out / "process.svg",
            kit::line_plot({{.name = "observed", .x = x, .y = y, .style = kit::Series::Style::points},
                            {.name = "truth", .x = places, .y = truth, .style = kit::Series::Style::dashed},
                            {.name = "mean", .x = places, .y = answer.mean},
                            {.name = "attention pooling, w = " + w, .x = places, .y = pooled},
                            band("mean ± 2 deviations", places, answer.mean - 2 * answer.deviation,
                                 answer.mean + 2 * answer.deviation)},
                           {.title = "Gaussian process", .x_label = "x", .y_label = "y"}));

  std::cout << "ln p per observation " << kit::fixed(first, 4) << " -> " << kit::fixed(last, 4) << "\n"
            << "w " << w << ", signal " << kit::fixed(process.signal().item(), 2) << ", noise "
            << kit::fixed(process.noise().item(), 2) << " (the data's is 0.5)\n"
            << "error to the truth: mean " << kit::fixed(off_by, 4) << ", attention pooling of the same w "
            << kit::fixed(pooled_off_by, 4) << "\n"
            << "of 1000 new observations " << kit::fixed(100 * covered, 1) << " % lie within two deviations\n";
  example.result.add("log_likelihood", last)
      .add("noise", process.noise().item())
      .add("error", off_by)
      .add("pooling_error", pooled_off_by)
      .add("covered", covered);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--samples", c.samples, "observations", 1, 2'000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "gaussian_process", "Gaussian-process regression: a mean, and how sure it is.",
                           options, run);
}
