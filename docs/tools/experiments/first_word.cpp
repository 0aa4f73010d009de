// What the last word knows of the first: the derivative of the last output of an untrained layer with respect to the
// first input, for recurrent layers and for self-attention.
//
//   docs/tools/run first_word [--width N] [--lengths N N ...] [--seeds N] [--out FOLDER] ...
#include <array>
#include <cmath>
#include <functional>
#include <iomanip>
#include <iostream>
#include <locale>
#include <memory>
#include <sstream>
#include <utility>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  std::int64_t width = 32;  // of a word, and of an output
  std::vector<std::int64_t> lengths = {2, 4, 8, 16, 32, 64, 128};
  std::int64_t seeds = 5;
};

// A layer from (1, T, C) to (1, T, C).
using LayerFunction = std::function<Tensor(const Tensor& x)>;

template <class Recurrent>
LayerFunction recurrent(std::int64_t width) {
  return [layer = std::make_shared<Recurrent>(nn::root, width, width)](const Tensor& x) { return (*layer)(x).output; };
}

LayerFunction attention(std::int64_t width) {
  return [layer = std::make_shared<nn::MultiHeadAttention>(nn::root, width, 1)](const Tensor& x) { return (*layer)(x); };
}

constexpr std::array<std::pair<const char*, LayerFunction (*)(std::int64_t)>, 4> layers{
    {{"RNN", recurrent<nn::RNN>}, {"LSTM", recurrent<nn::LSTM>}, {"GRU", recurrent<nn::GRU>}, {"attention", attention}}};

// Two digits: 0.25, 3.1e-20.
std::string two_digits(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::setprecision(2) << value;
  return text.str();
}

// |dy_T/dx_1|, the Frobenius norm of a matrix (C, C). Its elements may be too small for a float, so those of a multiple
// of y_T are summed, in double.
double influence(const LayerFunction& layer, std::int64_t length, std::int64_t width, Seed seed) {
  const Tensor others = random_normal({1, length - 1, width}, {.seed = seed, .draw = 2});
  constexpr double multiple = 0x1p100;
  const auto last_output = [&](const Tensor& first) {
    return static_cast<Real>(multiple) * layer(concat({first, others}, 1))[{0, -1}];
  };
  const Tensor slopes = jacobian(last_output, random_normal({1, 1, width}, {.seed = seed, .draw = 1}));
  double squares = 0;
  for (const Real slope : slopes.value()) squares += static_cast<double>(slope) * static_cast<double>(slope);
  return std::sqrt(squares) / multiple;
}

void run(const Config& config, kit::Example& example) {
  std::cout << "layers of width " << config.width << " before training, " << config.seeds
            << " seeds; |dy_T/dx_1|, the geometric mean over the seeds\n";
  std::vector<kit::Field> head{"layer"};
  for (const std::int64_t length : config.lengths) head.push_back(str("T = ", length));
  kit::Table table(head);
  std::vector<kit::Series> curves;
  for (const auto& [name, make] : layers) {
    kit::Series curve{.name = name,
                      .x = {config.lengths.begin(), config.lengths.end()},
                      .style = kit::Series::Style::marked};
    std::vector<kit::Field> cells{name};
    for (const std::int64_t length : config.lengths) {
      double log_sum = 0;
      for (std::int64_t i = 0; i < config.seeds; ++i) {
        const Seed seed = example.seed + static_cast<std::uint64_t>(i);
        manual_seed(seed);
        log_sum += std::log(influence(make(config.width), length, config.width, seed));
      }
      curve.y.push_back(std::exp(log_sum / static_cast<double>(config.seeds)));
      cells.push_back(two_digits(curve.y.back()));
    }
    table.row(cells);
    curves.push_back(curve);
    example.result.add(str(name, "_first"), two_digits(curve.y.front()));
    example.result.add(str(name, "_last"), two_digits(curve.y.back()));
  }
  std::cout << table.text();
  kit::save(example.out / "first_word.svg", kit::line_plot(curves, {.title = "How much the first word counts",
                                                                    .x_label = "words T",
                                                                    .y_label = "|dy_T/dx_1|",
                                                                    .x_scale = kit::Scale::log,
                                                                    .y_scale = kit::Scale::log}));
}

}  // namespace

int experiments::first_word(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--width", c.width, "of a word, and of an output", 1, 1000);
    o.integers("--lengths", c.lengths, "numbers of words", 2, 1000);
    o.integer("--seeds", c.seeds, "layers of each kind", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "first_word",
                           "The derivative of the last output with respect to the first word, before training.", options,
                           run);
}
