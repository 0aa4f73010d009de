// Writing by index, counting: what equal indices mean, edges, bad input. (Gradients: arrange_fixtures_test.cpp.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

namespace xgrad::testing {
namespace {

TEST_CASE("the gradients of weighted counts are those of differences") {
  check_gradients([](const Tensors& x) { return bincount(index({0, 2, 2, 0}), square(x[0])); }, {normal({4})});
}

TEST_CASE("scatter: of equal indices the last one stays, and gets the gradient") {
  const Tensor x = variable(zeros({3}).value()), src = variable(tensor({5, 6, 7}).value());
  const Tensor y = scatter(x, 0, index({1, 1, 2}), src);
  check_close(y.value(), tensor({0, 6, 7}).value());
  const Tensors g = grad(y, {x, src}, {.seed = tensor({1, 2, 3})});
  check_close(g[0].value(), tensor({1, 0, 0}).value());
  check_close(g[1].value(), tensor({0, 2, 3}).value());
  check_close(x.value(), zeros({3}).value());
}

TEST_CASE("index_add and scatter are the same for any number of threads") {
  const Tensor x = normal({50, 300}, 1), src = normal({4000, 300}, 2);
  const Index rows = randint(0, 50, {4000}, {.seed = 1, .draw = 0});
  check_same_bits([&] { return index_add(x, 0, rows, src); });
  const Index places = randint(0, 50, {50, 300}, {.seed = 2, .draw = 0});
  check_same_bits([&] { return scatter(x, 0, places, normal({50, 300}, 3)); });
}

TEST_CASE("negative indices count from the end, as those of x[ids], with the same gradients") {
  const Tensor x = variable(normal({3, 4}, 1)), src = variable(normal({2, 4}, 2));
  const Index list = index({-1, 1}), from_start = index({2, 1});
  const Index each = broadcast_to(list.reshaped({2, 1}), {2, 4}),
              each_from_start = broadcast_to(from_start.reshaped({2, 1}), {2, 4});
  const auto same = [&](const auto& f, const Index& negative, const Index& positive) {
    const Tensor y = f(negative), expected = f(positive);
    CHECK(equal(y.value(), expected.value()));
    const GradOptions seeded{.seed = normal(y.shape(), 3), .unused = Unused::zeros};
    const Tensors g = grad(y, {x, src}, seeded), g_expected = grad(expected, {x, src}, seeded);
    CHECK(equal(g[0].value(), g_expected[0].value()));
    CHECK(equal(g[1].value(), g_expected[1].value()));
  };
  same([&](const Index& ids) { return x[ids]; }, list, from_start);
  same([&](const Index& ids) { return index_select(x, 0, ids); }, list, from_start);
  same([&](const Index& ids) { return index_add(x, 0, ids, src); }, list, from_start);
  same([&](const Index& ids) { return gather(x, 0, ids); }, each, each_from_start);
  same([&](const Index& ids) { return scatter(x, 0, ids, src); }, each, each_from_start);
  same([&](const Index& ids) { return scatter(x, 0, ids, 7); }, each, each_from_start);
  same([&](const Index& ids) { return scatter_add(x, 0, ids, src); }, each, each_from_start);
  same([&](const Index& ids) { return take_along_dim(x, ids, 0); }, each, each_from_start);
  CHECK(equal(index_select(arange(3), 0, list), from_start));
  CHECK(take_along_dim(x, index({-1})).item() == x.value().data()[11]);
}

TEST_CASE("bad indices are refused, and nothing has changed") {
  const Tensor x = normal({2, 3});
  CHECK_REFUSED(ValueError, scatter(x, 1, index({{3}}), ones({1, 1})), "scatter", "index 3", "[-3, 3)");
  CHECK_REFUSED(ValueError, scatter(x, 1, index({{-4}}), 1), "scatter", "index -4", "[-3, 3)");
  CHECK_REFUSED(ShapeError, scatter(x, 1, index({{0}}), ones({2, 1})), "scatter", "index of shape [1, 1]",
                "source of shape [2, 1]");
  CHECK_REFUSED(ShapeError, scatter(x, 0, index({0}), 1), "scatter", "index of shape [1]", "shape [2, 3]");
  CHECK_REFUSED(ValueError, index_add(x, 0, index({2}), ones({1, 3})), "index_add", "index 2", "[-2, 2)");
  CHECK_REFUSED(ShapeError, index_add(x, 0, index({1}), ones({3})), "index_add", "source of shape [3]", "1 positions",
                "axis 0 of [2, 3]");
  CHECK_REFUSED(ShapeError, index_add(x, 0, index({{1}}), ones({1, 3})), "index_add", "needs one axis", "[1, 1]");
  CHECK_REFUSED(ShapeError, take_along_dim(x, index({0}), 0), "take_along_dim", "index of shape [1]", "shape [2, 3]");
  CHECK_REFUSED(ShapeError, take_along_dim(x, Index(Shape{1, 2}, 0), 0), "take_along_dim");
  CHECK_REFUSED(ValueError, take_along_dim(x, index({{2}}), 0), "take_along_dim", "index 2", "[-2, 2)");
  CHECK_REFUSED(ValueError, take_along_dim(x, index({6})), "take_along_dim", "index 6", "[-6, 6)");
  CHECK_REFUSED(ShapeError, repeat_interleave(x, index({1}), 0), "repeat_interleave", "counts of shape [1]",
                "axis 0 of [2, 3]");
  CHECK_REFUSED(ValueError, repeat_interleave(x, index({1, -1}), 0), "repeat_interleave", "negative count -1");
  check_close(x.value(), normal({2, 3}));
}

TEST_CASE("any, all and counts over axes") {
  const Mask mask({2, 3}, {true, false, false, true, true, true});
  CHECK(sum(tensor({0, not_a_number, -0.0, 2}) != 0).item() == 2);
  CHECK(!any(Mask(Shape{0}), 0).item());
  CHECK(all(Mask(Shape{0}), 0).item());
  CHECK(!any(Mask(Shape{0})));
  CHECK(all(Mask(Shape{0})));
  CHECK_REFUSED(ValueError, any(mask, 2), "any", "axis 2", "rank 2");
  CHECK_REFUSED(ValueError, all(mask, {0, 0}), "all", "repeated axis", "[0, 0]");
}

TEST_CASE("nonzero lists positions") {
  CHECK(equal(nonzero(tensor({{0, 2}, {not_a_number, 0}})), index({{0, 1}, {1, 0}})));
  CHECK(nonzero(Tensor(3)).shape() == Shape{1, 0});
  CHECK(nonzero(Tensor(0)).shape() == Shape{0, 0});
}

TEST_CASE("distinct numbers: NaN is one, -0 is 0") {
  const Unique<Real> found = unique(tensor({{not_a_number, 0.0, 2}, {-0.0, not_a_number, -infinity}}));
  check_close(found.values, tensor({-infinity, 0, 2, not_a_number}).value());
  CHECK(!std::signbit(found.values.data()[1]));
  CHECK(equal(found.inverse, index({{3, 1, 2}, {1, 3, 0}})));
  CHECK(equal(found.counts, index({1, 2, 1, 2})));
  const Index numbers = randint(-5, 5, {7, 11}, {.seed = 1, .draw = 2});
  const Unique<std::int64_t> whole = unique(numbers);
  CHECK(equal(index_select(whole.values, 0, whole.inverse.reshaped({-1})), numbers.reshaped({-1})));
  CHECK(sum(whole.counts).item() == 77);
  CHECK(unique(Index(Shape{0, 3})).inverse.shape() == Shape{0, 3});
}

TEST_CASE("counts refuse what they cannot count") {
  CHECK_REFUSED(ShapeError, bincount(index({{1}})), "bincount", "needs one axis", "[1, 1]");
  CHECK_REFUSED(ValueError, bincount(index({1, -2})), "bincount", "negative number -2");
  CHECK_REFUSED(ValueError, bincount(index({1}), {.minlength = -1}), "bincount", "minlength is -1");
  CHECK_REFUSED(ShapeError, bincount(index({1}), ones({2})), "bincount", "weights of shape [2]", "list of shape [1]");
  error_of<LimitError>([] { bincount(index({std::numeric_limits<std::int64_t>::max()})); });
}

}  // namespace
}  // namespace xgrad::testing
