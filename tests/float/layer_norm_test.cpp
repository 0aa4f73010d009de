// Softmax, layer norm and batch norm in float, where precision is short.
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// Layer norm of one row in double.
Array in_double(const Array& x) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const Real v : x) mean += static_cast<double>(v) / n;
  for (const Real v : x) variance += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean) / n;
  Array y(x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    y.mutable_data()[i] = static_cast<Real>((static_cast<double>(x.data()[i]) - mean) / std::sqrt(variance + 1e-5));
  }
  return y;
}

}  // namespace

TEST_CASE("layer norm in float is right for the rows that break others") {
  const Array rows[] = {
      Array({4}, {80000, 80001, 80002, 80003}),
      uniform({33}, 1000 - 1e-3f, 1000 + 1e-3f),
      uniform({64}, 1e6f - 1e-3f, 1e6f + 1e-3f),
      uniform({512}, -1e-12f, 1e-12f),
      uniform({17}, 1e8f, 1e8f + 100),
      Array({5}, 3.1f),
      Array({1}, 7.5f),
  };
  for (const Array& row : rows) {
    CAPTURE(to_string(row));
    const Tensor x = variable(row);
    const Tensor y = layer_norm(x);
    check_close(y.value(), in_double(row), 2e-6);
    const Tensor gx = grad(y, {x}, {.seed = normal(row.shape())})[0];
    for (const Real g : gx.value()) CHECK(std::isfinite(g));
  }
}

TEST_CASE("softmax in float sums to 1 and is within rounding of double") {
  for (const std::int64_t n : {1, 7, 16, 17, 33, 1000, 50257}) {
    CAPTURE(n);
    const Array x = uniform({n}, -30, 30);
    double total = 0;
    for (const Real v : x) total += std::exp(static_cast<double>(v));
    Array exact(Shape{n}), exact_log(Shape{n});
    for (std::int64_t i = 0; i < n; ++i) {
      exact.mutable_data()[i] = static_cast<Real>(std::exp(static_cast<double>(x.data()[i])) / total);
      exact_log.mutable_data()[i] = static_cast<Real>(static_cast<double>(x.data()[i]) - std::log(total));
    }
    check_close(softmax(x).value(), exact, 1e-6);
    check_close(log_softmax(x).value(), exact_log, 1e-6);
    check_close(sum(softmax(x)).value(), Array({}, 1), 1e-6);
  }
  CHECK(equal(softmax(tensor({1e30f, -1e30f})).value(), Array({2}, {1, 0})));
}

TEST_CASE("batch norm in float is right for channels far from 0") {
  check_close(batch_norm(Array({4, 1}, {80000, 80001, 80002, 80003})).y.value(),
              Array({4, 1}, {-1.3416353f, -0.4472118f, 0.4472118f, 1.3416353f}), 2e-6);
}
