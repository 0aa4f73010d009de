// Reductions: every set of axes of shapes with up to four axes against xtensor, gradients against differences.
#include <cmath>
#include <functional>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/oracle.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct Reducer {
  const char* name;
  Tensor (*op)(const Tensor&, const AxisSet&, const KeepdimOptions&);
  Array (*oracle)(const Array&, const Axes&);
  bool of_nothing = true;  // defined for no elements
};

Tensor population_var(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options) {
  return var(x, axis, {.keepdim = options.keepdim, .correction = 0});
}

const Reducer reductions[] = {
    {"sum", sum, oracle::sum},
    {"mean", mean, oracle::mean, false},
    {"max", max, oracle::max, false},
    {"min", min, oracle::min, false},
    {"prod", prod, oracle::prod},
    {"logsumexp", logsumexp, oracle::logsumexp},
    {"var", population_var, oracle::var, false},
};

std::vector<Axes> subsets(int rank) {
  std::vector<Axes> all;
  for (int bits = 0; bits < 1 << rank; ++bits) {
    Axes axes;
    for (int axis = 0; axis < rank; ++axis) {
      if (bits >> axis & 1) axes.push_back(axis);
    }
    all.push_back(axes);
  }
  return all;
}

const Shape shapes[] = {{}, {1}, {7}, {3, 5}, {4, 33}, {2, 3, 4}, {2, 1, 3, 5}, {3, 2, 1, 17}};

}  // namespace

TEST_CASE("reductions over every set of axes equal xtensor's") {
  for (const Reducer& op : reductions) {
    for (const Shape& shape : shapes) {
      const Array x = normal(shape, 3);
      for (const Axes& axes : subsets(shape.rank())) {
        INFO(op.name, " ", cat(shape), " over ", cat(axes));
        const Array expected = op.oracle(x, axes);
        check_close(op.op(x, axes, {.keepdim = true}).value(), expected, 1e-13);
        const Tensor dropped = op.op(x, axes, {});
        CHECK(dropped.rank() == shape.rank() - axes.size());
        check_close(dropped.value(), expected.reshaped(dropped.shape()), 1e-13);
      }
      CHECK(op.op(x, {}, {}).rank() == 0);
    }
  }
}

TEST_CASE("gradients of reductions over every set of axes are those of differences") {
  for (const Reducer& op : reductions) {
    for (const Shape& shape : {Shape{}, {1}, {3, 5}, {2, 3, 2}, {2, 1, 2, 3}}) {
      for (const Axes& axes : subsets(shape.rank())) {
        INFO(op.name, " ", cat(shape), " over ", cat(axes));
        std::int64_t count = 1;
        for (const int axis : axes) count *= shape[axis];
        const bool constant = std::string(op.name) == "var" && count == 1;
        const Array x = std::string(op.name) == "prod" ? uniform(shape, 0.7, 1.5, 8) : normal(shape, 8);
        check_gradients([&](const Tensors& t) { return op.op(t[0], axes, {}); }, {x}, {.zero = constant});
      }
    }
  }
}

TEST_CASE("axes may be a number, a list, negative, none or all") {
  const Tensor x = normal({2, 3, 4});
  check_close(sum(x, -1).value(), sum(x, 2).value());
  check_close(sum(x, {0, -1}).value(), sum(sum(x, 2), 0).value(), 1e-14);
  check_close(sum(x, Axes{}).value(), x.value());
  check_gradients([](const Tensors& t) { return square(sum(t[0], Axes{})); }, {normal({2, 3})});
  CHECK(sum(x).rank() == 0);
  CHECK(sum(x, {}, {.keepdim = true}).shape() == Shape{1, 1, 1});
}

