// A network solves Burgers' equation u_t + u u_x = nu u_xx, of a wave that steepens into a shock, without a grid and
// without data: only the equation is its loss (Raissi, Perdikaris, Karniadakis 2019).
#include <cmath>
#include <iostream>
#include <numbers>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;
using std::numbers::pi;

constexpr double nu = 0.01 / pi;
constexpr std::int64_t width = 32;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Sequential layers{at("layers"),
                        {nn::make<nn::Linear>(2, width), tanh, nn::make<nn::Linear>(width, width), tanh,
                         nn::make<nn::Linear>(width, width), tanh, nn::make<nn::Linear>(width, width), tanh,
                         nn::make<nn::Linear>(width, 1)}};

  // For all weights, u(x, 0) = -sin(pi x) and u(-1, t) = u(1, t) = 0.
  Tensor forward(const Tensor& x, const Tensor& t) const {
    const Tensor correction = layers(concat({x, 2 * t - 1}, 1));
    return -sin(pi * x) + t * (1 - square(x)) * correction;
  }
};

// The mean square of the residual of the equation.
Tensor equation_loss(const Net& u, const Tensor& x, const Tensor& t) {
  const Tensor y = u(x, t);
  const Tensors slopes = grad(sum(y), {x, t}, {.create_graph = true});
  const Tensor y_x = slopes[0], y_t = slopes[1];
  const Tensor y_xx = grad(sum(y_x), {x}, {.create_graph = true})[0];
  return mean(square(y_t + y * y_x - nu * y_xx));
}

// Places and times at random, half of the places near the middle, where the shock will be.
std::pair<Tensor, Tensor> points(std::int64_t n) {
  const Tensor x = concat({2 * rand({n / 2, 1}) - 1, 0.4 * rand({n / 2, 1}) - 0.2}, 0);
  return {variable(x, "x"), variable(rand({n, 1}), "t")};
}

// The exact solution of Cole and Hopf, a mean over starting points; the integral is a sum.
Tensor exact(const Tensor& x, const Tensor& t) {
  const Tensor z = linspace(-10, 10, 801);
  const Tensor origin = x - 2 * sqrt(nu * t) * z;
  const Tensor weight = softmax(-cos(pi * origin) / (2 * pi * nu) - square(z), -1);
  return -sum(weight * sin(pi * origin), -1, {.keepdim = true});
}

int main() {
  manual_seed(1);
  const Net u{nn::root};

  // First Adam, with new points in every step, then L-BFGS to the end, with the same points.
  optim::Adam adam{u.parameters(), {.lr = 3e-3}};
  for (int step = 1; step <= 500; ++step) {
    const auto [x, t] = points(1000);
    const Tensor loss = equation_loss(u, x, t);
    adam.step(grad(loss, u.parameters()));
    if (step % 100 == 0) std::cout << "Adam, step " << step << "  loss " << loss.item() << std::endl;
  }

  const auto collocation = points(2000);
  optim::LBFGS lbfgs{u.parameters(),
                     {.max_iter = 250, .history_size = 50, .line_search_fn = optim::LineSearch::strong_wolfe}};
  for (int step = 1; step <= 8; ++step) {
    const auto report = lbfgs.step([&] { return equation_loss(u, collocation.first, collocation.second); });
    std::cout << "L-BFGS, iteration " << 250 * step << "  loss before it " << report.loss << std::endl;
  }

  const NoGrad off;
  const Tensor places = unsqueeze(linspace(-1, 1, 201), 1);
  double wrong = 0, whole = 0;
  std::vector<kit::PlotPanel> panels;
  for (const double time : {0.25, 0.5, 0.75, 1.0}) {
    const Tensor t = full(places.shape(), time);
    const Tensor learned = u(places, t), truth = exact(places, t);
    wrong += sum(square(learned - truth)).item();
    whole += sum(square(truth)).item();
    panels.push_back({.series = {{.name = "network", .x = places, .y = learned},
                                 {.name = "exact", .x = places, .y = truth, .style = kit::Series::Style::dashed}},
                      .title = "t = " + kit::number(time),
                      .x_label = "x",
                      .y_label = "u"});
  }
  const double error = std::sqrt(wrong / whole);
  kit::save("pinn.svg", kit::panel_plot(panels, {.title = "Burgers' equation: a wave becomes a shock"}));
  std::cout << "result error=" << kit::fixed(error, 4) << "\n";
  return error < 0.05 ? 0 : 1;
}
