// What the tests of operations share: random inputs, comparison of arrays, and the gradient check.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include <xgrad/core/grad.h>
#include <xgrad/core/random.h>
#include <xgrad/core/tensor.h>

namespace xgrad::testing {

/// Normal numbers; element i depends on the seed and i alone.
Array normal(const Shape& shape, std::uint64_t seed = 1);
/// Numbers in [low, high).
Array uniform(const Shape& shape, Real low, Real high, std::uint64_t seed = 1);

/// The largest |a - b| / max(1, |b|); infinity when the shapes differ, and where one is NaN and the other is not.
double difference(const Array& a, const Array& b);

/// Fails the test case unless shapes are equal and difference(a, b) <= tolerance.
void check_close(const Array& a, const Array& b, double tolerance = 1e-12);

/// A function of some tensors; for check_gradients.
using Function = std::function<Tensor(const Tensors&)>;

struct GradientCheck {
  int order = 2;            ///< check this many derivatives
  double tolerance = 1e-7;  ///< relative to the largest entry of the gradient
  bool zero = false;        ///< the true gradient is zero (else an all-zero gradient is refused)
};

/// Checks the gradients of f with respect to every input that requires one: for a random cotangent v, every entry of
/// the gradient of <v, f(x)> against a five-point finite difference; then does the same to the function
/// x -> gradient, `order` times in all (from the second order on along random directions). Use double.
void check_gradients(const Function& f, const std::vector<Array>& inputs, const GradientCheck& options = {});
/// The same, but tells what is wrong instead of failing the test case.
std::vector<std::string> wrong_gradients(const Function& f, const std::vector<Array>& inputs,
                                         const GradientCheck& options = {});

/// The message of the error that `f` throws; fails the test case if it throws no E.
template <class E, class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    FAIL_CHECK("another error was thrown: ", error.what());
    return {};
  }
  FAIL_CHECK("no error was thrown");
  return {};
}

}  // namespace xgrad::testing
