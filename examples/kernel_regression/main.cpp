// Kernel regression: attention where queries, keys and values are numbers. The average of all observations, a weighted
// average (Nadaraya and Watson), and one whose width is learned.
//
//   examples/run kernel_regression [--samples N] [--steps N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "regression.h"

namespace {

using namespace kernel_regression;

struct Config {
  std::int64_t samples = 50;
  std::int64_t steps = 200;
  double learning_rate = 0.05;
};

/// One way to predict: its weights of the samples, and its predictions at the query places.
struct Answer {
  std::string name, title;
  Tensor weights;     // (1, m, n)
  Tensor prediction;  // (1, m, 1)
};

void draw_curves(const std::filesystem::path& path, const Samples& seen, const Samples& wanted,
                 const std::vector<Answer>& answers) {
  std::vector<kit::Series> series{{.name = "observed", .x = seen.x, .y = seen.y, .style = kit::Series::Style::points},
                                  {.name = "truth", .x = wanted.x, .y = wanted.y, .style = kit::Series::Style::dashed}};
  for (const Answer& answer : answers) {
    series.push_back({.name = answer.title, .x = wanted.x, .y = answer.prediction});
  }
  kit::save(path, kit::line_plot(series, {.title = "Kernel regression", .x_label = "x", .y_label = "y"}));
}

// Rows are the query places, columns the samples, both ascending; every fifth is labelled.
void draw_weights(const std::filesystem::path& path, const Samples& seen, const Samples& wanted,
                  const std::vector<Answer>& answers) {
  const auto labels = [](const Tensor& x) {
    std::vector<std::string> result;
    for (const Real place : x.value()) result.push_back(result.size() % 5 == 0 ? kit::fixed(place, 1) : "");
    return result;
  };
  kit::HeatMaps maps{.title = "Weights",
                     .queries = labels(wanted.x),
                     .keys = labels(seen.x),
                     .columns = answers.size(),
                     .scale = kit::HeatScale::each,
                     .query_caption = "query",
                     .key_caption = "key"};
  for (const Answer& answer : answers) maps.panels.push_back({answer.title, answer.weights});
  kit::save(path, kit::heat_map_svg(maps));
}

void run(const Config& config, kit::Example& example) {
  const std::filesystem::path& out = example.out;
  const Samples seen = observed(config.samples), wanted = asked(50);

  const nn::GaussianAttention kernel{nn::root, {.w = 1, .trained = true}};
  const Tensor w = kernel.w;
  optim::Adam adam{{w}, {.lr = config.learning_rate}};
  kit::Trainer trainer{kernel, adam, {.validate_every = 1}};
  kit::Series curve{.name = "loss"};
  for (const kit::Report& report :
       trainer.fit(config.steps, [&] { return mse_loss(predicted_from_others(seen, w), seen.y); })) {
    curve.y.push_back(report.loss);
  }

  const NoGrad off;
  std::vector<Answer> answers;
  const auto answer = [&](const char* name, const std::string& title, const Tensor& weights) {
    answers.push_back({name, title, weights, matmul(weights, seen.y)});
  };
  answer("average", "average", average_weights(wanted.x, seen.x));
  answer("fixed", "Nadaraya-Watson, w = 1", kernel_weights(wanted.x, seen.x, 1));
  answer("learned", str("Nadaraya-Watson, w = ", kit::fixed(w.item(), 2), " (learned)"),
         kernel_weights(wanted.x, seen.x, w));

  kit::Table table({"", "error to the truth", "roughness", "largest weight"});
  for (const Answer& one : answers) {
    const Real off_by = mse_loss(one.prediction, wanted.y).item();
    table.row({one.title, kit::fixed(off_by, 4), kit::fixed(roughness(one.prediction), 5),
               kit::fixed(sharpness(one.weights), 3)});
    example.result.add(one.name + "_error", off_by);
  }
  draw_curves(out / "regression.svg", seen, wanted, answers);
  draw_weights(out / "weights.svg", seen, wanted, answers);
  kit::save(out / "loss.svg", kit::line_plot({curve}, {.title = "Learning the width",
                                                       .x_label = "step",
                                                       .y_label = "squared error, each from all others"}));
  std::cout << table.text() << "loss " << kit::fixed(curve.y.front(), 4) << " -> " << kit::fixed(curve.y.back(), 4)
            << ", w 1 -> " << kit::fixed(w.item(), 2) << "\n";
  example.result.add("w", w.item());
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--samples", c.samples, "observations", 2, 10'000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "kernel_regression",
                           "Kernel regression: averages of observations, weighted by attention.", options, run);
}
