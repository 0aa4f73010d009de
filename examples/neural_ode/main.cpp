// A neural ordinary differential equation learns van der Pol's oscillator from noisy observations of a few short
// trajectories: a network is the right side of dy/dt = f(y), Runge and Kutta's method solves it, and gradients flow
// through all of the solver's steps (Chen, Rubanova, Bettencourt, Duvenaud: Neural Ordinary Differential Equations,
// 2018). Checkpoints keep one state an interval in memory instead of everything that its steps computed.
#include <cmath>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

// dx/dt = v, dv/dt = (1 - x^2) v - x: from everywhere towards the same cycle.
Tensor van_der_pol(const Tensor& y) {
  const Tensor x = y[{_, 0}], v = y[{_, 1}];
  return stack({v, (1 - x * x) * v - x}, 1);
}

struct Field : nn::Layer<Field> {
  using Layer::Layer;
  nn::Linear in{at("in"), 2, 32}, hidden{at("hidden"), 32, 32}, out{at("out"), 32, 2};
  Tensor forward(const Tensor& y) const { return out(tanh(hidden(tanh(in(y))))); }  // (B, 2) -> (B, 2)
};

// One step of Runge and Kutta's method of fourth order.
template <class F>
Tensor rk4(const F& f, const Tensor& y, double h) {
  const Tensor k1 = f(y), k2 = f(y + h / 2 * k1), k3 = f(y + h / 2 * k2), k4 = f(y + h * k3);
  return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
}

struct SolverOptions {
  double interval = 0.25;   // time between states
  int steps = 2;            // of each interval
  bool checkpoints = true;  // one an interval: the backward pass takes its steps again
};

// The states at times 0, interval, 2 interval, ..., (B, 2) -> (count, B, 2).
template <class F>
Tensor trajectory(const F& f, Tensor y, int count, const SolverOptions& options = {}) {
  const auto ahead = [&f, options](Tensor state) {
    for (int step = 0; step < options.steps; ++step) state = rk4(f, state, options.interval / options.steps);
    return state;
  };
  Tensors states{y};
  while (std::ssize(states) < count) states.push_back(y = options.checkpoints ? checkpoint(ahead, y) : ahead(y));
  return stack(states);
}

// Starting points in [-3, 3]^2.
Tensor starts(std::int64_t count) { return 6 * rand({count, 2}) - 3; }

// The memory that a forward pass keeps for the backward pass, in KiB.
double kept(const Field& field, const SolverOptions& options) {
  const std::int64_t before = pool_stats().bytes_in_use;
  const Tensor loss = sum(trajectory(field, starts(128), 13, options));
  return double(pool_stats().bytes_in_use - before) / 1024;
}

int main() {
  manual_seed(1);
  const Tensor clean = trajectory(van_der_pol, starts(128), 13);  // until time 3: less than half a round
  const Tensor observed = clean + 0.05 * randn(clean.shape());

  const Field field{nn::root};
  optim::Adam adam{field.parameters(), {.lr = 0.01}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = 1500})};
  for (int step = 1; step <= 1500; ++step) {
    const Tensor loss = mse_loss(trajectory(field, observed[0], 13), observed);
    adam.step(grad(loss, field.parameters()));
    scheduler.step();
    if (step % 250 == 0) std::cout << "step " << step << "  loss " << loss.item() << std::endl;
  }

  std::cout << "steps an interval: KiB kept without and with checkpoints\n";
  for (const int steps : {1, 4, 16, 64}) {
    std::cout << "  " << steps << ": " << kept(field, {.steps = steps, .checkpoints = false}) << " "
              << kept(field, {.steps = steps}) << "\n";
  }

  // From other starting points, and for more than a round.
  const NoGrad off;
  const Tensor start = starts(200), truth = trajectory(van_der_pol, start, 41), found = trajectory(field, start, 41);
  const double error = std::sqrt(mse_loss(found, truth).item()), spread = std::sqrt(var(truth).item());

  // Three of them in steps that look smooth, with a gap (NaN) behind each.
  const auto drawn = [&](const auto& f, const char* name, kit::Series::Style style) {
    const Tensor y = trajectory(f, start[{slice(0, 3)}], 161, {.interval = 0.0625, .steps = 1});
    const Tensor lines = transpose(concat({y, full({1, 3, 2}, NAN)}), 0, 1);
    return kit::Series{name, lines[{_, _, 0}], lines[{_, _, 1}], style};
  };
  kit::save("neural_ode.svg", kit::line_plot({drawn(field, "neural ODE", kit::Series::Style::line),
                                              drawn(van_der_pol, "truth", kit::Series::Style::dashed)},
                                             {.title = "An oscillator, learnt from short noisy trajectories",
                                              .x_label = "x",
                                              .y_label = "v = dx/dt",
                                              .equal_aspect = true,
                                              .width = 460,
                                              .height = 700}));
  std::cout << "result error=" << error << " spread=" << spread << "\n";
  return error < 0.15 * spread ? 0 : 1;
}
