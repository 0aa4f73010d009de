// Hint: const auto begin = text.begin() + random() % (text.size() - model.context); a piece is Ids(begin, begin +
// model.context).
#include "check.h"

namespace check {

inline std::string link(const std::string&) {
  const Rhyme rhyme;
  Random random(1);
  Gpt model(rhyme.size(), 12, 32, 4, 1, random);
  const auto loss_of = [&] {
    double loss = 0;
    const int count = static_cast<int>(rhyme.ids.size()) - model.context;
    for (int i = 0; i < count; ++i) {
      const auto begin = rhyme.ids.begin() + i;
      loss += cross_entropy(model(Ids(begin, begin + 12)), Ids(begin + 1, begin + 13)).value().v[0] / count;
    }
    return loss;
  };
  const double guessing = loss_of();
  std::vector<Matrix> before;
  for (const Tensor& parameter : model.parameters()) before.push_back(parameter.value());
  const std::vector<double> losses = train(model, rhyme.ids, 300, random);
  if (losses.empty()) not_yet("train returns no losses");
  if (losses.size() != 300) not_yet("train returns ", losses.size(), " losses instead of 300, one for each step");
  const Tensors parameters = model.parameters();
  std::size_t still = 0;
  for (std::size_t i = 0; i < before.size(); ++i) still += fits(parameters[i].value(), before[i], 1e-12);
  const double loss = loss_of();
  std::cout << std::fixed << std::setprecision(2);
  for (std::size_t i = 0; i < 300; i += 60) std::cout << "step " << std::setw(3) << i << "  loss " << losses[i] << "\n";
  std::cout << "at the end, over all of the text: " << loss << "\n";
  if (!std::isfinite(loss)) not_yet("the loss is not a number any more: is the learning rate near 0.01?");
  if (still == before.size())
    not_yet(
        "no parameter changed in 300 steps: adam.step takes the gradients of the loss with respect to "
        "model.parameters()");
  if (still > 0)
    not_yet(still, " of ", before.size(), " parameters did not change: give Adam all of model.parameters()");
  if (losses.back() < 0.2 && loss > 1)
    not_yet("your losses fall to ", losses.back(), " and the model is at ", loss,
            ": the answers are the tokens one place later, not the piece itself");
  if (loss > guessing)
    not_yet("the loss grew from ", guessing, " to ", loss,
            ": is the sign of the step right, and the learning rate near 0.01?");
  if (loss > 0.5)
    not_yet(
        "the loss is ", loss, " and has to fall below 0.5. It began at ", guessing,
        "; one Adam for all steps, a learning rate of 0.01 that falls, pieces from random places of all of the text");
  // The first step of Adam moves each element by the rate, and the second by up to the rate.
  const auto farthest = [&](int steps) {
    Random same(2);
    Gpt other(rhyme.size(), 12, 32, 4, 1, same);
    std::vector<Matrix> begin;
    for (const Tensor& parameter : other.parameters()) begin.push_back(parameter.value());
    train(other, rhyme.ids, steps, same);
    double most = 0;
    for (std::size_t n = 0; n < begin.size(); ++n) {
      const Tensor parameter = other.parameters()[n];
      for (std::size_t i = 0; i < begin[n].v.size(); ++i)
        most = std::max(most, std::abs(parameter.value().v[i] - begin[n].v[i]));
    }
    return most;
  };
  const double one = farthest(1);
  const bool constant = one > 0 && farthest(2) > 1.95 * one;
  return "from " + std::to_string(guessing).substr(0, 4) + " to " + std::to_string(loss).substr(0, 4) +
         (constant ? ". Of two steps the second has the learning rate of the first: let the rate fall to 0 until the end, "
                     "adam.lr = 0.01 * (1 - double(step) / steps), and the loss ends a fifth lower"
                   : "");
}

}  // namespace check
