// Choosing by index and by mask, sorting: literals from PyTorch, definitions element by element, gradients.
#include <xgrad/ops/arrange/index.h>
#include <xgrad/ops/arrange/sort.h>
#include <xgrad/ops/elementwise/compare.h>

#include <doctest/doctest.h>

#include <limits>

#include <xgrad/ops/arrange/broadcast.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/elementwise/arithmetic.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

const Array x34({3, 4}, {3, 1, 2, 5, 0, -1, 7, 2, 4, 4, 6, -2});

}  // namespace

TEST_CASE("embedding takes rows of the table, ids of any shape") {
  const Tensor weight = x34;
  const Tensor y = embedding(weight, Index({2, 2}, {2, 0, 1, 2}));
  CHECK(equal(y.value(), Array({2, 2, 4}, {4, 4, 6, -2, 3, 1, 2, 5, 0, -1, 7, 2, 4, 4, 6, -2})));
  CHECK(equal(embedding(weight, Index({}, {1})).value(), Array({4}, {0, -1, 7, 2})));
  CHECK(embedding(weight, Index({3, 0}, {})).shape() == Shape{3, 0, 4});
  CHECK(embedding(Tensor(Array(Shape{3, 0})), Index({2}, {0, 2})).shape() == Shape{2, 0});
  const Index ids({3, 3}, {0, 2, 2, 1, 0, 2, 2, 2, 0});
  for (const std::int64_t width : {1, 2, 8, 17, 64, 65, 130}) {
    CAPTURE(width);
    check_gradients([&](const Tensors& w) { return embedding(w[0] * w[0], ids); }, {normal({4, width})});
  }
}

TEST_CASE("rows of the table that are not used, and the padding row, get no gradient") {
  const Tensor weight = variable(x34);
  const Index ids({2, 3}, {0, 2, 2, 1, 0, 2});
  const Array seed = broadcast_to(Array({2, 3, 1}, {1, 2, 3, 4, 5, 6}), {2, 3, 4});
  const auto gradient = [&](const EmbeddingFuncOptions& options) {
    return grad(embedding(weight, ids, options), {weight}, {.seed = seed})[0].value();
  };
  CHECK(equal(gradient({}), Array({3, 4}, {6, 6, 6, 6, 4, 4, 4, 4, 11, 11, 11, 11})));
  CHECK(equal(gradient({.padding_idx = 0}), Array({3, 4}, {0, 0, 0, 0, 4, 4, 4, 4, 11, 11, 11, 11})));
  CHECK(equal(embedding(weight, ids, {.padding_idx = 0}).value(), embedding(weight, ids).value()));
  CHECK(equal(gradient({.padding_idx = -3}), gradient({.padding_idx = 0})));  // from the end
  CHECK(equal(gradient({.padding_idx = -1}), gradient({.padding_idx = 2})));
  CHECK(equal(gradient({.padding_idx = 2}), Array({3, 4}, {6, 6, 6, 6, 4, 4, 4, 4, 0, 0, 0, 0})));
  const Tensor y = embedding(weight, ids, {.padding_idx = 0});
  const Tensor v = variable(seed);
  const Tensor g = grad(y, {weight}, {.seed = v, .create_graph = true})[0];
  const Array back = grad(g, {v}, {.seed = Tensor(x34)})[0].value();  // the padding row passes nothing back either
  CHECK(equal(back, embedding(Tensor(Array({3, 4}, {0, 0, 0, 0, 0, -1, 7, 2, 4, 4, 6, -2})), ids).value()));
}

TEST_CASE("the gradient of a large embedding does not depend on the number of threads and adds every use") {
  const Index ids = random_integers(0, 50, {64, 100}, {.seed = 1, .draw = 0});
  const Array seed = normal({64, 100, 200});
  const auto gradient = [&] {
    const Tensor weight = variable(normal({50, 200}));
    return grad(embedding(weight, ids), {weight}, {.seed = seed})[0].value();
  };
  check_same_bits(gradient);
  Array expected({50, 200}, Real(0));
  Real* out = expected.mutable_data();
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    for (std::int64_t c = 0; c < 200; ++c) out[ids.data()[i] * 200 + c] += seed.data()[i * 200 + c];
  }
  CHECK(equal(gradient(), expected));
}

