// Station 9, a block: attention and a feed-forward network, each with a residual connection and a layer norm.
//
//   09_block [FOLDER]   writes its pictures into the folder, or into the current one
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

/// The gradient that reaches each of 24 feed-forward networks on top of each other; the next one gets connect(x, f(x)).
kit::Series by_depth(const char* name, const std::function<Tensor(const Tensor& x, const Tensor& fx)>& connect) {
  manual_seed(1);
  Tensor h = variable(randn({64, 32}));
  Tensors inputs;
  for (int layer = 0; layer < 24; ++layer) {
    const nn::Mlp ffn{nn::root, {.in = 32, .hidden = 64}};
    inputs.push_back(h);
    h = connect(h, ffn(h));
  }
  kit::Series series{.name = name, .style = kit::Series::Style::marked};
  for (const Tensor& gradient : grad(sum(h * randn({64, 32})), inputs)) {
    series.y.push_back(std::sqrt(sum(square(gradient)).item()));
  }
  std::cout << name << ": " << series.y.front() << " at layer 1, " << series.y.back() << " at layer 24\n";
  return series;
}

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  std::cout << layer_norm(tensor({{1, 2}, {2, 3}})).value() << "\n";
  const nn::EncoderBlock block{nn::root, {.dim = 32, .ffn = 64, .heads = 4, .dropout = 0}};
  const Tensor x = randn({2, 10, 32}).named("x");
  const Index lengths = index({10, 7});
  const Tensor y = block(x, nn::padding(lengths)).named("y");
  std::cout << "a block: " << x.shape() << " -> " << y.shape() << "\n";
  const auto sums = [](const GraphFrame& module) {
    return module.what.starts_with("AddNorm") ? Fold::open : Fold::closed;
  };
  save_graph(out / "09_graph.svg", {y}, {.fold = sums});

  const kit::Series plain = by_depth("f(x)", [](const Tensor&, const Tensor& fx) { return fx; });
  const kit::Series residual = by_depth("x + f(x)", [](const Tensor& x, const Tensor& fx) { return x + fx; });
  const kit::Series normed =
      by_depth("norm(x + f(x))", [](const Tensor& x, const Tensor& fx) { return layer_norm(x + fx); });
  kit::save(out / "09_picture.svg",
            kit::line_plot({plain, residual, normed}, {.title = "The gradient at the input of each layer",
                                                       .x_label = "layer; the loss follows the last one",
                                                       .y_label = "norm of the gradient",
                                                       .y_scale = kit::Scale::log,
                                                       .width = 560,
                                                       .height = 320}));
  return 0;
}
