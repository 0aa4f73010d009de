// Why attention: self-attention, recurrence and convolution compared by the cost of their recorded graphs, the table of
// Vaswani et al., "Attention Is All You Need", 2017, measured.
//
//   docs/tools/run compare_layers [--width N] [--kernel N] [--lengths N N ...] [--out FOLDER] ...
//
// Read in this order: layers.h, and this file.
#include <algorithm>
#include <array>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>

#include "experiments.h"
#include "layers.h"

namespace {

using namespace compare_layers;

struct Config {
  std::int64_t width = 16;
  std::int64_t kernel = 5;
  std::vector<std::int64_t> lengths = {8, 16, 32, 64, 128};
};

struct Row {
  Layer layer;
  const char* name;
  std::array<const char*, 3> theory;  // operations, sequential operations, path
};
constexpr Row rows[] = {{Layer::attention, "self-attention", {"n^2 d", "1", "1"}},
                        {Layer::recurrence, "recurrence", {"n d^2", "n", "n"}},
                        {Layer::convolution, "convolution", {"k n d^2", "1", "n/k"}}};
constexpr std::array<const char*, 3> quantities{"multiplications", "sequential operations", "path, first to last"};

std::array<double, 3> numbers(const Costs& costs) {
  return {static_cast<double>(costs.multiplications), static_cast<double>(costs.sequential),
          static_cast<double>(costs.path)};
}

void run(const Config& config, kit::Example& example) {
  if (const auto [least, most] = std::ranges::minmax(config.lengths); least == most) {
    throw kit::OptionError("--lengths", "growth needs two different lengths");
  }
  std::cout << "one layer of width " << config.width << ", convolution over " << config.kernel << " tokens\n";
  const std::vector<double> x(config.lengths.begin(), config.lengths.end());
  std::vector<kit::PlotPanel> panels;
  for (const char* quantity : quantities) {
    panels.push_back({.title = quantity, .x_label = "tokens", .x_scale = kit::Scale::log, .y_scale = kit::Scale::log});
  }
  std::vector<kit::Field> head{""};
  for (const std::int64_t n : config.lengths) head.push_back(str("n = ", n));
  head.insert(head.end(), {"grows as", "theory"});
  kit::Table table(head);
  for (const Row& row : rows) {
    std::array<std::vector<double>, 3> values;
    for (const std::int64_t n : config.lengths) {
      const auto measured = numbers(measure(row.layer, n, config.width, config.kernel));
      for (std::size_t q = 0; q < 3; ++q) values[q].push_back(measured[q]);
    }
    for (std::size_t q = 0; q < 3; ++q) {
      const std::string power = kit::fixed(exponent(x, values[q]), 2);
      std::vector<kit::Field> cells{str(row.name, ", ", quantities[q])};
      for (const double value : values[q]) cells.push_back(static_cast<std::int64_t>(value));
      cells.insert(cells.end(), {str("n^", power), row.theory[q]});
      table.row(cells);
      panels[q].series.push_back({.name = row.name, .x = x, .y = values[q], .style = kit::Series::Style::marked});
      example.result.add(str(row.name, "_", q), power);
    }
  }
  std::cout << table.text();
  kit::save(
      example.out / "growth.svg",
      kit::panel_plot(
          panels, {.title = "Cost of a layer: n^b is a line of slope b", .columns = 3, .width = 266, .height = 266}));
}

}  // namespace

int experiments::compare_layers(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--width", c.width, "of a token", 1, 1000);
    o.integer("--kernel", c.kernel, "tokens that a convolution sees", 2, 1000);
    o.integers("--lengths", c.lengths, "numbers of tokens", 2, 1000);
  };
  return kit::main<Config>(argc, argv, "compare_layers",
                           "Compares self-attention, recurrence and convolution by the graphs that they record.",
                           options, run);
}