TEST_CASE("embedding refuses ids outside the table") {
  const Tensor weight = normal({10, 3});
  CHECK(error_of<ValueError>([&] {
          embedding(weight, Index({2}, {3, 10}));
        }) == "embedding: index 10 is not in [0, 10)");
  CHECK(error_of<ValueError>([&] { embedding(weight, Index({1}, {-1})); }) == "embedding: index -1 is not in [0, 10)");
  CHECK(error_of<ValueError>([&] { embedding(weight, Index({1}, {1}), {.padding_idx = 10}); }) ==
        "embedding: padding_idx 10 is not in [-10, 10)");
  CHECK_THROWS_AS(embedding(weight, Index({1}, {1}), {.padding_idx = -11}), ValueError);
  CHECK(error_of<ShapeError>([] { embedding(Tensor(normal({4})), Index({1}, {0})); }) ==
        "embedding: the table needs two axes, its shape is [4]");
  CHECK(error_of<ValueError>([] {
          embedding(Tensor(Array(Shape{0, 3})), Index({1}, {0}));
        }) == "embedding: index 0 is not in [0, 0)");
}

TEST_CASE("index_select takes positions along an axis") {
  CHECK(equal(index_select(x34, 0, Index({2}, {2, 2})).value(), Array({2, 4}, {4, 4, 6, -2, 4, 4, 6, -2})));
  CHECK(equal(index_select(x34, -1, Index({3}, {3, 0, 3})).value(), Array({3, 3}, {5, 3, 5, 2, 0, 2, -2, 4, -2})));
  CHECK(index_select(x34, 1, Index({0}, {})).shape() == Shape{3, 0});
  CHECK(equal(index_select(Index({2, 2}, {1, 2, 3, 4}), 1, Index({1}, {1})), Index({2, 1}, {2, 4})));
  CHECK(equal(index_select(Mask({2}, {true, false}), 0, Index({3}, {1, 0, 1})), Mask({3}, {false, true, false})));
  for (const int axis : {0, 1, 2}) {
    check_gradients(
        [&](const Tensors& x) {
          return index_select(x[0] * x[0], axis, Index({4}, {1, 0, 1, 1}));
        },
        {normal({2, 3, 2})});
  }
  check_gradients(
      [](const Tensors& x) {
        return transpose(index_select(x[0], 1, Index({3}, {4, 4, 1})));
      },
      {normal({3, 5})});
  CHECK(error_of<ValueError>([] { index_select(x34, 0, Index({1}, {3})); }) ==
        "index_select: index 3 is not in [-3, 3)");
  CHECK(error_of<ShapeError>([] {
          index_select(x34, 0, Index({1, 1}, {0}));
        }) == "index_select: the index needs one axis, its shape is [1, 1]");
}

TEST_CASE("gather picks one element each") {
  CHECK(equal(gather(x34, 1, Index({2, 2}, {2, 0, 1, 1})).value(), Array({2, 2}, {2, 3, -1, -1})));
  const Index rows({4, 3}, {2, 0, 1, 1, 1, 2, 0, 0, 0, 2, 2, 2});
  CHECK(equal(gather(x34, 0, rows).value(), Array({4, 3}, {4, 1, 7, 0, -1, 6, 3, 1, 2, 4, 4, 6})));
  CHECK(gather(x34, 1, Index({3, 0}, {})).shape() == Shape{3, 0});
  CHECK(equal(gather(Array({3}, {7, 8, 9}), 0, Index({2}, {2, 0})).value(), Array({2}, {9, 7})));
  const Array x = normal({3, 70, 150});
  const Index index = random_integers(0, 70, {2, 9, 140}, {.seed = 3, .draw = 0});
  const Array y = gather(x, 1, index).value();
  bool right = true;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 9; ++j) {
      for (std::int64_t k = 0; k < 140; ++k) right &= y.at({i, j, k}) == x.at({i, index.at({i, j, k}), k});
    }
  }
  CHECK(right);
  check_gradients([&](const Tensors& x) { return gather(x[0] * x[0], 0, rows); }, {normal({3, 4})});
  check_gradients([](const Tensors& x) { return gather(x[0], -1, Index({3, 1}, {4, 0, 4})); }, {normal({3, 5})});
  check_gradients(
      [](const Tensors& x) {
        return gather(x[0], 1, Index({1, 3, 2}, {1, 1, 0, 1, 1, 0}));
      },
      {normal({2, 2, 3})});
}

