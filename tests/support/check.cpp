// The gradient check.
#include "check.h"

#include <cmath>
#include <limits>

#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/shape/broadcast.h>
#include <xgrad/ops/reduce/reduce.h>

namespace xgrad::testing {

Array normal(const Shape& shape, std::uint64_t seed) { return random_normal(shape, {.seed = seed, .draw = 0}); }

Array uniform(const Shape& shape, Real low, Real high, std::uint64_t seed) {
  Array numbers = random_uniform(shape, {.seed = seed, .draw = 0});
  Real* out = numbers.mutable_data();
  for (std::int64_t i = 0; i < numbers.size(); ++i) out[i] = low + (high - low) * out[i];
  return numbers;
}

double difference(const Array& a, const Array& expected, double terms) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.shape() != expected.shape()) return infinity;
  double worst = 0, scale = terms;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double p = a.data()[i], q = expected.data()[i];
    if (std::isfinite(q)) scale = std::max(scale, std::abs(q));
    if (p == q || (std::isnan(p) && std::isnan(q))) continue;
    const double error = std::abs(p - q);
    worst = std::isnan(error) ? infinity : std::max(worst, error);
  }
  return worst == 0 ? 0 : worst / scale;
}

void check_close(const Array& a, const Array& expected, double tolerance, double terms) {
  CHECK_MESSAGE(a.shape() == expected.shape(), "shapes ", str(a.shape()), " and ", str(expected.shape()));
  if (a.shape() == expected.shape()) {
    const double error = difference(a, expected, terms);
    CHECK_MESSAGE(error <= tolerance, "off by ", error, ": got\n", to_string(a), "\nexpected\n", to_string(expected));
  }
}

double largest(const Array& a) {
  double most = 0;
  for (const Real value : a) {
    if (std::isfinite(value)) most = std::max(most, std::abs(static_cast<double>(value)));
  }
  return most;
}

double slope(const std::function<double(double)>& f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

double size_of_terms(const Array& y, const Array& v) {
  double size = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) size += std::abs(static_cast<double>(y.data()[i]) * v.data()[i]);
  return size;
}

double rounding_of_slope(double size_of_terms, double h) {
  return 8 * std::numeric_limits<double>::epsilon() * size_of_terms / h;
}

namespace {

double inner_product(const Array& a, const Array& b) {
  REQUIRE(a.shape() == b.shape());
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
  return sum;
}

Tensors leaves(const std::vector<Array>& values) {
  Tensors xs;
  for (const Array& value : values) xs.push_back(variable(value));
  return xs;
}

constexpr double step = 7e-4;

// d/dt of <v, f(x + t direction)> at t = 0, direction in input k only.
double numeric_slope(const Function& f, const std::vector<Array>& inputs, std::size_t k, const Array& direction,
                     const Array& v) {
  const auto at = [&](double t) {
    std::vector<Array> moved = inputs;
    Real* x = moved[k].mutable_data();
    for (std::int64_t i = 0; i < moved[k].size(); ++i) x[i] += static_cast<Real>(t) * direction.data()[i];
    return inner_product(f(leaves(moved)).value(), v);
  };
  return slope(at, step);
}

Array unit(const Shape& shape, std::int64_t i) {
  Array direction(shape, Real(0));
  direction.mutable_data()[i] = 1;
  return direction;
}

// <v, y> as a tensor. Written so that the gradient which arrives at y has come through another operation.
Tensor weighted_sum(const Tensor& y, const Array& v) { return sum_to(y * Tensor(v), {}); }

// How near an entry comes to 0, from `step` to 1.
double smallest(const Array& a) {
  double least = 1;
  for (const Real value : a) least = std::min(least, std::abs(static_cast<double>(value)));
  return std::max(least, step);
}

// Adds the failures to `findings`, a line each. The terms of a gradient that cancels are about as large as those of the
// function itself, `terms`, by its input: those of x / |x| are 1 / x.
void check_order(const Function& f, const std::vector<Array>& inputs, const GradientCheck& options, int order,
                 double terms, std::vector<std::string>& findings) {
  const auto expect = [&](bool good, const auto&... parts) {
    if (!good) findings.push_back(str("order ", order, ": ", parts...));
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
  terms = std::max(terms, size_of_terms(y.value(), v));
  const double rounding = rounding_of_slope(terms, step);
  double most = 0;
  for (const Tensor& g : gradients) most = std::max(most, largest(g.value()));
  const double nothing = options.zero ? std::max(rounding, 1e-12) : rounding;
  if (order == 1) expect((most > nothing) != options.zero, "largest entry of the gradient: ", most);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Array& g = gradients[k].value();
    REQUIRE(g.shape() == inputs[k].shape());
    const double scale = largest(g);
    const bool entries = order == 1 && inputs[k].size() <= 64;
    const std::int64_t directions = inputs[k].size() == 0 ? 0 : entries ? inputs[k].size() : 3;
    for (std::int64_t i = 0; i < directions; ++i) {
      const Array direction =
          entries ? unit(inputs[k].shape(), i) : normal(inputs[k].shape(), 31 * static_cast<std::uint64_t>(i) + k + 7);
      const double numeric = numeric_slope(f, inputs, k, direction, v);
      const double exact = inner_product(g, direction);
      const double allowed = options.tolerance * std::max(scale, std::abs(numeric)) + nothing;
      expect(std::abs(numeric - exact) <= allowed, "input ", k, ", direction ", i, ": rule ", exact,
             ", finite difference ", numeric);
    }
  }
  if (order == options.order || !y.requires_grad()) return;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Function gradient = [&f, &v, k](const Tensors& at) {
      const Tensor result = f(at);
      return grad(weighted_sum(result, v), {at[k]}, {.create_graph = true, .unused = Unused::zeros})[0];
    };
    check_order(gradient, inputs, options, order + 1, terms / smallest(inputs[k]), findings);
  }
}

}  // namespace

std::vector<std::string> wrong_gradients(const Function& f, const std::vector<Array>& inputs,
                                         const GradientCheck& options) {
  std::vector<std::string> findings;
  check_order(f, inputs, options, 1, 0, findings);
  return findings;
}

std::string lacks(const std::string& message, const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (const std::string& word : words) {
    const std::string sought = at == 0 ? word + ": " : word;
    const std::size_t found = message.find(sought, at);
    if (found == std::string::npos || (at == 0 && found != 0)) return str("'", message, "' lacks '", sought, "'");
    at = found + sought.size();
  }
  return {};
}

void check_gradients(const Function& f, const std::vector<Array>& inputs, const GradientCheck& options) {
  const std::vector<std::string> findings = wrong_gradients(f, inputs, options);
  CHECK_MESSAGE(findings.empty(), findings.size(),
                " wrong gradients, the first: ", findings.empty() ? std::string() : findings[0]);
}

}  // namespace xgrad::testing
