// Results, gradients and second gradients at shapes where there is little or nothing to compute.
#pragma once

#include "support/catalogue.h"
#include "support/check.h"

#include <cmath>
#include <string>
#include <vector>

#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/reduce/reduce.h>

namespace xgrad::testing {

inline bool all_finite(const Array& a) {
  return std::ranges::all_of(a, [](Real value) { return std::isfinite(value); });
}

/// Runs y = f() and checks its shape; then its gradients with respect to xs, as numbers and recorded, which have to
/// agree, and the gradients of these: shapes, and that every number is finite.
template <class F>
void check_all_orders(const F& f, const Tensors& xs, const Shape& expected) {
  const auto check = [&](const Tensors& gradients) {
    for (std::size_t k = 0; k < xs.size(); ++k) {
      CHECK_MESSAGE(gradients[k].shape() == xs[k].shape(), "gradient ", k, " of shape ", str(gradients[k].shape()),
                    " for ", str(xs[k].shape()));
      CHECK_MESSAGE(all_finite(gradients[k].value()), "gradient ", k, ": ", to_string(gradients[k].value()));
    }
  };
  const Tensor y = f();
  CHECK_MESSAGE(y.shape() == expected, "shape ", str(y.shape()), ", expected ", str(expected));
  CHECK(y.requires_grad());
  if (!y.requires_grad()) return;
  const Tensor v(normal(y.shape(), 5));
  const Tensors numbers = grad(sum(f() * v), xs, {.unused = Unused::zeros});
  check(numbers);
  const Tensors first = grad(sum(y * v), xs, {.create_graph = true, .unused = Unused::zeros});
  check(first);
  Tensor slope;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    // Of a line of one number some are 0, but for rounding of what cancels.
    CHECK(difference(numbers[k].value(), first[k].value(), 1) <= 1e-12);
    if (y.size() == 0) CHECK(equal(first[k].value(), Array(xs[k].shape(), Real(0))));
    if (!first[k].requires_grad()) continue;
    const Tensor part = sum(first[k] * Tensor(normal(xs[k].shape(), 6 + k)));
    slope = slope.defined() ? slope + part : part;
  }
  if (!slope.defined()) return;
  const Tensors second = grad(slope, xs, {.create_graph = true, .unused = Unused::zeros});
  check(second);
  check(grad(slope, xs, {.unused = Unused::zeros}));
}

/// The same for f of these inputs, with respect to them and `leaves`; what it gives is finite.
inline void check_edge(const Function& f, const std::vector<Array>& inputs, const Shape& expected,
                       const Tensors& leaves = {}) {
  Tensors xs;
  for (const Array& input : inputs) xs.push_back(variable(input));
  CHECK(all_finite(f(xs).value()));
  Tensors all = xs;
  all.insert(all.end(), leaves.begin(), leaves.end());
  check_all_orders([&] { return f(xs); }, all, expected);
}

/// The same for a call of the catalogue; where there are numbers, also against differences. Or it is refused.
inline void check_call(const Call& call) {
  std::string text = call.name;
  for (const Input& input : call.inputs) text += str(" ", input.shape);
  CAPTURE(text);
  if (call.refused) {
    const std::string message = error_of<Error>([&] { call.run(call.leaves()); });
    const auto says = [&](const char* words) { return message.find(words) != message.npos; };
    CHECK_MESSAGE((says("nothing to ") || says("no elements ") || says("needs ") || says("too few ")), message);
    return;
  }
  try {
    const Tensors xs = call.leaves();
    check_all_orders([&] { return call.run(xs); }, xs, call.result);
    if (call.result.numel() == 0) return;
    const Tensor y = call.run(xs);
    Real most = 0;
    for (const Tensor& g : grad(sum(y * Tensor(normal(y.shape(), 978))), xs, {.unused = Unused::zeros})) {
      for (const Real value : g.value()) most = std::max(most, std::abs(value));
    }
    check_gradients(call.run, call.numbers(), {.zero = most <= 1e-12});
  } catch (const std::exception& error) {
    FAIL_CHECK(std::string(error.what()));
  }
}

/// The same for a function of leaves of these shapes, with numbers in [0.2, 0.8).
inline void check_shapes(const std::string& name, const std::vector<Shape>& shapes, const Shape& expected,
                         const Function& f) {
  Call call{name, {}, expected, f};
  for (const Shape& shape : shapes) call.inputs.push_back({shape, 0.2, 0.8});
  check_call(call);
}

}  // namespace xgrad::testing
