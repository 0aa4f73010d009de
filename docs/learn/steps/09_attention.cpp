// Step 9: attention.
//
// What a position needs to know may stand anywhere. Attention (attention.h) lets every position ask all that came
// before it, and mixes their answers by how well their keys fit the question. Here one head learns where to look: it
// must say at every position which letter stood two before, and nobody tells it what "two before" is.
#include "attention.h"

struct Copier : Module {
  const int letters, steps;
  Embedding letter{at("letter"), letters, 16};
  Embedding position{at("position"), steps, 16};
  Head head{at("head"), 16, 16};
  Linear out{at("out"), 16, letters};
  Copier(int letters, int steps) : letters(letters), steps(steps) {}

  Tensor embedded(const Ids& ids) const { return letter(ids) + position(first(static_cast<int>(ids.size()))); }
  Tensor operator()(const Ids& ids) const { return out(head(embedded(ids))); }  // (T) -> (T, V)
};

int main() {
  const int letters = 6, steps = 10, back = 2;
  const Copier model(letters, steps);
  std::mt19937 generator(7);
  const auto draw = [&] {
    Ids ids;
    for (int t = 0; t < steps; ++t) ids.push_back(static_cast<int>(generator() % letters));
    return ids;
  };
  const auto shifted = [&](const Ids& ids) {  // what the model should say; at first, what stands there
    Ids answers = ids;
    for (int t = back; t < steps; ++t) answers[t] = ids[t - back];
    return answers;
  };

  const Ids some = draw();
  const bool right = gradients_are_right([&] { return cross_entropy(model(some), shifted(some)); }, model.parameters());

  Adam adam{model.parameters(), 0.01};
  Tensor loss = 0;
  for (int step = 0; step <= 200; ++step) {
    const Ids ids = draw();  // never the same twice: there is nothing to learn by heart
    loss = cross_entropy(model(ids), shifted(ids));
    if (step % 40 == 0) std::printf("step %3d  loss %.2f\n", step, loss.item());
    adam.step(grad(loss, adam.parameters));
  }

  std::printf("who looks where, in tenths:\n");
  const Matrix weights = model.head.weights(model.embedded(some)).value();
  bool found = true;
  for (int t = 0; t < steps; ++t) {
    std::printf("  %c ", 'a' + some[t]);
    for (int s = 0; s <= t; ++s) {
      const long tenths = std::lround(10 * weights.at(t, s));
      tenths > 0 ? std::printf("%3ld", tenths) : std::printf("  .");
    }
    std::printf("\n");
    if (t >= back) found &= weights.at(t, t - back) > 0.8;
  }

  // The mask holds: another last letter changes nothing before it.
  Ids other = some;
  other.back() = (some.back() + 1) % letters;
  const Matrix a = model(some).value(), b = model(other).value();
  bool causal = true;
  for (int t = 0; t + 1 < steps; ++t) {
    for (int v = 0; v < letters; ++v) causal &= a.at(t, v) == b.at(t, v);
  }
  std::printf("what comes later changes nothing: %s\n", causal ? "yes" : "no");
  return right && found && causal && loss.item() < 0.1 ? 0 : 1;
}
