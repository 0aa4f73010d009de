// The gradient check.
#include "check.h"

#include <cmath>
#include <limits>

#include <xgrad/ops/arithmetic.h>
#include <xgrad/ops/broadcast.h>
#include <xgrad/ops/reduce.h>

namespace xgrad::testing {

Array normal(const Shape& shape, std::uint64_t seed) { return random_normal(shape, {.seed = seed, .draw = 0}); }

Array uniform(const Shape& shape, Real low, Real high, std::uint64_t seed) {
  Array numbers = random_uniform(shape, {.seed = seed, .draw = 0});
  Real* out = numbers.mutable_data();
  for (std::int64_t i = 0; i < numbers.size(); ++i) out[i] = low + (high - low) * out[i];
  return numbers;
}

double difference(const Array& a, const Array& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double p = a.data()[i], q = b.data()[i];
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    const double error = std::abs(p - q) / std::max(1.0, std::abs(q));
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
  }
  return worst;
}

void check_close(const Array& a, const Array& b, double tolerance) {
  CHECK_MESSAGE(a.shape() == b.shape(), "shapes ", cat(a.shape()), " and ", cat(b.shape()));
  if (a.shape() == b.shape()) {
    CHECK_MESSAGE(difference(a, b) <= tolerance, "got\n", to_string(a), "\nexpected\n", to_string(b));
  }
}

namespace {

double inner_product(const Array& a, const Array& b) {
  REQUIRE(a.shape() == b.shape());
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
  return sum;
}

double largest(const Array& a) {
  double most = 0;
  for (const Real value : a) most = std::max(most, std::abs(static_cast<double>(value)));
  return most;
}

Tensors leaves(const std::vector<Array>& values) {
  Tensors xs;
  for (const Array& value : values) xs.push_back(variable(value));
  return xs;
}

// d/dt of <v, f(x + t direction)> at t = 0, direction in input k only: five-point formula, error O(h^4).
double numeric_slope(const Function& f, const std::vector<Array>& inputs, std::size_t k, const Array& direction,
                     const Array& v) {
  const double h = 7e-4;
  const auto at = [&](double t) {
    std::vector<Array> moved = inputs;
    Real* x = moved[k].mutable_data();
    for (std::int64_t i = 0; i < moved[k].size(); ++i) x[i] += static_cast<Real>(t) * direction.data()[i];
    return inner_product(f(leaves(moved)).value(), v);
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

Array unit(const Shape& shape, std::int64_t i) {
  Array direction(shape, Real(0));
  direction.mutable_data()[i] = 1;
  return direction;
}

// <v, y> as a tensor. Written so that the gradient which arrives at y has come through another operation.
Tensor weighted_sum(const Tensor& y, const Array& v) { return sum_to(y * Tensor(v), {}); }

// What is wrong is added to `findings`, a line each.
void check_order(const Function& f, const std::vector<Array>& inputs, const GradientCheck& options, int order,
                 std::vector<std::string>& findings) {
  const auto expect = [&](bool good, const auto&... parts) {
    if (!good) findings.push_back(cat("order ", order, ": ", parts...));
  };
  const Tensors xs = leaves(inputs);
  const Tensor y = f(xs);
  if (y.size() == 0) return;
  const Array v = normal(y.shape(), 977 + static_cast<std::uint64_t>(order));
  // A function without a graph claims that its gradient is zero everywhere; that is held against differences like
  // others.
  expect(y.requires_grad() || options.zero || order > 1, "no gradient flows to the result");
  Tensors gradients;
  if (y.requires_grad()) {
    gradients = grad(weighted_sum(y, v), xs, {.unused = Unused::zeros});
  } else {
    for (const Array& input : inputs) gradients.push_back(Tensor(Array(input.shape(), Real(0))));
  }
  double scale = 0;
  for (const Tensor& g : gradients) scale = std::max(scale, largest(g.value()));
  if (order == 1) expect((scale > 1e-3) != options.zero, "largest entry of the gradient: ", scale);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Array& g = gradients[k].value();
    REQUIRE(g.shape() == inputs[k].shape());
    const bool entries = order == 1 && inputs[k].size() <= 64;
    const std::int64_t directions = inputs[k].size() == 0 ? 0 : entries ? inputs[k].size() : 3;
    for (std::int64_t i = 0; i < directions; ++i) {
      const Array direction =
          entries ? unit(inputs[k].shape(), i) : normal(inputs[k].shape(), 31 * static_cast<std::uint64_t>(i) + k + 7);
      const double numeric = numeric_slope(f, inputs, k, direction, v);
      const double exact = inner_product(g, direction);
      const double error = std::abs(numeric - exact) / std::max({1.0, scale, std::abs(numeric)});
      expect(error <= options.tolerance, "input ", k, ", direction ", i, ": rule ", exact, ", finite difference ",
             numeric);
    }
  }
  if (order == options.order || !y.requires_grad()) return;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Function gradient = [&f, &v, k](const Tensors& at) {
      const Tensor result = f(at);
      return grad(weighted_sum(result, v), {at[k]}, {.create_graph = true, .unused = Unused::zeros})[0];
    };
    check_order(gradient, inputs, options, order + 1, findings);
  }
}

}  // namespace

std::vector<std::string> wrong_gradients(const Function& f, const std::vector<Array>& inputs,
                                         const GradientCheck& options) {
  std::vector<std::string> findings;
  check_order(f, inputs, options, 1, findings);
  return findings;
}

void check_gradients(const Function& f, const std::vector<Array>& inputs, const GradientCheck& options) {
  const std::vector<std::string> findings = wrong_gradients(f, inputs, options);
  CHECK_MESSAGE(findings.empty(), findings.size(),
                " wrong gradients, the first: ", findings.empty() ? std::string() : findings[0]);
}

}  // namespace xgrad::testing
