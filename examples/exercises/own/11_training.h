// Your own engine, 11 of 12: The training loop. docs/learn/own_engine.md
//
// A language model predicts each next token. A piece of `context` tokens from a random place of the text is the input;
// the answers are the same piece one place later. A place is drawn by between_0_and_1(random). Each step takes the mean
// loss of a few pieces (4 are enough here, with 8 the model writes without a mistake), its gradients with respect to all
// parameters, and a step of Adam. A learning rate that falls to 0 until the end, from about 0.01, ends lower than a
// constant one.
//
//     train   changes the parameters of the model in `steps` steps; returns the loss of each step
//
// The checker gives you 300 steps, and then measures the loss of the model itself, over all places of the text.
#pragma once
#include "10_block.h"

inline std::vector<double> train(Gpt& model, const Ids& text, int steps, Random& random) {
  //< return {};
  std::vector<double> losses;
  Adam adam{model.parameters(), 0.01};
  const int batch = 8;
  for (int step = 0; step < steps; ++step) {
    adam.lr = 0.01 * (1 - double(step) / steps);
    Tensor loss = 0;
    for (int i = 0; i < batch; ++i) {
      const auto begin =
          text.begin() + static_cast<long>(random() % (text.size() - static_cast<std::size_t>(model.context)));
      const Ids piece(begin, begin + model.context), answers(begin + 1, begin + 1 + model.context);
      loss = loss + cross_entropy(model(piece), answers) / batch;
    }
    adam.step(grad(loss, adam.parameters));
    losses.push_back(loss.value().v[0]);
  }
  return losses;
  //>
}
