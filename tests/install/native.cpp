// A program with an elementwise operation of its own, compiled with other instructions than the library. Fails unless
// the values and gradients of the operation are right.
#include <cmath>
#include <cstdio>

#include <xgrad/ops/fused.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

Tensor softsign(const Tensor& x) {
  return elementwise(
      "softsign", x, [](auto v) { return v / (1 + abs(v)); },
      [](auto v, auto) { return 1 / ((1 + abs(v)) * (1 + abs(v))); });
}

int main() {
  const std::int64_t n = 37;  // full registers of every width, and a rest
  Array values(Shape{n});
  for (std::int64_t i = 0; i < n; ++i) values.mutable_data()[i] = static_cast<Real>(i - n / 2) / 4;
  const Tensor x = variable(values, "x");
  const Tensor y = softsign(x);
  const Tensor gx = grad(sum(y), {x})[0];
  double error = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(values.data()[i]), size = 1 + std::abs(v);
    error = std::max(error, std::abs(static_cast<double>(y.value().data()[i]) - v / size));
    error = std::max(error, std::abs(static_cast<double>(gx.value().data()[i]) - 1 / (size * size)));
  }
  std::printf("largest error %.1e\n", error);
  return error < 1e-6 ? 0 : 1;
}
