// A network learns how a pendulum swings from its equation alone, u'' = -sin u, u(0) = 1, u'(0) = 0: the derivatives of
// the network with respect to time are part of the loss. The comparison is with a numerical solution.
#include <cmath>
#include <iostream>

#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Module {
  nn::Linear in{at("in"), 1, 24}, hidden{at("hidden"), 24, 24}, out{at("out"), 24, 1};
  // Whatever the weights are, u(0) = 1 and u'(0) = 0.
  Tensor operator()(const Tensor& t) const { return 1 + square(t) * out(tanh(hidden(tanh(in(t))))); }
};

int main() {
  manual_seed(1);
  Net u;
  optim::Adam adam{u.parameters(), {.lr = 1e-2}};
  optim::Scheduler schedule{adam, optim::schedule::cosine({.steps = 2000})};
  const Tensor t = variable(linspace(0, 3, 61).value().reshaped({61, 1}), "t");
  for (int step = 0; step < 2000; ++step) {
    const Tensor x = u(t);
    const Tensor velocity = grad(sum(x), {t}, {.create_graph = true})[0];
    const Tensor acceleration = grad(sum(velocity), {t}, {.create_graph = true})[0];
    adam.step(grad(mean(square(acceleration + sin(x))), u.parameters()));
    schedule.step();
  }
  double h = 0.001, angle = 1, velocity = -h / 2 * std::sin(angle), worst = 0;
  for (int i = 0; i <= 3000; ++i) {  // the leapfrog method
    if (i % 50 == 0) worst = std::max(worst, std::abs(double(u(t).value().at({i / 50, 0})) - angle));
    angle += h * velocity;
    velocity -= h * std::sin(angle);
  }
  std::cout << "the greatest error is " << worst << "\n";
  return worst < 1e-3 ? 0 : 1;
}
