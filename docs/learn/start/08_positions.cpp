// Station 8, positions: words as rows of a table, and where they stand as sines and cosines.
//
//   08_positions [FOLDER]   writes its pictures into the folder, or into the current one
#include <cmath>
#include <filesystem>
#include <iostream>
#include <vector>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  const nn::Embedding embedding{nn::root, 10, 32};
  const nn::PositionalEncoding positions{nn::root, 1000, 32};
  const Index ids = index({{5, 2, 5}});                                   // (B, T): one sentence of three words
  const Tensor h = positions(embedding(ids) * std::sqrt(32)).named("h");  // (B, T, C)
  save_graph(out / "08_graph.svg", {h});

  const Tensor p = nn::sinusoids(32, 32);                           // (T, C)
  const Array alike = matmul(p, p, {.transpose_b = true}).value();  // (T, T)
  std::cout << alike.at({3, 5}) << " " << alike.at({20, 22}) << " " << alike.at({3, 20}) << "\n";

  std::vector<kit::Series> curves;
  for (const std::int64_t i : {8, 20}) {
    kit::Series& curve = curves.emplace_back();
    curve.name = str("p(", i, ") · p(j)");
    for (std::int64_t j = 0; j < 32; ++j) {
      curve.x.push_back(static_cast<double>(j));
      curve.y.push_back(alike.at({i, j}));
    }
  }
  kit::save(out / "08_picture.svg",
            kit::line_plot(curves, {.title = "How alike positions are", .x_label = "j", .width = 560, .height = 320}));
  return 0;
}
