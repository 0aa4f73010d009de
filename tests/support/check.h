// Utilities for tests of operations: random inputs, comparison of arrays, and the gradient check.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <xgrad/core/graph/grad.h>
#include <xgrad/core/array/random.h>
#include <xgrad/core/graph/tensor.h>

namespace xgrad::testing {

inline constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();
inline constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Normal numbers; element i depends on the seed and i alone.
Array normal(const Shape& shape, std::uint64_t seed = 1);
/// Numbers in [low, high).
Array uniform(const Shape& shape, Real low, Real high, std::uint64_t seed = 1);

/// The largest |a - expected|, relative to the largest |expected|; infinity when the shapes differ, and where one is
/// NaN or infinite and the other is not the same. What is expected to be 0 everywhere has to be 0. Where terms cancel,
/// `terms` says how large they are: then errors are relative to that, if it is more.
double difference(const Array& a, const Array& expected, double terms = 0);

/// Fails the test case unless shapes are equal and difference(a, expected, terms) <= tolerance.
void check_close(const Array& a, const Array& expected, double tolerance = 1e-12, double terms = 0);

/// The largest |element| that is finite; 0 if there is none.
double largest(const Array& a);

/// df/dt at t = 0: five-point formula, error O(h^4).
double slope(const std::function<double(double)>& f, double h);
/// The sum of all |v y|: rounding makes slope() of <v, y> wrong by up to about 8 epsilon / h of it.
double size_of_terms(const Array& y, const Array& v);
double rounding_of_slope(double size_of_terms, double h);

/// A function of some tensors; for check_gradients.
using Function = std::function<Tensor(const Tensors&)>;

struct GradientCheck {
  int order = 2;            ///< check this many derivatives
  double tolerance = 1e-7;  ///< relative to the largest entry of the input's gradient
  bool zero = false;        ///< the true gradient is zero, to 1e-12 (else one that rounding could have made is refused)
};

/// Checks the gradients of f with respect to every input that requires one: for a random cotangent v, every entry of
/// the gradient of <v, f(x)> against a five-point finite difference; then does the same to the function
/// x -> gradient, `order` times in all (from the second order on along random directions). Use double.
void check_gradients(const Function& f, const std::vector<Array>& inputs, const GradientCheck& options = {});
/// The same, but returns the failures instead of failing the test case.
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

/// Empty if `message` begins with the first of the words, the name of an operation, and has the others after it in this
/// order; else what it lacks.
std::string lacks(const std::string& message, const std::vector<std::string>& words);

/// A row of a table of refusals: that the call throws this type of error, and which words its message has.
#define CHECK_REFUSED(Error, call, ...) \
  CHECK(xgrad::testing::lacks(xgrad::testing::error_of<Error>([&] { call; }), {__VA_ARGS__}) == "")

}  // namespace xgrad::testing
