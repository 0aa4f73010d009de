// Choosing by index and by mask: gradients of what is chosen twice or not at all, threads, bad input. (Values:
// arrange_fixtures_test.cpp and random_cases_test.cpp; orders: lines_test.cpp.)
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

const Array x34({3, 4}, {3, 1, 2, 5, 0, -1, 7, 2, 4, 4, 6, -2});

}  // namespace

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
  const Index ids = randint(0, 50, {64, 100}, {.seed = 1, .draw = 0});
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
  CHECK_REFUSED(ValueError, embedding(weight, Index({2}, {3, 10})), "embedding", "index 10", "[0, 10)");
  CHECK_REFUSED(ValueError, embedding(weight, Index({1}, {-1})), "embedding", "index -1", "[0, 10)");
  CHECK_REFUSED(ValueError, embedding(weight, Index({1}, {1}), {.padding_idx = 10}), "embedding", "padding_idx 10",
                "[-10, 10)");
  CHECK_THROWS_AS(embedding(weight, Index({1}, {1}), {.padding_idx = -11}), ValueError);
  CHECK_REFUSED(ShapeError, embedding(Tensor(normal({4})), Index({1}, {0})), "embedding", "needs two axes", "[4]");
  CHECK_REFUSED(ValueError, embedding(Tensor(Array(Shape{0, 3})), Index({1}, {0})), "embedding", "index 0", "[0, 0)");
}

TEST_CASE("index_select takes integers and masks, too, and refuses what is not there") {
  CHECK(equal(index_select(Index({2, 2}, {1, 2, 3, 4}), 1, Index({1}, {1})), Index({2, 1}, {2, 4})));
  CHECK(equal(index_select(Mask({2}, {true, false}), 0, Index({3}, {1, 0, 1})), Mask({3}, {false, true, false})));
  CHECK_REFUSED(ValueError, index_select(x34, 0, Index({1}, {3})), "index_select", "index 3", "[-3, 3)");
  CHECK_REFUSED(ShapeError, index_select(x34, 0, Index({1, 1}, {0})), "index_select", "needs one axis", "[1, 1]");
}

TEST_CASE("gather picks one element each from a large array") {
  const Array x = normal({3, 70, 150});
  const Index index = randint(0, 70, {2, 9, 140}, {.seed = 3, .draw = 0});
  const Array y = gather(x, 1, index).value();
  bool right = true;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 9; ++j) {
      for (std::int64_t k = 0; k < 140; ++k) right &= y.at({i, j, k}) == x.at({i, index.at({i, j, k}), k});
    }
  }
  CHECK(right);
}

TEST_CASE("scatter_add is the same for any number of threads") {
  check_same_bits([] {
    const Index index = randint(0, 5, {300, 100}, {.seed = 4, .draw = 0});
    return scatter_add(Array({5, 100}, Real(0)), 0, index, normal({300, 100})).value();
  });
}

TEST_CASE("gather and scatter_add refuse what does not fit") {
  CHECK_REFUSED(ValueError, gather(x34, 1, Index({1, 1}, {4})), "gather", "index 4", "[-4, 4)");
  CHECK_REFUSED(ValueError, gather(x34, 1, Index({1, 1}, {-5})), "gather", "index -5", "[-4, 4)");
  CHECK_REFUSED(ShapeError, gather(x34, 1, Index({4, 1}, std::int64_t{0})), "gather", "larger than [3, 4]", "axis 0");
  CHECK_REFUSED(ValueError, gather(x34, 2, Index({1, 1}, {0})), "gather", "axis 2", "rank 2");
  CHECK_REFUSED(ShapeError, gather(x34, 0, Index({1}, {0})), "gather", "index of shape [1]", "shape [3, 4]");
  CHECK_REFUSED(ShapeError, gather(x34, 0, Index({1, 5}, std::int64_t{0})), "gather", "index of shape [1, 5]", "[3, 4]",
                "axis 1");
  CHECK_REFUSED(ShapeError, scatter_add(x34, 0, Index({1, 2}, {0, 0}), Array({1, 3}, Real(0))), "scatter_add",
                "index of shape [1, 2]", "source of shape [1, 3]");
  CHECK_REFUSED(ValueError, scatter_add(x34, 0, Index({1, 1}, {7}), Array({1, 1}, Real(0))), "scatter_add", "index 7",
                "[-3, 3)");
}

TEST_CASE("one_hot refuses what is no class") {
  const Index ids({2, 2}, {2, 0, 1, 2});
  CHECK_REFUSED(ValueError, one_hot(ids, 2), "one_hot", "index 2", "[0, 2)");
  CHECK_REFUSED(ValueError, one_hot(Index({1}, {-4}), 2), "one_hot", "index -4", "[0, 2)");
}