TEST_CASE("scatter_add adds at the named positions") {
  const Index rows({4, 3}, {2, 0, 1, 1, 1, 2, 0, 0, 0, 2, 2, 2});
  const Array src({4, 3}, {10, 20, 30, 1, 2, 3, 100, 200, 300, 7, 8, 9});
  CHECK(equal(scatter_add(Array({3, 4}, Real(0)), 0, rows, src).value(),
              Array({3, 4}, {100, 220, 300, 0, 1, 2, 30, 0, 17, 8, 12, 0})));
  CHECK(equal(scatter_add(x34, 1, Index({2, 2}, {2, 0, 1, 1}), Array({2, 2}, {10, 20, 1, 2})).value(),
              Array({3, 4}, {23, 1, 12, 5, 0, 2, 7, 2, 4, 4, 6, -2})));
  CHECK(equal(scatter_add(x34, 0, Index({0, 4}, {}), Array(Shape{0, 4})).value(), x34));
  check_gradients([&](const Tensors& x) { return scatter_add(x[0] * x[0], 0, rows, x[1] * x[1]); },
                  {normal({3, 4}), normal({4, 3}, 2)});
  check_gradients(
      [](const Tensors& x) {
        return scatter_add(x[0], 1, Index({2, 2}, {0, 0, 1, 1}), x[0]);
      },
      {normal({2, 2})});
  check_same_bits([] {
    const Index index = random_integers(0, 5, {300, 100}, {.seed = 4, .draw = 0});
    return scatter_add(Array({5, 100}, Real(0)), 0, index, normal({300, 100})).value();
  });
}

TEST_CASE("gather and scatter_add refuse what does not fit") {
  CHECK(error_of<ValueError>([] { gather(x34, 1, Index({1, 1}, {4})); }) == "gather: index 4 is not in [-4, 4)");
  CHECK(error_of<ValueError>([] { gather(x34, 1, Index({1, 1}, {-5})); }) == "gather: index -5 is not in [-4, 4)");
  CHECK(error_of<ValueError>([] {
          gather(x34, 2, Index({1, 1}, {0}));
        }) == "gather: axis 2 is out of range for rank 2");
  CHECK(error_of<ShapeError>([] { gather(x34, 0, Index({1}, {0})); }) == "gather: index of shape [1] for shape [3, 4]");
  CHECK(error_of<ShapeError>([] {
          gather(x34, 0, Index({1, 5}, std::int64_t{0}));
        }) == "gather: index of shape [1, 5] is larger than [3, 4] along axis 1");
  CHECK(error_of<ShapeError>([] {
          scatter_add(x34, 0, Index({1, 2}, {0, 0}), Array({1, 3}, Real(0)));
        }) == "scatter_add: index of shape [1, 2] for a source of shape [1, 3]");
  CHECK(error_of<ValueError>([] {
          scatter_add(x34, 0, Index({1, 1}, {7}), Array({1, 1}, Real(0)));
        }) == "scatter_add: index 7 is not in [-3, 3)");
}

TEST_CASE("one_hot marks the class, and times a table it is an embedding") {
  const Index ids({2, 2}, {2, 0, 1, 2});
  CHECK(equal(one_hot(ids, 3), Array({2, 2, 3}, {0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1})));
  CHECK(one_hot(Index({0}, {}), 0).shape() == Shape{0, 0});
  const Tensor product = sum_to(unsqueeze(Tensor(one_hot(ids, 3)), -1) * Tensor(x34), {2, 2, 1, 4});
  CHECK(equal(product.value().reshaped({2, 2, 4}), embedding(Tensor(x34), ids).value()));
  CHECK(error_of<ValueError>([&] { one_hot(ids, 2); }) == "one_hot: index 2 is not in [0, 2)");
  CHECK(error_of<ValueError>([] { one_hot(Index({1}, {-4}), 2); }) == "one_hot: index -4 is not in [0, 2)");
}

