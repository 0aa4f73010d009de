// Two heads on a board: multi-head self-attention of two positions, vector by vector, with every intermediate result by
// its name in the diagram; then the same in matrices.
//
//   examples/run two_heads [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

#include "worked.h"

namespace {

using namespace two_heads;

void print(const Tensor& vector) {
  std::cout << "  " << vector.name() << " =";
  for (const Real number : vector.value()) std::cout << " " << kit::fixed(number, 3);
  std::cout << "\n";
}

void run(kit::Example& example) {
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
  std::cout << "the same in matrices, " << y.shape() << ": at most " << kit::number(apart) << " apart\n";

  const auto second = [](const GraphFrame& head) { return head.title == "head 2" ? Fold::closed : Fold::open; };
  save_graph(example.out / "vectors.svg", steps.b,
             {.title = "Two positions, two heads; the second is folded", .roll_up = false, .fold = second});
  save_graph(example.out / "matrices.svg", {y}, {.title = "The same in matrices"});
  example.result.add("difference", apart);
}

}  // namespace

int main(int argc, char** argv) {
  return kit::main(argc, argv, "two_heads",
                   "Multi-head attention of two positions with two heads, every step by its name.", run);
}
