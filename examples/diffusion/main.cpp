// Diffusion (DDPM, Ho et al. 2020) on points of the plane: noise becomes two moons, step by step.
#include <iostream>
#include <numbers>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

constexpr std::int64_t steps = 100;  // of the noise
constexpr std::int64_t epochs = 80;
constexpr std::int64_t width = 128;

// Predicts the noise in a point, from its place and the number of noise steps so far.
struct Denoiser : nn::Layer<Denoiser> {
  using Layer::Layer;
  nn::Linear input{at("input"), 3, width};
  nn::Linear hidden1{at("hidden1"), width, width};
  nn::Linear hidden2{at("hidden2"), width, width};
  nn::Linear output{at("output"), width, 2};

  Tensor forward(const Tensor& x, const Index& step) const {  // (B, 2), (B) -> (B, 2)
    const Tensor time = 2 * unsqueeze(to_real(step), 1) / steps - 1;
    const Tensor h = silu(input(concat({x, time}, 1)));
    return output(silu(hidden2(silu(hidden1(h)))));
  }
};

// Two interleaving half circles.
Tensor moons(std::int64_t n) {
  const Tensor angle = std::numbers::pi * rand({n});
  const Mask upper = arange(n) % 2 == 0;
  const Tensor x = where(upper, cos(angle), 1 - cos(angle));
  const Tensor y = where(upper, sin(angle), 0.5 - sin(angle));
  return stack({2 * x - 1, 3 * y - 0.75}, 1) + 0.1 * randn({n, 2});
}

Tensor distances(const Tensor& a, const Tensor& b) {  // (m, 2), (n, 2) -> (m, n)
  return pairwise_distance(unsqueeze(a, 1), unsqueeze(b, 0), {.eps = 0});
}

// How far apart two clouds of points are: 0 if they are drawn from the same distribution (Szekely 2003).
double energy_distance(const Tensor& a, const Tensor& b) {
  return (2 * mean(distances(a, b)) - mean(distances(a, a)) - mean(distances(b, b))).item();
}

// q(x_t | x_0) = N(sqrt(alpha_bar_t) x_0, 1 - alpha_bar_t)
const Tensor beta = linspace(1e-4, 0.1, steps);
const Tensor alpha = 1 - beta;
const Tensor alpha_bar = cumprod(alpha, 0);

Tensor add_noise(const Tensor& x, const Index& step, const Tensor& noise) {
  const Tensor left = unsqueeze(alpha_bar[step], 1);
  return sqrt(left) * x + sqrt(1 - left) * noise;
}

// From noise to points, removing the noise of one step at a time; with the clouds on the way.
Tensors sample(const Denoiser& model, std::int64_t n) {
  const NoGrad off;
  Tensor x = randn({n, 2});
  Tensors clouds{x};
  for (std::int64_t step = steps - 1; step >= 0; --step) {
    const Tensor noise = model(x, Index(Shape{n}, step));
    x = (x - beta[step] / sqrt(1 - alpha_bar[step]) * noise) / sqrt(alpha[step]);
    if (step > 0) x += sqrt(beta[step]) * randn({n, 2});
    clouds.push_back(x);
  }
  return clouds;
}

kit::PlotPanel panel(const std::string& title, const Tensor& cloud) {
  const Tensor some = cloud[slice(0, 400)];
  return {.series = {{.x = some[{_, 0}], .y = some[{_, 1}], .style = kit::Series::Style::points}},
          .title = title,
          .x_limits = kit::Limits{-3, 3},
          .y_limits = kit::Limits{-3, 3},
          .equal_aspect = true};
}

int main() {
  manual_seed(1);
  kit::DataLoader loader{kit::TensorDataset{moons(10'000)}, {.batch_size = 200, .shuffle = true}};
  const Denoiser model{nn::root};
  optim::Adam adam{model.parameters(), {.lr = 2e-3}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = epochs * loader.size()})};

  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    double total = 0;
    for (const auto& [x] : loader) {
      const Index step = randint(0, steps, {x.dim(0)});
      const Tensor noise = randn(x.shape());
      const Tensor loss = mse_loss(model(add_noise(x, step, noise), step), noise);
      adam.step(grad(loss, model.parameters()));
      scheduler.step();
      total += loss.item();
    }
    if (epoch % 10 == 0)
      std::cout << "epoch " << epoch << "  loss " << kit::fixed(total / loader.size(), 4) << std::endl;
  }

  const Tensors clouds = sample(model, 1000);
  const Tensor test = moons(1000);
  const double distance = energy_distance(clouds.back(), test), noise_distance = energy_distance(clouds[0], test);

  std::vector<kit::PlotPanel> panels;
  for (const int done : {0, 50, 75, 90, 100}) {
    panels.push_back(panel("after " + kit::number(done) + " of " + kit::number(steps) + " steps", clouds[done]));
  }
  panels.push_back(panel("what it learnt from", test));
  kit::save("diffusion.svg", kit::panel_plot(panels, {.title = "Noise becomes two moons", .columns = 3, .width = 320}));
  std::cout << "result distance=" << kit::fixed(distance, 4) << " noise=" << kit::fixed(noise_distance, 4) << "\n";
  return distance < 0.02 ? 0 : 1;
}
