// Two spirals wound into each other: a network learns which of them a point lies on.
#include <iostream>
#include <numbers>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/svg.h>
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
  const std::string title = "Predictions over the plane; points it has not seen";
  kit::Svg svg(610, 660, title);
  svg.heading(20, 30, title, 16, 570);
  const auto across = [](double x) { return 308 + 90 * x; };
  const auto down = [](double y) { return 340 - 90 * y; };
  for (std::int64_t row = 0; row < answer.dim(0); ++row) {
    for (std::int64_t column = 0; column < answer.dim(1); ++column) {
      const double left = across(-3.25 + 0.1 * column), top = down(-3.15 + 0.1 * row);
      const kit::Ink ink = kit::series_inks[answer.at({row, column})];
      svg.rect(left, top, 9, 9, {{"fill", ink}, {"opacity", 0.3}});
    }
  }
  for (std::int64_t i = 0; i < x.dim(0); ++i) {
    const double cx = across(x.value().at({i, 0})), cy = down(x.value().at({i, 1}));
    svg.circle(cx, cy, 3, {{"fill", kit::series_inks[label.at({i})]}});
  }
  for (int tick = -3; tick <= 3; ++tick) {
    svg.text(across(tick), 650, kit::number(tick), {{"text-anchor", "middle"}, {"font-size", 12}});
    svg.text(12, down(tick) + 4, kit::number(tick), {{"text-anchor", "end"}, {"font-size", 12}});
  }
  kit::save_text("spiral.svg", svg.str());
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