TEST_CASE("masked_fill replaces where the mask is true, also NaN") {
  const Mask mask({2, 1, 3}, {true, false, false, false, false, true});
  const Array x = normal({2, 2, 3});
  const Array y = masked_fill(x, mask, -7).value();
  bool right = true;
  for (std::int64_t i = 0; i < x.size(); ++i)
    right &= y.data()[i] == (mask.data()[i / 6 * 3 + i % 3] ? -7 : x.data()[i]);
  CHECK(right);
  CHECK(equal(masked_fill(Array({2, 2}, not_a_number), Mask({2, 1}, {true, true}), 0).value(), Array({2, 2}, Real(0))));
  CHECK(equal(masked_fill(Tensor(1), Mask({}, {true}), 2).value(), Array({}, {2})));
  CHECK(masked_fill(Array(Shape{0, 3}), Mask({3}, true), 2).shape() == Shape{0, 3});
  check_gradients([&](const Tensors& x) { return masked_fill(x[0] * x[0], mask, 5); }, {normal({2, 2, 3})});
  check_gradients(
      [](const Tensors& x) {
        return masked_fill(x[0], Mask({5, 1}, {true, false, true, false, false}), 1);
      },
      {normal({3, 5, 2})});
  const Tensor leaf = variable(Array({2}, {1, 2}));
  const Array g =
      grad(masked_fill(leaf, Mask({2}, {true, false}), 0), {leaf}, {.seed = Array({2}, {not_a_number, 3})})[0].value();
  CHECK(equal(g, Array({2}, {0, 3})));
  CHECK(error_of<ShapeError>([&] { masked_fill(Tensor(1), mask, 0); }) ==
        "masked_fill: mask of shape [2, 1, 3] does not broadcast to []");
}

TEST_CASE("masked_select lists what the mask chooses") {
  CHECK(equal(masked_select(x34, Tensor(x34) > Tensor(3)).value(), Array({5}, {5, 7, 4, 4, 6})));
  CHECK(equal(masked_select(x34, Mask({3, 1}, {false, true, false})).value(), Array({4}, {0, -1, 7, 2})));
  CHECK(masked_select(x34, Mask({}, {false})).shape() == Shape{0});
  CHECK(equal(flatnonzero(Mask({2, 2}, {false, true, true, false})), Index({2}, {1, 2})));
  check_gradients(
      [](const Tensors& x) {
        return masked_select(x[0], Mask({5}, {true, false, false, true, true}));
      },
      {normal({3, 5})});
  CHECK(error_of<ShapeError>([] { masked_select(x34, Mask({3}, true)); }) ==
        "masked_select: mask of shape [3] does not broadcast to [3, 4]; [3] would fit as [3, 1]");
  CHECK(error_of<ShapeError>([] { masked_fill(normal({4, 4, 5, 5}), Mask({4, 5}, true), 0); }) ==
        "masked_fill: mask of shape [4, 5] does not broadcast to [4, 4, 5, 5]; for the keys of each sequence it would fit "
        "as [4, 1, 1, 5]");
}

TEST_CASE("sort is stable and puts NaN last") {
  const Array y({1, 6}, {2, not_a_number, 2, -1, 5, 2});
  CHECK(equal(sort(y).indices, Index({1, 6}, {3, 0, 2, 5, 4, 1})));
  CHECK(equal(argsort(Array({4}, {Real(0), Real(-0.0), Real(0), -std::numeric_limits<Real>::infinity()})),
              Index({4}, {3, 0, 1, 2})));
  CHECK(equal(argsort(y, {.descending = true}), Index({1, 6}, {1, 4, 0, 2, 5, 3})));
  CHECK(equal(sort(x34, {.axis = 0}).values.value(), Array({3, 4}, {0, -1, 2, -2, 3, 1, 6, 2, 4, 4, 7, 5})));
  CHECK(sort(Array(Shape{0, 3})).values.shape() == Shape{0, 3});
  CHECK(sort(Array(Shape{3, 0})).values.shape() == Shape{3, 0});
  const Array large = normal({7, 1000});
  const Array sorted = sort(large, {.descending = true}).values.value();
  for (std::int64_t row = 0; row < 7; ++row) {
    CHECK(std::is_sorted(sorted.data() + row * 1000, sorted.data() + (row + 1) * 1000, std::greater()));
    CHECK(std::is_permutation(sorted.data() + row * 1000, sorted.data() + (row + 1) * 1000, large.data() + row * 1000));
  }
  check_gradients([](const Tensors& x) { return sort(x[0] * x[0], {.axis = 0}).values; }, {normal({3, 5})});
  CHECK(error_of<ValueError>([] { sort(x34, {.axis = 2}); }) == "sort: axis 2 is out of range for rank 2");
}

