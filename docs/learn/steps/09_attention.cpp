// Step 9: attention.
//
// The information that a position needs may be anywhere earlier in the sequence. Attention (attention.h) compares the
// query of a position with the keys of all earlier positions, and returns the weighted sum of their values. Here one
// head learns to output, at every position, the letter two positions earlier. Nothing in the model encodes this
// distance.
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
  const auto shifted = [&](const Ids& ids) {  // the correct answers; the first two are the letters themselves
    Ids answers = ids;
    for (int t = back; t < steps; ++t) answers[t] = ids[t - back];
    return answers;
  };

  const Ids some = draw();
  const bool right = gradients_are_right([&] { return cross_entropy(model(some), shifted(some)); }, model.parameters());

  Adam adam{model.parameters(), 0.01};
  Tensor loss = 0;
  for (int step = 0; step <= 200; ++step) {
    const Ids ids = draw();  // a new sequence in every step, so nothing can be memorised
    loss = cross_entropy(model(ids), shifted(ids));
    if (step % 40 == 0) std::printf("step %3d  loss %.2f\n", step, loss.item());
    adam.step(grad(loss, adam.parameters));
  }

  std::printf("attention weights, in units of 10 %%:\n");
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

  // The mask works: another last letter changes no earlier result.
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
