// Two heads on a board: multi-head self-attention of two positions, vector by vector, with every intermediate result by
// its name in the diagram; then the same in matrices.
//
//   examples/run two_heads [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

#include "pronoun.h"
#include "worked.h"

namespace {

using namespace two_heads;

void print(const Tensor& vector) {
  std::cout << "  " << vector.name() << " =";
  for (const Real number : vector.value()) std::cout << " " << kit::fixed(number, 3);
  std::cout << "\n";
}

// Trains three heads, says how they differ, and draws what `it` attends to.
void pronoun(kit::Example& example) {
  constexpr std::int64_t steps = 600, batch = 64;
  const Sentences known = sentences(8192, false), unseen = sentences(500, true);
  const Reader model;
  optim::Adam adam{model.parameters()};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Index rows = randint(0, known.read.size(), {batch});
    adam.set_lr(0.01 * (1 - 0.95 * step / steps));
    adam.step(grad(loss(model, {known.ids[rows], known.read[rows], known.answers[rows]}), model.parameters()));
  }
  const NoGrad off;
  const Reader::Attention a = model(unseen.ids, unseen.read);
  const Tensor weight = mean(pointed(a, unseen), 0), right = mean(to_real(argmax(a.answers, -1) == unseen.answers), 0);
  const Tensor other = sum(abs(a.weights - roll(a.weights, 1, 1)), -1) / 2;  // of two heads: 0 if they are the same, at most 1
  std::cout << "500 unseen sentences: two heads differ in " << kit::fixed(100 * mean(other).item(), 1) << " % of their weight\n";
  for (std::int64_t h = 0; h < Reader::heads; ++h) {
    std::cout << "head " << h + 1 << ": weight " << kit::fixed(weight[h].item(), 3) << " on the answer, "
              << kit::fixed(100 * right[h].item(), 1) << " % right\n";
  }
  Tokens words{"The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired"};
  kit::WordAttention picture{.title = "What “it” attends to: three heads of a trained model", .word = it};
  for (auto end = words.begin() + it + 1; end <= words.end(); ++end) picture.growing.push_back(reading(model, {words.begin(), end}));
  words.back() = "wide";
  picture.other = reading(model, words);
  kit::save(example.out / "pronoun.svg", kit::word_attention_svg(picture));
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
  pronoun(example);
}

}  // namespace

int main(int argc, char** argv) {
  return kit::main(argc, argv, "two_heads",
                   "Multi-head attention of two positions with two heads, every step by its name.", run);
}
