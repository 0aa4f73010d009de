// Why attention: self-attention, recurrence and convolution compared by what their recorded graphs take to compute, the
// table of Vaswani et al., "Attention Is All You Need", 2017, measured.
//
//   examples/run compare_layers [--width N] [--kernel N] [--lengths N N ...] [--out FOLDER] ...
//
// Read in this order: layers.h, and this file.
#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>

#include <CLI/CLI.hpp>

#include <kit/cli.h>
#include <kit/format.h>
#include <kit/output.h>
#include <kit/plot.h>

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
constexpr std::array<const char*, 3> files{"multiplications.svg", "sequential.svg", "path.svg"};

std::array<double, 3> numbers(const Costs& costs) {
  return {static_cast<double>(costs.multiplications), static_cast<double>(costs.sequential),
          static_cast<double>(costs.path)};
}

int run(const Config& config, const kit::CommonOptions& common) {
  if (const auto [least, most] = std::ranges::minmax(config.lengths); least == most) {
    throw CLI::ValidationError("--lengths", "growth needs two different lengths");
  }
  const std::filesystem::path out = kit::output_folder("compare_layers", common.out);
  if (common.threads > 0) set_threads(common.threads);
  manual_seed(common.seed);
  std::cout << to_string(build_info()) << "\n"
            << "one layer of width " << config.width << ", convolution over " << config.kernel << " tokens\n";
  const std::vector<double> x(config.lengths.begin(), config.lengths.end());
  std::array<std::vector<kit::Series>, 3> lines;
  kit::ResultLine result;
  for (const Row& row : rows) {
    std::array<std::vector<double>, 3> values;
    for (const std::int64_t n : config.lengths) {
      const auto measured = numbers(measure(row.layer, n, config.width, config.kernel));
      for (std::size_t q = 0; q < 3; ++q) values[q].push_back(measured[q]);
    }
    std::cout << "\n" << std::left << std::setw(24) << row.name << std::right;
    for (const std::int64_t n : config.lengths) std::cout << std::setw(10) << cat("n = ", n);
    std::cout << "   grows as   theory\n";
    for (std::size_t q = 0; q < 3; ++q) {
      const double power = exponent(x, values[q]);
      std::cout << "  " << std::left << std::setw(22) << quantities[q] << std::right;
      for (const double value : values[q]) std::cout << std::setw(10) << static_cast<std::int64_t>(value);
      std::cout << "   n^" << std::left << std::setw(9) << kit::fixed(power, 2) << row.theory[q] << std::right << "\n";
      lines[q].push_back({.name = row.name, .x = x, .y = values[q]});
      result.add(cat(row.name, "_", q), kit::fixed(power, 2));
    }
  }
  for (std::size_t q = 0; q < 3; ++q) {
    kit::save_text(out / files[q], kit::line_plot(lines[q], {.title = quantities[q],
                                                             .x_label = "tokens",
                                                             .y_label = quantities[q],
                                                             .y_scale = kit::Scale::log}));
  }
  std::cout << "\n" << out.string() << ": " << files[0] << ", " << files[1] << ", " << files[2] << "\n";
  result.add("out", out.string()).print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares self-attention, recurrence and convolution by the graphs that they record.", "compare_layers");
  Config config;
  kit::CommonOptions common;
  kit::add_common_options(app, common);
  kit::add_number(app, "--width", config.width, "of a token", 1, 1000);
  kit::add_number(app, "--kernel", config.kernel, "tokens that a convolution sees", 2, 1000);
  kit::add_numbers(app, "--lengths", config.lengths, "numbers of tokens", 2, 1000);
  return kit::run_example(app, argc, argv, [&] { return run(config, common); });
}