TEST_CASE("topk finds the most extreme elements in order") {
  const Sorted top = topk(x34, 2);
  CHECK(equal(top.values.value(), Array({3, 2}, {5, 3, 7, 2, 6, 4})));
  CHECK(equal(top.indices, Index({3, 2}, {3, 0, 2, 3, 2, 0})));
  const Sorted least = topk(x34, 2, {.axis = 0, .largest = false});
  CHECK(equal(least.values.value(), Array({2, 4}, {0, -1, 2, -2, 3, 1, 6, 2})));
  CHECK(equal(least.indices, Index({2, 4}, {1, 1, 0, 2, 0, 0, 2, 1})));
  CHECK(equal(topk(Array({6}, {2, not_a_number, 2, -1, 5, 2}), 2).indices, Index({2}, {1, 4})));
  CHECK(equal(topk(Array({6}, {2, not_a_number, 2, -1, 5, 2}), 2, {.largest = false}).indices, Index({2}, {3, 0})));
  CHECK(topk(x34, 0).values.shape() == Shape{3, 0});
  CHECK(equal(topk(x34, 4).values.value(), sort(x34, {.descending = true}).values.value()));
  check_gradients([](const Tensors& x) { return topk(x[0] * x[0], 2).values; }, {normal({3, 5})});
  CHECK(error_of<ValueError>([] { topk(x34, 5); }) == "topk: k = 5 of 4");
  CHECK(error_of<ValueError>([] { topk(x34, -1); }) == "topk: k = -1 of 4");
}

TEST_CASE("masks combine, with broadcasting") {
  const Mask a({2, 1}, {true, false}), b({3}, {true, false, true});
  CHECK(equal(a && b, Mask({2, 3}, {true, false, true, false, false, false})));
  CHECK(equal(a || b, Mask({2, 3}, {true, true, true, true, false, true})));
  CHECK(equal(!b, Mask({3}, {false, true, false})));
  CHECK(any(a));
  CHECK_FALSE(all(a));
  CHECK(all(Mask({0}, {})));
  CHECK_FALSE(any(Mask({0}, {})));
  CHECK(error_of<ShapeError>([&] { b&& Mask({2}, true); }) == "logical_and: cannot broadcast [3] with [2] at axis -1");
}

TEST_CASE("masks combine in the letters of numpy, too, and are compared") {
  const Mask a({2, 1}, {true, false}), b({3}, {true, false, true});
  CHECK(equal(a & b, a && b));
  CHECK(equal(a | b, a || b));
  CHECK(equal(~b, !b));
  CHECK(equal(a ^ b, Mask({2, 3}, {false, true, false, true, false, true})));
  CHECK(equal(a != b, a ^ b));
  CHECK(equal(a == b, !(a ^ b)));
  const auto refused = [&](const char* op, Mask (*f)(const Mask&, const Mask&)) {
    CHECK(error_of<ShapeError>([&] { f(b, Mask({2}, true)); }) ==
          cat(op, ": cannot broadcast [3] with [2] at axis -1"));
  };
  refused("logical_and", operator&);
  refused("logical_or", operator|);
  refused("logical_xor", operator^);
  refused("logical_xor", operator!=);
  refused("equal", operator==);
}

TEST_CASE("whole numbers are compared, with broadcasting") {
  const Index positions({4}, {0, 1, 2, 3}), lengths({2, 1}, {3, 1});
  CHECK(equal(positions < lengths, Mask({2, 4}, {true, true, true, false, true, false, false, false})));
  CHECK(equal(positions >= lengths, !(positions < lengths)));
  CHECK(equal(positions == 2, Mask({4}, {false, false, true, false})));
  CHECK(equal(positions != 2, !(positions == 2)));
  CHECK(equal(positions <= 1, Mask({4}, {true, true, false, false})));
  CHECK(equal(positions > 1, !(positions <= 1)));
  CHECK(equal(positions <= lengths, (positions < lengths) || (positions == lengths)));
  const Index large = random_integers(0, 9, {33, 40}, {.seed = 5, .draw = 0});
  CHECK(std::ranges::count(large < 4, true) + std::ranges::count(large >= 4, true) == large.size());
}