TEST_CASE("the mean of a mask is the share of what is true") {
  const Mask mask({2, 3}, {true, false, true, false, false, true});
  CHECK(mean(mask).item() == Real(0.5));
  check_close(mean(mask, 1).value(), tensor({2. / 3, 1. / 3}).value());
  check_close(mean(mask, 0, {.keepdim = true}).value(), tensor({{0.5, 0, 1}}).value());
  CHECK(mean(index({3, 1, 2, 2}) == index({3, 0, 2, 2})).item() == Real(0.75));
  CHECK_FALSE(mean(variable({1, 2}) > 1).requires_grad());
  CHECK(error_of<ValueError>([] {
          mean(Mask({0, 2}, false), 0);
        }) == "mean: nothing to reduce in shape [0, 2] over axes [0]");
  CHECK(error_of<ValueError>([&] { mean(mask, 2); }) == "mean: axis 2 is out of range for rank 2");
}

TEST_CASE("wrong axes are refused") {
  const Tensor x = normal({2, 3, 4});
  CHECK(error_of<ValueError>([&] { sum(x, 5); }) == "sum: axis 5 is out of range for rank 3");
  CHECK(error_of<ValueError>([&] { sum(x, -4); }) == "sum: axis -4 is out of range for rank 3");
  CHECK(error_of<ValueError>([&] { sum(x, {1, 1}); }) == "sum: repeated axis in [1, 1]");
  CHECK(error_of<ValueError>([&] { argmax(x, 3); }) == "argmax: axis 3 is out of range for rank 3");
  CHECK(error_of<ValueError>([&] { cumsum(x, 3); }) == "cumsum: axis 3 is out of range for rank 3");
}

TEST_CASE("reducing nothing: sums are 0, products 1, the rest is refused") {
  const Tensor x = zeros({2, 0, 3});
  check_close(sum(x, 1).value(), zeros({2, 3}).value());
  check_close(prod(x, 1).value(), ones({2, 3}).value());
  check_close(logsumexp(x, 1).value(), full({2, 3}, -infinity).value());
  CHECK(sum(x, 0).shape() == Shape{0, 3});
  CHECK(error_of<ValueError>([&] { mean(x); }) == "mean: nothing to reduce in shape [2, 0, 3] over axes [0, 1, 2]");
  CHECK(error_of<ValueError>([&] { max(x, Axes{1}); }) ==
        "max: nothing to reduce in shape [2, 0, 3] over axes [1]");
  CHECK(error_of<ValueError>([&] { argmin(x, 1); }).starts_with("argmin: nothing to choose from"));
  CHECK(error_of<ValueError>([] { var(ones({1})); }) == "var: 1 elements are too few for a correction of 1");
  const Tensor leaf = variable(Array(Shape{2, 0}, std::span<const Real>()));
  CHECK(grad(sum(leaf), {leaf})[0].shape() == Shape{2, 0});
}

TEST_CASE("var divides by n - 1 unless told otherwise") {
  const Tensor x = tensor({1, 2, 3, 4});
  CHECK(var(x).item() == doctest::Approx(5.0 / 3).epsilon(1e-14));
  CHECK(var(x, {}, {.correction = 0}).item() == doctest::Approx(1.25).epsilon(1e-14));
}

TEST_CASE("equal extremes share the gradient evenly, NaN is an extreme") {
  const Tensor x = variable(tensor({{3, 1, 3}, {2, 2, 2}}).value());
  check_close(grad(sum(max(x, Axes{1})), {x})[0].value(),
              tensor({{0.5, 0, 0.5}, {1.0 / 3, 1.0 / 3, 1.0 / 3}}).value(), 1e-15);
  CHECK(std::isnan(max(tensor({1, std::nan(""), 2})).item()));
  CHECK(std::isnan(min(tensor({std::nan(""), 1, 2})).item()));
}

TEST_CASE("the gradient of a product is right where factors are 0") {
  const Tensor x = variable(tensor({{2, 0, 3}, {0, 0, 4}, {2, 3, 4}}).value());
  check_close(grad(sum(prod(x, 1)), {x})[0].value(), tensor({{0, 6, 0}, {0, 0, 0}, {12, 8, 6}}).value());
  Array with_zero = normal({3, 4});
  with_zero.mutable_data()[5] = 0;
  check_gradients([](const Tensors& t) { return prod(t[0], 1); }, {with_zero});
  check_gradients([](const Tensors& t) { return prod(t[0], 0); }, {with_zero});
}

