// Station 3, a layer and a module: a network of two layers learns a curve that no line fits.
//
//   03_layer [FOLDER]   writes its pictures into the folder, or into the current one
#include <filesystem>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear in{at("in"), 1, 8};
  nn::Linear out{at("out"), 8, 1};

  Tensor forward(const Tensor& x) const { return out(tanh(in(x))); }  // (B, 1) -> (B, 1)
};

int main(int argc, char** argv) {
  const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  const Tensor x = reshape(linspace(-3, 3, 30), {30, 1}).named("x");
  const Tensor y = (sin(x) + 0.1 * randn({30, 1})).named("y");
  const Net net{nn::root};
  const Tensor by_hand = matmul(x, net.in.weight, {.transpose_b = true}) + net.in.bias;  // (30, 1) (1, 8) + (8)
  std::cout << net << by_hand.shape() << ", as the layer: " << allclose(by_hand, net.in(x)) << "\n";

  const Array before = net(x).value();
  optim::Adam adam{net.parameters(), {.lr = 0.02}};
  for (int step = 0; step <= 600; ++step) {
    const Tensor loss = mse_loss(net(x), y).named("loss");
    if (step == 0) save_graph(folder / "03_graph.svg", {loss});
    if (step % 200 == 0) std::cout << "step " << step << "  loss " << kit::fixed(loss.item(), 3) << "\n";
    adam.step(grad(loss, net.parameters()));
  }

  const auto series = [&](const char* name, const Array& values) {
    return kit::Series{.name = name, .x = x, .y = values};
  };
  kit::Series observed = series("observed", y.value());
  observed.style = kit::Series::Style::points;
  kit::save(folder / "03_picture.svg",
            kit::line_plot(
                {observed, series("before", before), series("after 600 steps", net(x).value())},
                {.title = "A curve from two layers", .x_label = "x", .y_label = "y", .width = 560, .height = 320}));
  return 0;
}
