// Three operations that the library has not, each written in another way, and their gradients held against differences.
#include <iostream>

#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

// 1. Elementwise: a lambda and its derivative.
Tensor hump(const Tensor& x) {
  return elementwise(
      "hump", x, [](auto v) { return 1 / (1 + v * v); }, [](auto v, auto y) { return -2 * v * y * y; });
}

// 2. Anything else: check, compute, rule.
Tensor running_sum(const Tensor& x) {  // y_i = x_0 + ... + x_i of a list
  if (x.rank() != 1) fail<ShapeError>("running_sum", "needs a list, got ", x.shape());
  Array y = x.value();
  Real* values = y.mutable_data();
  for (std::int64_t i = 1; i < y.size(); ++i) values[i] += values[i - 1];
  return record("running_sum", y, wrt(x, [](const Tensor& gy) { return flip(running_sum(flip(gy, {0})), {0}); }));
}

// 3. With an expression of xtensor as the kernel.
Tensor log1p_square(const Tensor& x) {
  const double shift = 1;
  return record("log1p_square", to_array(xt::log1p(xt::square(view(x.value())))),
                wrt(x, [x](const Tensor& gy) { return gy * 2 * x / (1 + square(x)); }), told("shift", shift));
}

bool right(const std::string& name, Tensor (*f)(const Tensor&)) {
  const auto with_list = [f](const Tensors& inputs) { return f(inputs[0]); };
  const Tensor x = variable(randn({6}), "x");
  const GradcheckReport first = gradcheck(with_list, {x}), second = gradgradcheck(with_list, {x});
  std::cout << name << "\n" << first << second;
  return first.ok() && second.ok();
}

int main() {
  manual_seed(1);
  bool all = right("hump", hump);
  all = right("running_sum", running_sum) && all;
  all = right("log1p_square", log1p_square) && all;
  return all ? 0 : 1;
}