TEST_CASE("logsumexp neither overflows nor turns infinities into NaN") {
  CHECK(logsumexp(tensor({1000, 1000})).item() == doctest::Approx(1000 + std::log(2.0)).epsilon(1e-15));
  CHECK(logsumexp(tensor({-infinity, 0})).item() == 0);
  CHECK(logsumexp(tensor({infinity, 0})).item() == infinity);
  const Tensor x = variable(full({3}, -infinity).value());
  CHECK(logsumexp(x).item() == -infinity);
  check_close(grad(logsumexp(x), {x})[0].value(), zeros({3}).value());
}

TEST_CASE("cumsum adds up along any axis") {
  check_close(cumsum(tensor({{1, 2, 3}, {4, 5, 6}}), 1).value(), tensor({{1, 3, 6}, {4, 9, 15}}).value());
  check_close(cumsum(tensor({{1, 2, 3}, {4, 5, 6}}), 0).value(), tensor({{1, 2, 3}, {5, 7, 9}}).value());
  for (const int axis : {0, 1, -1}) {
    check_gradients([axis](const Tensors& x) { return square(cumsum(x[0], axis)); }, {normal({2, 3, 4})});
  }
  CHECK(cumsum(zeros({0, 3}), 0).shape() == Shape{0, 3});
}

TEST_CASE("argmax and argmin name the first of equal ones") {
  const Tensor x = tensor({{1, 5, 5}, {7, 2, 7}});
  CHECK(equal(argmax(x, -1), index({1, 0})));
  CHECK(equal(argmin(x, 1), index({0, 1})));
  CHECK(equal(argmax(x, 0), index({1, 0, 1})));
  CHECK(argmax(x, 0, {.keepdim = true}).shape() == Shape{1, 3});
  CHECK(argmax(tensor({1, std::nan(""), 3}), 0).item() == 1);
  CHECK(argmax(Tensor(3), 0).item() == 0);
}

TEST_CASE("sum_to undoes every broadcast between shapes of up to four axes") {
  const std::int64_t sizes[] = {0, 1, 2, 3};
  int pairs = 0;
  std::function<void(Shape)> each = [&](Shape to) {
    if (to.rank() < 4) {
      for (const std::int64_t size : sizes) {
        Shape longer = to;
        longer.push_back(size);
        each(longer);
      }
    }
    const Array x = normal(to, 4);
    for (int drop = 0; drop <= to.rank(); ++drop) {
      for (int bits = 0; bits < 1 << (to.rank() - drop); ++bits) {
        Shape from;
        Axes axes;
        for (int i = 0; i < to.rank(); ++i) {
          const bool one = i >= drop && (bits >> (i - drop) & 1);
          if (i < drop || one) axes.push_back(i);
          if (i >= drop) from.push_back(one ? 1 : to[i]);
        }
        ++pairs;
        const Array expected = oracle::sum(x, axes).reshaped(from);
        REQUIRE(difference(sum_to(x, from).value(), expected) <= 1e-13);
      }
    }
  };
  each({});
  CHECK(pairs == 1 + 4 * 3 + 16 * 7 + 64 * 15 + 256 * 31);
  CHECK(error_of<ShapeError>([] { sum_to(ones({2, 3}), {2}); }) == "sum_to: [2, 3] cannot be summed to [2]");
}

TEST_CASE("long sums are exact where they can be, and the same for any number of threads") {
  CHECK(sum(full({1 << 25}, 0.1)).item() == doctest::Approx((1 << 25) * 0.1).epsilon(1e-14));
  const Array x = normal({300, 1001}, 6), y = normal({100000}, 7);
  check_same_bits([&] { return concat({flatten(sum(x)), sum(x, 0), sum(x, 1), flatten(sum(y))}); });
}
