// Two spirals wound into each other: a network learns which of them a point lies on.
#include <iostream>
#include <numbers>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear input{at("input"), 2, 64};
  nn::Linear hidden{at("hidden"), 64, 64};
  nn::Linear output{at("output"), 64, 2};

  Tensor forward(const Tensor& x) const { return output(relu(hidden(relu(input(x))))); }  // (B, 2) -> (B, 2)
};

kit::TensorDataset<Tensor, Index> spirals(std::int64_t n) {
  const Index label = arange(n) % 2;
  const Tensor radius = 3 * rand({n});
  const Tensor angle = std::numbers::pi * (radius + to_real(label));
  const Tensor place = stack({radius * cos(angle), radius * sin(angle)}, 1);
  return kit::TensorDataset{place + 0.03 * randn({n, 2}), label};
}

// The answers on a grid with lines 0.1 apart, from (-3.2, -3.2) on, and the test points.
void draw(const Index& answer, const Tensor& x, const Index& label) {
  std::vector<kit::Series> spirals;
  for (const int spiral : {0, 1}) {
    const Tensor points = x[label == spiral];
    spirals.push_back({.x = points[{_, 0}], .y = points[{_, 1}], .style = kit::Series::Style::points});
  }
  const kit::Limits limits{-3.25, 3.25};
  kit::save("spiral.svg", kit::line_plot(spirals, {.title = "Predictions over the plane; points it has not seen",
                                                   .x_limits = limits,
                                                   .y_limits = limits,
                                                   .equal_aspect = true,
                                                   .picture = kit::regions(answer),
                                                   .height = 640}));
}

int main() {
  manual_seed(1);
  kit::DataLoader loader{spirals(1000), {.batch_size = 50, .shuffle = true}};
  const auto [test_x, test_label] = spirals(300).batch(arange(300));
  const Net net{nn::root};
  optim::Adam adam{net.parameters(), {.lr = 0.01}};

  for (int epoch = 1; epoch <= 30; ++epoch) {
    double total = 0;
    for (const auto& [x, label] : loader) {
      const Tensor loss = cross_entropy(net(x), label);
      adam.step(grad(loss, net.parameters()));
      total += loss.item();
    }
    if (epoch % 5 == 0)
      std::cout << "epoch " << epoch << "  loss " << kit::fixed(total / loader.size(), 4) << std::endl;
  }

  const NoGrad off;
  const double accuracy = mean(argmax(net(test_x), 1) == test_label).item();
  const Tensor axis = linspace(-3.2, 3.2, 65);
  const Tensor plane = stack(meshgrid({axis, axis}, {MeshIndexing::xy}), -1);
  draw(argmax(net(plane), -1), test_x, test_label);
  std::cout << "result accuracy=" << kit::fixed(accuracy, 4) << "\n";
  return accuracy > 0.97 ? 0 : 1;
}
