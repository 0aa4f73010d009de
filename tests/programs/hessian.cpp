// The product of a Hessian with a vector, and a penalty on the gradient of a model, with which it becomes smoother.
#include <iostream>

#include <xgrad/xgrad.h>

using namespace xgrad;

struct Net : nn::Module {
  nn::Linear in{at("in"), 2, 16}, out{at("out"), 16, 1};
  Tensor operator()(const Tensor& x) const { return out(tanh(in(x))); }
};

// The second derivative of f at x in the direction of v, without the Hessian itself.
Tensor hessian_times(const Tensor& f, const Tensor& x, const Tensor& v) {
  const Tensor gradient = grad(f, {x}, {.create_graph = true})[0];
  return grad(sum(gradient * v), {x})[0];
}

// Trains with a penalty on the square of the model's slope, and returns what is left of it.
double trained_steepness(Real weight) {
  manual_seed(1);
  Net net;
  optim::Adam adam{net.parameters(), {.lr = 0.02}};
  const Tensor x = variable(randn({64, 2}), "x"), y = sin(3 * x[{_, slice(0, 1)}]).detach();
  double steepness = 0;
  for (int step = 0; step < 300; ++step) {
    const Tensor prediction = net(x);
    const Tensor slope = mean(square(grad(sum(prediction), {x}, {.create_graph = true})[0]));
    steepness = slope.item();
    adam.step(grad(mse_loss(prediction, y) + weight * slope, net.parameters()));
  }
  return steepness;
}

int main() {
  // Of f = |x|^4 the Hessian times v is 8 (x'v) x + 4 |x|^2 v.
  const Tensor x = variable({0.3, -0.7, 1.1}, "x"), v = tensor({1, 2, -1});
  const Tensor product = hessian_times(square(sum(square(x))), x, v);
  const Real error = max(abs(product - (8 * sum(x * v) * x + 4 * sum(square(x)) * v))).item();
  const double free = trained_steepness(0), smooth = trained_steepness(0.2f);
  std::cout << "error " << error << "\nsteepness " << free << ", with a penalty " << smooth << "\n";
  return error < 1e-5 && smooth < free / 2 ? 0 : 1;
}
