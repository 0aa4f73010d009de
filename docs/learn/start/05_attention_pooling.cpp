// Station 5, attention pooling: a curve read off from fifty observed points, the nearer ones counting more.
//
//   05_attention_pooling [FOLDER]   writes its pictures into the folder, or into the current one
#include <filesystem>
#include <iostream>
#include <string>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  const auto truth = [](const Tensor& x) { return 2 * sin(x) + pow(x, 0.8); };
  const Tensor keys = sort(rand({50, 1}) * 5, 0).values.named("keys");
  const Tensor values = (truth(keys) + 0.5 * randn({50, 1})).named("values");  // observed with noise
  const Tensor x = reshape(linspace(0, 4.9, 50), {50, 1}), y = truth(x);       // asked, and what is true there

  const Tensor w = variable(1, "w");
  const auto scores = [&](const Tensor& queries) {
    const Tensor distances = (queries - transpose(keys)).named("distances");  // (m, 1) - (1, n) -> (m, n)
    return square(w * distances) / -2;
  };
  const auto pooled = [&] { return matmul(softmax(scores(x)), values); };
  const Tensor average = zeros({50, 1}) + mean(values), fixed = pooled();

  const Tensor itself = (1e9 * eye(50)).named("itself");
  optim::Adam adam{{w}, {.lr = 0.05}};
  for (int step = 0; step < 200; ++step) {
    const Tensor guess = matmul(softmax(scores(keys) - itself), values);
    const Tensor loss = mse_loss(guess, values).named("loss");
    if (step == 0) save_graph(out / "05_graph.svg", {loss}, {.equations = true});
    adam.step(grad(loss, {w}));
  }
  const Tensor learned = pooled();
  std::cout << "w " << w.item() << ", error of the average " << mse_loss(average, y).item() << ", of w = 1 "
            << mse_loss(fixed, y).item() << ", of the learned w " << mse_loss(learned, y).item() << "\n";

  using Style = kit::Series::Style;
  const auto curve = [](const std::string& name, const Tensor& x, const Tensor& y, Style style = Style::line) {
    return kit::Series{.name = name, .x = x, .y = y, .style = style};
  };
  kit::save(out / "05_picture.svg",
            kit::line_plot({curve("observed", keys, values, Style::points), curve("truth", x, y, Style::dashed),
                            curve("average", x, average), curve("w = 1", x, fixed),
                            curve(str("w = ", kit::fixed(w.item(), 2), ", learned"), x, learned)},
                           {.title = "Attention pooling", .x_label = "x", .y_label = "y", .height = 360}));
  return 0;
}
