// Operations along lines of an array: running ones, orders, variances and sums of powers.
#include "support/lines.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("running sums and products of any lines are those of plain loops") { check_scans(); }
TEST_CASE("orders along any lines are those of a stable sort") { check_orders(); }
TEST_CASE("distinct numbers are those of plain loops") { check_distinct(); }

TEST_CASE("variances and sums of powers by kernels are those of operations, along any axes") {
  struct Case {
    Shape shape;
    Axes axes;
  };
  const Case cases[] = {{{5}, {0}},         {{1, 2}, {1}},     {{3, 7}, {1}},      {{3, 8}, {1}},      {{3, 17}, {0}},
                        {{70, 9}, {0}},     {{9, 70}, {0, 1}}, {{5, 6, 3}, {1}},   {{2, 9, 70}, {1}},  {{2, 3, 2, 5}, {0, 2}},
                        {{3, 2, 2, 9}, {0, 2, 3}}, {{600}, {0}},      {{2, 3, 40}, {1, 2}}};
  for (const Case& each : cases) {
    const Shape& shape = each.shape;
    const Axes& axes = each.axes;
    INFO(str(shape), " over ", str(axes));
    const KeepdimOptions keep{.keepdim = true};
    const auto centred = [axes, keep](const Tensor& x) { return x - mean(x, axes, keep); };
    const auto spread = [&, keep](const Tensor& x) { return mean(square(centred(x)), axes, keep); };
    check_fused([&](const Tensors& x) { return var(x[0], axes, {.keepdim = true, .correction = 0}); },
                [&](const Tensors& x) { return spread(x[0]); }, {normal(shape)});
    check_fused([&](const Tensors& x) { return stddev(x[0], axes, {.keepdim = true, .correction = 0}); },
                [&](const Tensors& x) { return sqrt(spread(x[0])); }, {normal(shape)}, 1e-12,
                shape.numel() == 2 ? 1 : 0);  // the deviation of two numbers has no curvature: terms of about 1 cancel
    check_fused([&](const Tensors& x) { return logsumexp(x[0], axes, keep); },
                [&](const Tensors& x) { return log(sum(exp(x[0]), axes, keep)); }, {normal(shape)});
  }
}

TEST_CASE("a sum of powers with infinities has PyTorch's gradient: NaN at +inf, 0 elsewhere in its line, along any axis") {
  for (const int axis : {0, 1}) {
    Array x = normal({70, 66}, 2);
    x.mutable_data()[3 * 66 + 5] = infinity;
    for (std::int64_t i = 0; i < 66; ++i) x.mutable_data()[10 * 66 + i] = -infinity;
    const Tensor t = variable(x), y = logsumexp(t, axis);
    const Array gx = grad(sum(y), {t})[0].value();
    CHECK(y.value().data()[axis == 0 ? 5 : 3] == infinity);
    CHECK(gx.data()[10 * 66 + 7] == 0);
    for (std::int64_t i = 0; i < gx.size(); ++i) CHECK((gx.data()[i] != gx.data()[i]) == (i == 3 * 66 + 5));
    CHECK((axis == 0) == (gx.data()[3 * 66 + 6] != 0));
  }
}

TEST_CASE("what goes along lines has the same bits for any number of threads") {
  const Tensor x(normal({300, 400})), long_line(normal({100000}));
  for (const int axis : {0, 1}) {
    check_same_bits([&] { return var(x, axis); });
    check_same_bits([&] { return logsumexp(x, axis); });
    check_same_bits([&] { return stack({cumsum(x, axis), cumprod(x, axis), sort(x, axis).values}); });
    check_same_bits([&] { return concat({max(x, axis).values, median(x, axis).values}); });
    check_same_bits([&] {
      const Tensor t = variable(x.value());
      return grad(sum(square(var(t, axis) + logsumexp(t, axis))), {t})[0];
    });
  }
  check_same_bits([&] { return var(long_line); });
  check_same_bits([&] { return logsumexp(long_line); });
}
