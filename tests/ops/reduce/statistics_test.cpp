// Statistics, and scans along an axis: closed forms, ties, NaN, bad input. (Gradients: reduce_fixtures_test.cpp.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/orders.h"

namespace xgrad::testing {
namespace {

TEST_CASE("a running product has third derivatives") {
  check_gradients([](const Tensors& x) { return cumprod(x[0], 0); }, {normal({4})}, {.order = 3});
}

TEST_CASE("a standard deviation of 0 has the gradient 0, also where it is differentiated again") {
  const Tensor x = variable(tensor({{3, 3, 3}, {1, 2, 4}}).value());
  const Tensor y = stddev(x, 1);
  const Tensor g = grad(sum(y), {x}, {.create_graph = true})[0];
  check_close(narrow(g, 0, 0, 1).value(), zeros({1, 3}).value());
  CHECK(all_finite(grad(sum(square(g)), {x})[0].value()));
}

TEST_CASE("of equal extremes along an axis the first has the gradient, the first NaN is one, and so among many numbers") {
  const Tensor x = variable(tensor({{1, 5, 5}, {7, 2, 7}}).value());
  check_close(grad(sum(max(x, 1).values), {x})[0].value(), tensor({{0, 1, 0}, {1, 0, 0}}).value());
  CHECK(equal(argmax(tensor({{1, not_a_number, not_a_number}, {7, 2, 7}}), 1), index({1, 0})));
  CHECK(equal(argmin(tensor({{1, not_a_number, not_a_number}, {0, 2, 0}}), 1), index({1, 0})));
  const Tensor wide = normal({3, 70, 130}, 4);
  for (const int axis : {0, 1, 2}) {
    const ValuesAndIndices most = max(wide, axis, {.keepdim = true});
    check_close(most.values.value(), max(wide, Axes{axis}, {.keepdim = true}).value());
    check_close(gather(wide, axis, most.indices).value(), most.values.value());
  }
}

TEST_CASE("medians and quantiles: ties and NaN") {
  const Tensor x = variable(tensor({3, 1, 3, 2, 3, 9}).value());
  CHECK(median(x).item() == 3);
  check_close(grad(median(x), {x})[0].value(), (to_real(x == 3) / 3).value(), 1e-15);
  CHECK(std::isnan(median(tensor({1, not_a_number, 2})).item()));
  CHECK(quantile(tensor({0, 10}), 0.25).item() == 2.5);
  CHECK(quantile(tensor({-infinity, 0, infinity}), 0.5).item() == 0);
  CHECK(quantile(tensor({0, infinity, infinity}), 0.75).item() == infinity);
  CHECK(quantile(tensor({{1, not_a_number}, {3, 4}}), 0.5, 1).value().data()[1] == 3.5);
  CHECK(std::isnan(quantile(tensor({{1, not_a_number}, {3, 4}}), 0.5, 1).value().data()[0]));
  CHECK(quantile(ones({2, 3}), 0.5, 0, {.keepdim = true}).shape() == Shape{1, 3});
  CHECK(quantile(ones({2, 3}), 0.5, {}, {.keepdim = true}).shape() == Shape{1, 1});
}

TEST_CASE("reductions take axes 0 and -1 of a scalar, and no others") {
  const Tensor x = variable(Real(2));
  for (const int axis : {0, -1}) {
    CHECK(var(x, axis, {.correction = 0}).item() == 0);
    CHECK(linalg::vector_norm(x, 2, axis).item() == 2);
    CHECK(sum(Index(Shape{}, 3), axis).item() == 3);
  }
  CHECK_REFUSED(ValueError, sum(x, {0, -1}), "sum", "repeated axis", "[0, -1]");
  CHECK_REFUSED(ValueError, argmax(x, 1), "argmax", "axis 1", "rank 0");
  CHECK_REFUSED(ValueError, quantile(x, 0.5, 2), "quantile", "axis 2", "rank 0");
}

TEST_CASE("means, extremes and deviations of nothing are refused") {
  const Tensor x = zeros({2, 0});
  CHECK_REFUSED(ValueError, mean(x), "mean", "shape [2, 0]", "axes [0, 1]");
  CHECK_REFUSED(ValueError, max(x, Axes{1}), "max", "shape [2, 0]", "axes [1]");
  CHECK_REFUSED(ValueError, argmin(x, 1), "argmin", "nothing to choose from");
  CHECK_REFUSED(ValueError, var(ones({1})), "var", "1 elements", "correction of 1");
  CHECK_REFUSED(ValueError, var(x, {}, {.correction = 0}), "var", "0 elements", "correction of 0");
  CHECK_REFUSED(ValueError, stddev(x), "stddev", "0 elements", "correction of 1");
  CHECK_REFUSED(ValueError, var_mean(x), "var_mean", "0 elements", "correction of 1");
  // A mean over no axis at all has no element to be refused for.
  CHECK(mean(x, 0).shape() == Shape{0});
}

TEST_CASE("statistics refuse what they cannot answer") {
  const Tensor x = normal({2, 3}), none = zeros({2, 0});
  CHECK_REFUSED(ValueError, median(none), "median", "nothing to choose", "shape [2, 0]");
  CHECK_REFUSED(ValueError, median(none, 1), "median", "nothing to choose", "shape [2, 0]");
  CHECK_REFUSED(ValueError, quantile(none, 0.5), "quantile", "nothing to choose", "shape [2, 0]");
  CHECK_REFUSED(ValueError, max(none, 1), "max", "shape [2, 0]", "axis 1");
  CHECK_REFUSED(ValueError, kthvalue(x, 0), "kthvalue", "k = 0", "[1, 3]");
  CHECK_REFUSED(ValueError, kthvalue(x, 4), "kthvalue", "k = 4", "[1, 3]");
  CHECK_REFUSED(ValueError, quantile(x, 1.5), "quantile", "q = 1.5", "[0, 1]");
  CHECK_REFUSED(ValueError, quantile(x, not_a_number), "quantile", "q = nan", "[0, 1]");
  CHECK_REFUSED(ValueError, median(x, 2), "median", "axis 2", "rank 2");
  CHECK_REFUSED(ValueError, cumprod(x, 2), "cumprod", "axis 2", "rank 2");
}

}  // namespace
}  // namespace xgrad::testing
