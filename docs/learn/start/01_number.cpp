// Station 1, a number that remembers: a loss, its gradient, and the graph of both.
//
//   01_number [FOLDER]   writes its pictures into the folder, or into the current one
#include <filesystem>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  const Tensor w = variable(2, "w"), b = variable(1, "b");
  const Tensor x = Tensor(3).named("x"), y = Tensor(5).named("y");
  ValueRecorder values;
  const Tensor loss = square(w * x + b - y).named("loss");
  loss.backward();
  std::cout << "loss " << loss.item() << ", dL/dw " << w.grad().item() << ", dL/db " << b.grad().item() << "\n";
  save_graph(out / "01_graph.svg", {loss}, {.equations = true, .values = &values});

  kit::Series curve{.name = "loss"};
  for (double at = 0.5; at < 2.76; at += 0.05) {
    curve.x.push_back(at);
    curve.y.push_back(square(at * x + b - y).item());
  }
  kit::Series tangent{.name = "slope dL/dw at w = 2", .style = kit::Series::Style::dashed};
  for (const double at : {1.5, 2.0, 2.5}) {
    tangent.x.push_back(at);
    tangent.y.push_back(loss.item() + w.grad().item() * (at - w.item()));
  }
  const kit::Series here{.name = "here", .x = {w.item()}, .y = {loss.item()}, .style = kit::Series::Style::points};
  kit::save(out / "01_picture.svg",
            kit::line_plot({curve, tangent, here}, {.title = "The loss, and what its gradient says",
                                                    .x_label = "w",
                                                    .y_label = "loss",
                                                    .width = 560,
                                                    .height = 320}));
  return 0;
}
