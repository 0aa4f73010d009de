// The product of a Hessian with a vector, and a penalty on the gradient of a model, with which it becomes smoother.
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Layer<Net> {
  using Layer::Layer;
  nn::Linear in{at("in"), 1, 32}, hidden{at("hidden"), 32, 32}, out{at("out"), 32, 1};

  Tensor forward(const Tensor& x) const { return out(tanh(hidden(tanh(in(x))))); }  // (B, 1) -> (B, 1)
};

// The second derivative of f at x in the direction of v, without the Hessian itself.
Tensor hessian_times(const Tensor& f, const Tensor& x, const Tensor& v) {
  const Tensor gradient = grad(f, {x}, {.create_graph = true})[0];
  return grad(sum(gradient * v), {x})[0];
}

// Trains on noisy points with a penalty on the mean square of the model's slope, and returns that slope.
double train(const Net& net, const Tensor& x, const Tensor& y, double penalty) {
  optim::Adam adam{net.parameters(), {.lr = 0.01}};
  double steepness = 0;
  for (int step = 1; step <= 1500; ++step) {
    const Tensor prediction = net(x);
    const Tensor slope = mean(square(grad(sum(prediction), {x}, {.create_graph = true})[0]));
    adam.step(grad(mse_loss(prediction, y) + penalty * slope, net.parameters()));
    steepness = slope.item();
    if (step % 500 == 0)
      std::cout << "penalty " << penalty << ", step " << step << "  slope " << steepness << std::endl;
  }
  return steepness;
}

int main() {
  manual_seed(1);
  // Of f = |x|^4 the Hessian times v is 8 (x'v) x + 4 |x|^2 v.
  const Tensor x = variable({0.3, -0.7, 1.1}, "x"), v = tensor({1, 2, -1});
  const Tensor product = hessian_times(square(sum(square(x))), x, v);
  const double error = max(abs(product - (8 * sum(x * v) * x + 4 * sum(square(x)) * v))).item();

  const Tensor places = variable(4 * rand({30, 1}) - 2, "places");
  const Tensor heights = (sin(2 * places) + 0.4 * randn({30, 1})).detach();
  const Net free{nn::root}, smooth{nn::root};
  const double steep = train(free, places, heights, 0), gentle = train(smooth, places, heights, 0.03);

  const NoGrad off;
  const Tensor line = unsqueeze(linspace(-2, 2, 201), 1);
  const std::vector<kit::Series> curves{
      {.name = "without a penalty", .x = line, .y = free(line)},
      {.name = "with a penalty on its slope", .x = line, .y = smooth(line)},
      {.name = "what is behind the points", .x = line, .y = sin(2 * line), .style = kit::Series::Style::dashed},
      {.name = "points to learn from", .x = places, .y = heights, .style = kit::Series::Style::points}};
  kit::save("hessian.svg",
            kit::line_plot(
                curves, {.title = "A penalty on the gradient makes a model smoother", .x_label = "x", .y_label = "y"}));
  std::cout << "result hessian_error=" << error << " slope=" << steep << " slope_with_penalty=" << gentle << "\n";
  return error < 1e-5 && gentle < steep / 2 ? 0 : 1;
}
