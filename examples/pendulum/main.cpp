// A network learns how a pendulum swings from its equation alone, u'' = -sin u, u(0) = 1, u'(0) = 0: the derivatives of
// the network with respect to time are part of the loss. The comparison is with a numerical solution.
#include <cmath>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

constexpr std::int64_t steps = 2000;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear input{at("input"), 1, 24};
  nn::Linear hidden{at("hidden"), 24, 24};
  nn::Linear output{at("output"), 24, 1};

  // For all weights, u(0) = 1 and u'(0) = 0.
  Tensor forward(const Tensor& t) const { return 1 + square(t) * output(tanh(hidden(tanh(input(t))))); }
};

// The angles at n times 0.05 apart, by the leapfrog method.
Tensor swing(int n, double h = 0.001) {
  std::vector<double> angles;
  double angle = 1, velocity = -h / 2 * std::sin(angle);
  for (int i = 0; i < 50 * n; ++i) {
    if (i % 50 == 0) angles.push_back(angle);
    angle += h * velocity;
    velocity -= h * std::sin(angle);
  }
  return tensor(angles);
}

int main() {
  manual_seed(1);
  const Net u{nn::root};
  optim::Adam adam{u.parameters(), {.lr = 1e-2}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = steps})};
  const Tensor t = variable(unsqueeze(linspace(0, 3, 61), 1), "t");

  for (std::int64_t step = 1; step <= steps; ++step) {
    const Tensor x = u(t);
    const Tensor velocity = grad(sum(x), {t}, {.create_graph = true})[0];
    const Tensor acceleration = grad(sum(velocity), {t}, {.create_graph = true})[0];
    const Tensor loss = mean(square(acceleration + sin(x)));
    adam.step(grad(loss, u.parameters()));
    scheduler.step();
    if (step % 500 == 0) std::cout << "step " << step << "  loss " << loss.item() << std::endl;
  }

  const NoGrad off;
  const Tensor times = linspace(0, 6, 121);
  const Tensor truth = swing(121);
  const Tensor learned = squeeze(u(unsqueeze(times, 1)), {1});
  const double error = max(abs(learned - truth)[slice(0, 61)]).item();

  const Slice known = slice(0, 61), beyond = slice(60, none);
  const std::vector<kit::Series> curves{
      {.name = "network, where it knows the equation", .x = times[known], .y = learned[known]},
      {.name = "network, beyond", .x = times[beyond], .y = learned[beyond]},
      {.name = "numerical solution", .x = times, .y = truth, .style = kit::Series::Style::dashed}};
  kit::save(
      "pendulum.svg",
      kit::line_plot(curves, {.title = "A pendulum, from its equation alone", .x_label = "time", .y_label = "angle"}));
  std::cout << "result error=" << error << "\n";
  return error < 1e-3 ? 0 : 1;
}
