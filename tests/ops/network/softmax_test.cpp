// Softmax and its kin: against formulas, composed forms and published values; extreme inputs.
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

Tensor composed_softmax(const Tensor& x, int axis) {
  const Tensor e = exp(x - max(x.detach(), Axes{axis}, {.keepdim = true}));
  return e / sum(e, axis, {.keepdim = true});
}

}  // namespace

TEST_CASE("softmax and log_softmax and their gradients of two orders equal their formulas for rows of any length") {
  // Around the width of every register: the last pack of a row is full or not.
  for (const std::int64_t n : {1, 2, 7, 8, 15, 16, 17, 33, 64, 65, 130}) {
    CAPTURE(n);
    const Array x = normal({3, n});
    check_fused([](const Tensors& in) { return softmax(in[0]); },
                [](const Tensors& in) { return composed_softmax(in[0], -1); }, {x});
    check_fused([](const Tensors& in) { return log_softmax(in[0]); },
                [](const Tensors& in) { return log(composed_softmax(in[0], -1)); }, {x});
  }
  CHECK_REFUSED(ValueError, softmax(Array({2, 3}, 0), 2), "softmax", "axis 2", "rank 2");
}

TEST_CASE("softmax of extreme logits is finite, log_softmax exact") {
  const Tensor large = softmax(tensor({1e30, -1e30, 1e30}));
  CHECK(equal(large.value(), Array({3}, {0.5, 0, 0.5})));
  CHECK(equal(softmax(tensor({-1e30, -1e30})).value(), Array({2}, {0.5, 0.5})));
  check_close(log_softmax(tensor({1000, 0})).value(), Array({2}, {0, -1000}));
  check_close(log_softmax(tensor({-1000, -1000})).value(), Array({2}, {-std::log(2.), -std::log(2.)}));

  CHECK(equal(softmax(Array({3}, -infinity)).value(), Array({3}, 0)));
  CHECK(equal(log_softmax(Array({3}, -infinity)).value(), Array({3}, -infinity)));
  CHECK(equal(softmax(tensor({0, -infinity, 0})).value(), Array({3}, {0.5, 0, 0.5})));
  for (const Real value : softmax(tensor({infinity, 5, -infinity})).value()) CHECK(std::isnan(value));
  for (const Real value : log_softmax(tensor({infinity, 5, -infinity})).value()) CHECK(std::isnan(value));

  for (const Real number : {-infinity, Real(1e30), Real(-1e30)}) {
    const Tensor x = variable(Array({2, 3}, number));
    CHECK(all(isfinite(grad(softmax(x), {x}, {.seed = ones({2, 3})})[0])));
    CHECK(all(isfinite(grad(log_softmax(x), {x}, {.seed = ones({2, 3})})[0])));
  }
}

TEST_CASE("masked softmax is softmax of the positions before a length and 0 past it, with gradients of two orders") {
  const auto check = [](const Shape& shape, const Index& lengths, const Shape& of_lengths) {
    const Mask valid = arange(shape.back()) < lengths.reshaped(of_lengths);
    check_fused([&](const Tensors& x) { return masked_softmax(x[0], lengths); },
                [&](const Tensors& x) { return where(valid, softmax(where(valid, x[0], -infinity)), 0); },
                {normal(shape)});
  };
  check({3, 4}, index({2, 0, 3}), {3, 1});
  check({3, 2, 2, 17}, index({2, 0, 3}), {3, 1, 1, 1});
  check({3, 3, 2, 4}, index({{1, 3}, {0, 4}, {2, 2}}), {3, 1, 2, 1});
}

TEST_CASE("what stands in masked places reaches neither the result nor a gradient") {
  const Array numbers = normal({2, 3, 4});
  Array spoilt = numbers;
  for (std::int64_t row = 0; row < 6; ++row) {
    spoilt.mutable_data()[row * 4 + 3] = row % 2 ? not_a_number : infinity;
    if (row < 3) spoilt.mutable_data()[row * 4 + 2] = -infinity;
  }
  const Index lengths = index({2, 3});
  const Tensor x = variable(numbers), z = variable(spoilt);
  CHECK(equal(masked_softmax(x, lengths).value(), masked_softmax(z, lengths).value()));
  for (const bool create_graph : {false, true}) {
    const Tensor v = spoilt;  // infinities and NaN in the upstream gradient of masked places
    const Tensor w = normal({2, 3, 4});
    CHECK(all(isfinite(grad(masked_softmax(z, lengths), {z}, {.seed = v, .create_graph = create_graph})[0])));
    CHECK(equal(grad(masked_softmax(z, lengths), {z}, {.seed = w, .create_graph = create_graph})[0].value(),
                grad(masked_softmax(x, lengths), {x}, {.seed = w, .create_graph = create_graph})[0].value()));
  }
}

TEST_CASE("masked softmax refuses lengths that do not fit") {
  const auto soft = [](const Shape& x, const Index& lengths) { masked_softmax(Array(x, 0), lengths); };
  CHECK_REFUSED(ShapeError, soft({2, 3, 4}, index({1, 2, 3})), "masked_softmax", "lengths [3]", "[2, 3, 4]");
  CHECK_REFUSED(ShapeError, soft({2, 3, 4}, index({{1, 2}, {1, 2}})), "masked_softmax", "lengths [2, 2]", "[2, 3, 4]");
  CHECK_REFUSED(ShapeError, soft({2, 4}, Index({2, 1}, 1)), "masked_softmax", "lengths [2, 1]", "[2, 4]");
  CHECK_REFUSED(ShapeError, soft({2, 4}, Index(Shape{}, 1)), "masked_softmax", "lengths []", "[2, 4]");
  CHECK_REFUSED(ShapeError, soft({4}, index({1})), "masked_softmax", "sequences", "[4]");
  CHECK_REFUSED(ValueError, soft({2, 4}, index({1, 5})), "masked_softmax", "length 5", "position 1", "[0, 4]");
  CHECK_REFUSED(ValueError, soft({2, 4}, index({-1, 2})), "masked_softmax", "length -1", "position 0", "[0, 4]");
}