TEST_CASE("masked_fill replaces NaN, also in gradients") {
  const Mask mask({2, 1, 3}, {true, false, false, false, false, true});
  CHECK(equal(masked_fill(Array({2, 2}, not_a_number), Mask({2, 1}, {true, true}), 0).value(), Array({2, 2}, Real(0))));
  CHECK(equal(masked_fill(Tensor(1), Mask({}, {true}), 2).value(), Array({}, {2})));
  const Tensor leaf = variable(Array({2}, {1, 2}));
  const Array g =
      grad(masked_fill(leaf, Mask({2}, {true, false}), 0), {leaf}, {.seed = Array({2}, {not_a_number, 3})})[0].value();
  CHECK(equal(g, Array({2}, {0, 3})));
  CHECK_REFUSED(ShapeError, masked_fill(Tensor(1), mask, 0), "masked_fill", "mask of shape [2, 1, 3]", "[]");
}

TEST_CASE("flatnonzero lists positions, and masks that do not fit say what would") {
  CHECK(equal(flatnonzero(mask({{false, true}, {true, false}})), Index({2}, {1, 2})));
  CHECK_REFUSED(ShapeError, masked_select(x34, Mask({3}, true)), "masked_select", "mask of shape [3]", "[3, 4]",
                "fit as [3, 1]");
  CHECK_REFUSED(ShapeError, masked_fill(normal({4, 4, 5, 5}), Mask({4, 5}, true), 0), "masked_fill",
                "mask of shape [4, 5]", "[4, 4, 5, 5]", "fit as [4, 1, 1, 5]");
}

TEST_CASE("sort and topk refuse what is not there") {
  CHECK_REFUSED(ValueError, sort(x34, 2), "sort", "axis 2", "rank 2");
  CHECK_REFUSED(ValueError, topk(x34, 5), "topk", "k = 5 of 4");
  CHECK_REFUSED(ValueError, topk(x34, -1), "topk", "k = -1 of 4");
}

TEST_CASE("masks combine in the letters of C++ and of numpy, with broadcasting, and are compared") {
  const Mask a({2, 1}, {true, false}), b({3}, {true, false, true}), pair({2}, true);
  CHECK(equal(a && b, Mask({2, 3}, {true, false, true, false, false, false})));
  CHECK(equal(a || b, Mask({2, 3}, {true, true, true, true, false, true})));
  CHECK(equal(!b, Mask({3}, {false, true, false})));
  CHECK(any(a));
  CHECK_FALSE(all(a));
  CHECK(equal(a & b, a && b));
  CHECK(equal(a | b, a || b));
  CHECK(equal(~b, !b));
  CHECK(equal(a ^ b, Mask({2, 3}, {false, true, false, true, false, true})));
  CHECK(equal(a != b, a ^ b));
  CHECK(equal(a == b, !(a ^ b)));
  CHECK_REFUSED(ShapeError, b && pair, "logical_and", "[3]", "[2]");
  CHECK_REFUSED(ShapeError, b & pair, "logical_and", "[3]", "[2]");
  CHECK_REFUSED(ShapeError, b | pair, "logical_or", "[3]", "[2]");
  CHECK_REFUSED(ShapeError, b ^ pair, "logical_xor", "[3]", "[2]");
  CHECK_REFUSED(ShapeError, (void)(b != pair), "logical_xor", "[3]", "[2]");
  CHECK_REFUSED(ShapeError, (void)(b == pair), "equal", "[3]", "[2]");
}

TEST_CASE("integers are compared, with broadcasting") {
  const Index positions({4}, {0, 1, 2, 3}), lengths({2, 1}, {3, 1});
  CHECK(equal(positions < lengths, Mask({2, 4}, {true, true, true, false, true, false, false, false})));
  CHECK(equal(positions >= lengths, !(positions < lengths)));
  CHECK(equal(positions == 2, Mask({4}, {false, false, true, false})));
  CHECK(equal(positions != 2, !(positions == 2)));
  CHECK(equal(positions <= 1, Mask({4}, {true, true, false, false})));
  CHECK(equal(positions > 1, !(positions <= 1)));
  CHECK(equal(positions <= lengths, (positions < lengths) || (positions == lengths)));
  const Index large = randint(0, 9, {33, 40}, {.seed = 5, .draw = 0});
  CHECK(std::ranges::count(large < 4, true) + std::ranges::count(large >= 4, true) == large.size());
}
