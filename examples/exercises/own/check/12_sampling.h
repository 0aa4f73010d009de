// Hint: draw a number below the sum of the weights, and subtract one weight after the other until it is negative.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  const std::vector<double> logits{1, 3, 2, -1, 2.5};
  Random random(1);
  const auto frequencies = [&](double temperature, int k) {
    Matrix counts{1, 5};
    for (int i = 0; i < 20000; ++i) {
      const int token = sample(logits, temperature, k, random);
      if (token < 0 || token > 4) not_yet("sample gives ", token, " for 5 logits");
      counts.v[std::size_t(token)] += 1 / 20000.;
    }
    return counts;
  };
  const auto expected = [&](double temperature, double least) {
    Matrix x{1, 5, logits};
    for (double& score : x.v) score = score < least ? -1e9 : score / temperature;
    return probabilities(x);
  };
  const auto below_1 = [&](double temperature, double least) {  // by a number below 1 in place of the sum of the weights
    Matrix x{1, 5, logits};
    double rest = 1;
    for (double& score : x.v) {
      score = score < least ? 0 : std::min(rest, std::exp((score - 3) / temperature));
      rest -= score;
    }
    return x;
  };
  Matrix greedy{1, 5};
  greedy.v[1] = 1;
  const auto close = [&](const std::string& what, const Matrix& found, double temperature, double least) {
    same("the share of each token, " + what, found, expected(temperature, least),
         {{greedy, "always the best token: draw one by its probability"},
          {{1, 5, {1, 0, 0, 0, 0}}, "always the first token: the weights do not add up to 1; draw a number below their sum"},
          {below_1(temperature, least), "the weights do not add up to 1: draw a number below their sum"},
          {{1, 5, {0.2, 0.2, 0.2, 0.2, 0.2}}, "all tokens are equally frequent: e^score is the weight"},
          {expected(1 / temperature, least),
           temperature == 1 ? "it is off" : "the scores are multiplied by the temperature: divide by it"},
          {expected(1, least), "the temperature takes no part"},
          {expected(temperature, -9), "all tokens are drawn: only the k greatest logits count"}},
         0.012);
  };
  close("temperature 1, k = 5", frequencies(1, 5), 1, -9);
  close("temperature 0.5, k = 5", frequencies(0.5, 5), 0.5, -9);
  close("temperature 1, k = 2", frequencies(1, 2), 1, 2.4);
  close("temperature 2, k = 3", frequencies(2, 3), 2, 1.9);
  const Rhyme rhyme;
  Gpt model(rhyme.size(), 12, 32, 4, 1, random);
  const Ids begin = rhyme.of("mary had a little lamb"), once = write(model, begin, 5, 1, 3, random);
  if (once.size() != begin.size() + 5)
    not_yet("write: ", once.size(), " tokens instead of the prompt's ", begin.size(), " and 5 more");
  if (!std::equal(begin.begin(), begin.end(), once.begin()))
    not_yet("write: the result does not begin with the prompt");
  train(model, rhyme.ids, 300, random);
  const Ids written = write(model, rhyme.of("mary had a l"), 98, 0.3, 5, random);
  std::string text;
  for (const int id : written) text += rhyme.characters[std::size_t(id)];
  std::cout << text << "\n";
  std::size_t known = 0;
  for (std::size_t i = 0; i + 6 <= text.size(); ++i) known += rhyme.text.find(text.substr(i, 6)) != std::string::npos;
  if (known * 10 < (text.size() - 5) * 7) {
    not_yet("only ", known, " of ", text.size() - 5,
            " pieces of six letters are in the rhyme: the next token follows from the last row "
            "of the logits, and the model reads the last ",
            model.context, " tokens");
  }
  Random small(1);
  const Gpt picture(5, 4, 4, 1, 1, small);
  draw(cross_entropy(picture({0, 1, 2}), {1, 2, 3}), folder + "/graph.dot");
  return text == rhyme.text
             ? "your own GPT writes, and every line of its engine is yours"
             : "your own GPT writes, and not yet the whole rhyme: with 8 pieces in a step of link 11 it learns more";
}

}  // namespace check
