// A program with an elementwise operation of its own, compiled with other instructions than the library. Fails unless
// the values and gradients of the operation are right.
#include <cmath>
#include <cstdio>

#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/reduce/reduce.h>

using namespace xgrad;

Tensor hump(const Tensor& x) {
  return elementwise(
      "hump", x, [](auto v) { return 1 / (1 + v * v); }, [](auto v, auto y) { return -2 * v * y * y; });
}

int main() {
  const std::int64_t n = 37;  // full registers of every width, and a rest
  Array values(Shape{n});
  for (std::int64_t i = 0; i < n; ++i) values.mutable_data()[i] = static_cast<Real>(i - n / 2) / 4;
  const Tensor x = variable(values, "x");
  const Tensor y = hump(x);
  const Tensor gx = grad(sum(y), {x})[0];
  double error = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(values.data()[i]), height = 1 / (1 + v * v);
    error = std::max(error, std::abs(static_cast<double>(y.value().data()[i]) - height));
    error = std::max(error, std::abs(static_cast<double>(gx.value().data()[i]) + 2 * v * height * height));
  }
  std::printf("largest error %.1e\n", error);
  return error < 1e-6 ? 0 : 1;
}
