// Station 2, a line that fits: a batch of points, a loss, and 500 steps of gradient descent.
//
//   02_line [FOLDER]   writes its pictures into the folder, or into the current one
#include <filesystem>
#include <iostream>
#include <vector>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  const Tensor x = tensor({0, 1, 2, 3, 4, 5}).named("x");
  const Tensor y = tensor({1.2, 2.7, 5.3, 6.9, 8.8, 11.3}).named("y");
  const Tensor w = variable(0, "w"), b = variable(0, "b");
  std::vector<kit::Series> lines{{.name = "observed", .x = x, .y = y, .style = kit::Series::Style::points}};

  for (int step = 0; step <= 500; ++step) {
    const Tensor line = (w * x + b).named("line");             // [] * [6] + [] -> [6]
    const Tensor loss = mean(square(line - y)).named("loss");  // [6] -> []
    if (step == 0) save_graph(out / "02_graph.svg", {loss}, {.equations = true});
    if (step == 0 || step == 1 || step == 3 || step == 500) {
      std::cout << "step " << step << "  loss " << loss.item() << "  w " << w.item() << "  b " << b.item() << "\n";
      lines.push_back({.name = str("step ", step), .x = x, .y = line});
    }
    const Tensors gradients = grad(loss, {w, b});
    w.assign((w - 0.02 * gradients[0]).value());
    b.assign((b - 0.02 * gradients[1]).value());
  }
  kit::save(
      out / "02_picture.svg",
      kit::line_plot(
          lines,
          {.title = "A line on its way to the points", .x_label = "x", .y_label = "y", .width = 560, .height = 320}));
  return 0;
}
