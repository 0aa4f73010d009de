// Kernel regression: attention where queries, keys and values are numbers. The average of all that was observed, a
// weighted average (Nadaraya and Watson), and one whose width is learned.
//
//   examples/run kernel_regression [--samples N] [--steps N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iomanip>
#include <iostream>

#include <CLI/CLI.hpp>

#include <kit/cli.h>
#include <kit/csv.h>
#include <kit/heatmap.h>
#include <kit/output.h>
#include <kit/plot.h>
#include <kit/progress.h>
#include <xgrad/xgrad.h>

#include "regression.h"

namespace {

using namespace kernel_regression;

struct Arguments {
  std::int64_t samples = 50;
  std::int64_t steps = 200;
  double learning_rate = 0.05;
  kit::CommonOptions common;
};

std::vector<double> numbers(const Tensor& x) { return {x.value().begin(), x.value().end()}; }

/// One way to predict: what it says at the places that are asked for, and how it weighs the samples.
struct Answer {
  std::string name, title;
  Tensor prediction;  // (1, m, 1)
  Tensor weights;     // (1, m, n)
};

void draw_curves(const std::filesystem::path& path, const Samples& seen, const Samples& wanted,
                 const std::vector<Answer>& answers) {
  std::vector<kit::Series> series{
      {.name = "observed", .x = numbers(seen.x), .y = numbers(seen.y), .style = kit::Series::Style::points},
      {.name = "truth", .x = numbers(wanted.x), .y = numbers(wanted.y), .style = kit::Series::Style::dashed}};
  for (const Answer& answer : answers) {
    series.push_back({.name = answer.title, .x = numbers(wanted.x), .y = numbers(answer.prediction)});
  }
  const std::string title = answers.size() == 1 ? answers.front().title : "Kernel regression";
  kit::save_text(path, kit::line_plot(series, {.title = title, .x_label = "x", .y_label = "y"}));
}

// Rows are the places that are asked for, columns the samples, both ascending; every fifth is labelled.
void draw_weights(const std::filesystem::path& path, const Samples& seen, const Samples& wanted,
                  const std::vector<Answer>& answers) {
  const auto labels = [](const Tensor& x) {
    std::vector<std::string> result;
    for (const Real place : x.value()) result.push_back(result.size() % 5 == 0 ? kit::fixed(place, 1) : " ");
    return result;
  };
  kit::HeatMaps maps{.title = "Weights",
                     .queries = labels(wanted.x),
                     .keys = labels(seen.x),
                     .columns = answers.size(),
                     .query_caption = "asked for",
                     .key_caption = "observed"};
  for (const Answer& answer : answers) maps.panels.push_back({answer.title, numbers(answer.weights)});
  kit::save_text(path, kit::heat_map_svg(maps));
}

int run(const Arguments& arguments) {
  const std::filesystem::path out = kit::output_folder("kernel_regression", arguments.common.out);
  if (arguments.common.threads > 0) set_threads(arguments.common.threads);
  manual_seed(arguments.common.seed);
  const Samples seen = observed(arguments.samples), wanted = asked(50);

  const Tensor even = average_weights(wanted.x, seen.x);
  const Regression fixed{nn::root, {.w = 1}};
  const Regression learned{nn::root, {.w = 1, .trained = true}};

  kit::CsvLogger log(out / "loss.csv", {"step", "loss", "w"});
  kit::Series curve{.name = "loss", .x = {}, .y = {}};
  {
    optim::Adam adam{learned.parameters(), {.lr = arguments.learning_rate}};
    kit::ProgressBar bar({.total = arguments.steps, .title = "training"});
    for (std::int64_t step = 1; step <= arguments.steps; ++step) {
      const Tensor loss = mse_loss(predicted_from_others(learned, seen), seen.y);
      adam.step(grad(loss, learned.parameters()));
      log.row({step, static_cast<double>(loss.item()), static_cast<double>(learned.w.item())});
      curve.x.push_back(static_cast<double>(step));
      curve.y.push_back(static_cast<double>(loss.item()));
      bar.update(step, {{"loss", kit::fixed(loss.item(), 4)}, {"w", kit::fixed(learned.w.item(), 2)}});
    }
  }

  const NoGrad off;
  const std::vector<Answer> answers{
      {"average", "average", matmul(even, seen.y), even},
      {"fixed", "Nadaraya-Watson, w = 1", fixed(wanted.x, seen.x, seen.y), fixed.weights(wanted.x, seen.x)},
      {"learned", cat("Nadaraya-Watson, w = ", kit::fixed(learned.w.item(), 2), " (learned)"),
       learned(wanted.x, seen.x, seen.y), learned.weights(wanted.x, seen.x)}};

  kit::ResultLine line;
  std::cout << std::left << std::setw(40) << ""
            << "error to the truth   roughness   largest weight\n";
  for (const Answer& answer : answers) {
    const Real off_by = error(answer.prediction, wanted.y);
    std::cout << std::setw(40) << answer.title << std::setw(21) << kit::fixed(off_by, 4) << std::setw(12)
              << kit::fixed(roughness(answer.prediction), 5) << kit::fixed(sharpness(answer.weights), 3) << "\n";
    draw_curves(out / (answer.name + ".svg"), seen, wanted, {answer});
    draw_weights(out / (answer.name + "_weights.svg"), seen, wanted, {answer});
    line.add(answer.name + "_error", static_cast<double>(off_by));
  }
  draw_curves(out / "regression.svg", seen, wanted, answers);
  draw_weights(out / "weights.svg", seen, wanted, answers);
  kit::save_text(out / "loss.svg", kit::line_plot({curve}, {.title = "Learning the width",
                                                            .x_label = "step",
                                                            .y_label = "squared error, each from all others"}));
  std::cout << "loss " << kit::fixed(curve.y.front(), 4) << " -> " << kit::fixed(curve.y.back(), 4) << ", w 1 -> "
            << kit::fixed(learned.w.item(), 2) << "\n"
            << out.string()
            << ": regression.svg, weights.svg, loss.svg, loss.csv; average.svg, fixed.svg, learned.svg and their "
               "*_weights.svg\n";
  line.add("w", static_cast<double>(learned.w.item())).add("out", out.string()).print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Kernel regression: averages of what was observed, weighted by attention.", "kernel_regression");
  Arguments arguments;
  kit::add_common_options(app, arguments.common);
  kit::add_number(app, "--samples", arguments.samples, "observations", 1, 10'000);
  kit::add_number(app, "--steps", arguments.steps, "training steps", 1, 1'000'000);
  kit::add_number(app, "--lr", arguments.learning_rate, "learning rate", 1e-9, 1000);
  return kit::run_example(app, argc, argv, [&] { return run(arguments); });
}
