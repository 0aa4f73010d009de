// Two heads on a board: multi-head self-attention of two positions, vector by vector, with every intermediate result by
// its name in the diagram; then the same in matrices.
//
//   examples/run two_heads [--seed N] [--out FOLDER]
#include <iostream>

#include <CLI/CLI.hpp>

#include <kit/cli.h>
#include <kit/output.h>
#include <xgrad/xgrad.h>

#include "worked.h"

namespace {

using namespace two_heads;

void print(const Tensor& vector) {
  std::cout << "  " << vector.name() << " =";
  for (const Real number : vector.value()) std::cout << " " << kit::fixed(number, 3);
  std::cout << "\n";
}

int run(const kit::CommonOptions& options) {
  const std::filesystem::path out = kit::output_folder("two_heads", options.out);
  if (options.threads > 0) set_threads(options.threads);
  manual_seed(options.seed);
  const Weights weights;
  const Array inputs = randn({positions, width}).value();

  const Steps steps = by_vectors(weights, inputs);
  for (std::int64_t i = 0; i < positions; ++i) {
    print(steps.a[i]);
    for (std::int64_t h = 0; h < heads; ++h) {
      for (const Tensor& step : {steps.q[i][h], steps.k[i][h], steps.v[i][h], steps.alpha[i][h], steps.head[i][h]}) {
        print(step);
      }
    }
    print(steps.b[i]);
  }

  const MatrixForm matrices(weights);
  const Tensor y = matrices(inputs);
  const Real apart = max(abs(y - transpose(concat(steps.b, 1)))).item();
  std::cout << "the same in matrices, " << cat(y.shape()) << ": at most " << kit::number(apart) << " apart\n";

  const std::string board = (out / "vectors.svg").string(), matrix = (out / "matrices.svg").string();
  save_graph(board, steps.b, {.title = "Two positions, two heads"});
  save_graph(matrix, {y}, {.title = "The same in matrices"});
  std::cout << out.string() << ": vectors.svg, matrices.svg\n";
  kit::ResultLine().add("difference", static_cast<double>(apart)).add("out", out.string()).print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Multi-head attention of two positions with two heads, every step by its name.", "two_heads");
  kit::CommonOptions options;
  kit::add_common_options(app, options);
  return kit::run_example(app, argc, argv, [&] { return run(options); });
}
