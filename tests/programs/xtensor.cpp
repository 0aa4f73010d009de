// Data in containers of xtensor become tensors and come back, and an expression of xtensor is an operation, whose
// gradients of both orders are those of differences.
#include <iostream>

#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

// y = sqrt(1 + x^2) - 1, the pseudo-Huber loss of an error.      dy/dx = x / (y + 1)
Tensor pseudo_huber(const Tensor& x) {
  return record("pseudo_huber", to_array(xt::sqrt(1 + xt::square(view(x.value()))) - 1),
                wrt(x, [x](const Tensor& gy, const Tensor& y) { return gy * x / (y + 1); }));
}

int main() {
  const auto of_list = [](const Tensors& inputs) { return pseudo_huber(inputs[0]); };
  const Tensors inputs{variable({-1.5, -0.5, 0.7, 2}, "x")};
  const GradcheckReport first = gradcheck(of_list, inputs), second = gradgradcheck(of_list, inputs);
  std::cout << first << second;

  // A line with noise, and one point far off it, made by xtensor.
  xt::xarray<Real> times = xt::linspace<Real>(0, 1, 50);
  xt::xarray<Real> heights = 2 * times - 0.5f + 0.01f * xt::sin(40 * times);
  heights(7) = 30;
  const Tensor x = to_array(times), y = to_array(heights);

  const Tensor slope = variable(0, "slope"), offset = variable(0, "offset");
  optim::Adam adam{{slope, offset}, {.lr = 0.05}};
  for (int step = 0; step < 500; ++step) {
    adam.step(grad(mean(pseudo_huber(slope * x + offset - y)), {slope, offset}));
  }

  const xt::xarray<Real> fitted = view((slope * x + offset).value());
  const Real middle = xt::mean(fitted)(), rise = fitted(49) - fitted(0);
  std::cout << "the line rises by " << rise << ", in the middle it is " << middle << "\n";
  return first.ok() && second.ok() && std::abs(rise - 2) < 0.2 && std::abs(middle - 0.5) < 0.1 ? 0 : 1;
}
