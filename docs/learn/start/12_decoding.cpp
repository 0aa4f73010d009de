// Station 12, decoding: greedy and beam search on a model that is a table of probabilities.
//
//   12_decoding [FOLDER]   writes its pictures into the folder, or into the current one
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Table : nn::Stepper {
  const std::map<std::string, std::vector<double>> next{// the probabilities of A, B, C and the end, "."
                                                        {"", {0.5, 0.2, 0.2, 0.1}},    {"A", {0.1, 0.4, 0.3, 0.2}},
                                                        {"AB", {0.2, 0.2, 0.4, 0.2}},  {"AC", {0.1, 0.6, 0.2, 0.1}},
                                                        {"ABC", {0.0, 0.2, 0.2, 0.6}}, {"ACB", {0.1, 0.2, 0.1, 0.6}}};
  std::vector<std::string> written{""};  // one beginning for each sequence of the batch

  std::int64_t batch() const override { return std::ssize(written); }
  Tensor step(const Index& tokens) override {
    std::vector<Real> p;
    for (std::int64_t i = 0; i < batch(); ++i) {
      if (tokens.at({i}) < 4) written[i] += "ABC."[tokens.at({i})];
      const auto row = next.find(written[i]);
      for (int j = 0; j < 4; ++j) p.push_back(static_cast<Real>(row == next.end() ? 0.25 : row->second[j]));
    }
    return log(Tensor(Array({batch(), 4}, std::move(p))));
  }
  void select(const Index& rows) override {
    std::vector<std::string> chosen;
    for (const std::int64_t row : rows) chosen.push_back(written[row]);
    written = chosen;
  }
};

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  const std::int64_t eos = 3, bos = 4;
  Table table, beams;
  const nn::Decoded greedy = nn::greedy(table, {.bos = bos, .eos = eos, .max_length = 4});
  const nn::Hypotheses found =
      nn::beam_search(beams, {.bos = bos, .eos = eos, .max_length = 4, .num_beams = 2, .num_best = 9})[0];
  std::cout << "greedy: " << greedy.tokens << " p " << std::exp(greedy.scores.item()) << "\n";
  for (const nn::Hypothesis& one : found) {
    std::cout << "beam: " << str(one.tokens) << " p " << std::exp(one.log_p) << ", score " << one.score << "\n";
  }

  ValueRecorder values;
  const Tensor abc = variable({0.5, 0.4, 0.4, 0.6}, "A B C <eos>"), acb = variable({0.5, 0.3, 0.6, 0.6}, "A C B <eos>");
  const auto score = [](const Tensor& p) { return sum(log(p)) / std::pow(4, 0.75); };
  save_graph(out / "12_graph.svg", {score(abc).named("greedy"), score(acb).named("beam")},
             {.direction = Direction::left_to_right, .values = &values});
  const auto so_far = [](const char* name, const Tensor& p) {
    return kit::Series{.name = name, .y = cumprod(p, 0), .style = kit::Series::Style::marked};
  };
  kit::save(out / "12_picture.svg",
            kit::line_plot({so_far("A B C <eos>, greedy", abc), so_far("A C B <eos>, found by the beam", acb)},
                           {.title = "Worse after two words, better after three",
                            .x_label = "words",
                            .y_label = "probability of the beginning",
                            .y_scale = kit::Scale::log}));
  return 0;
}
