// Your own engine, 12 of 12: Sampling. docs/learn/own_engine.md
//
// The last row of the logits has a score for each next token. A temperature below 1 makes likely tokens likelier, and
// only the k best tokens are drawn from:
//
//     p = softmax(logits / temperature) over the k greatest logits, 0 elsewhere
//
//     sample   a token with the probability p, by one call of between_0_and_1(random)
//     write    the prompt and `count` tokens after it. The model reads its last `context` tokens at most
#pragma once
#include "11_training.h"

inline int sample(const std::vector<double>& logits, double temperature, int k, Random& random) {
  //< return 0;
  std::vector<double> sorted = logits;
  std::sort(sorted.rbegin(), sorted.rend());
  const double largest = sorted[0], least = sorted[std::min(sorted.size(), static_cast<std::size_t>(k)) - 1];
  std::vector<double> p;
  double sum = 0;
  for (const double score : logits) {
    p.push_back(score < least ? 0 : std::exp((score - largest) / temperature));
    sum += p.back();
  }
  double rest = between_0_and_1(random) * sum;
  for (std::size_t i = 0; i < p.size(); ++i) {
    rest -= p[i];
    if (rest < 0) return static_cast<int>(i);
  }
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  //>
}

inline Ids write(const Gpt& model, Ids prompt, int count, double temperature, int k, Random& random) {
  //< return prompt;
  for (int i = 0; i < count; ++i) {
    const auto length = std::min(prompt.size(), static_cast<std::size_t>(model.context));
    const Matrix logits = model(Ids(prompt.end() - static_cast<long>(length), prompt.end())).value();
    prompt.push_back(sample({logits.v.end() - logits.cols, logits.v.end()}, temperature, k, random));
  }
  return prompt;
  //>
}
