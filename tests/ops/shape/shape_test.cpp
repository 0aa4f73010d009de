// Operations that rearrange, repeat, choose and join: permutations and slices against their definitions, element by
// element, bad input. (Values and gradients: arrange_fixtures_test.cpp; of any number: extremes_test.cpp.)
#include <functional>
#include <limits>
#include <string>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

using Position = ShortList<std::int64_t>;

Real at(const Array& array, const Position& position) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < array.rank(); ++axis) offset = offset * array.dim(axis) + position[axis];
  return array.data()[offset];
}

// 0, 1, 2, ...
Array counting(const Shape& shape) { return to_real(arange(shape.numel())).value().reshaped(shape); }

// Whether `array` has this shape and at every position the value that `value` gives.
bool is(const Tensor& tensor, const Shape& shape, const std::function<Real(const Position&)>& value) {
  if (tensor.shape() != shape) return false;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    Position position = Position::filled(shape.rank(), 0);
    for (std::int64_t axis = shape.rank(), remaining = i; axis-- > 0;) {
      position[static_cast<int>(axis)] = remaining % shape[static_cast<int>(axis)];
      remaining /= shape[static_cast<int>(axis)];
    }
    if (tensor.value().data()[i] != value(position)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("flatten, squeeze and unsqueeze refuse axes that do not fit") {
  const Tensor x = counting({2, 1, 3, 1});
  CHECK_REFUSED(ShapeError, squeeze(x, {0}), "squeeze", "axis 0 of [2, 1, 3, 1]", "size 1");
  CHECK_REFUSED(ValueError, unsqueeze(x, 5), "unsqueeze", "axis 5", "rank 5");
  CHECK_REFUSED(ValueError, flatten(x, 2, 1), "flatten", "axis 2", "axis 1");
}

TEST_CASE("permute puts axis axes[i] at position i, for every shape and order") {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{17, 33}, Shape{64, 48}, Shape{1, 4, 1},
                             Shape{2, 0, 3}, Shape{5, 17, 18}, Shape{3, 10, 4, 8}, Shape{2, 3, 4, 5, 2}}) {
    CAPTURE(str(shape));
    const Array x = counting(shape);
    Axes axes = all_axes(shape.rank());
    do {
      Shape to;
      for (const int axis : axes) to.push_back(shape[axis]);
      const bool right = is(permute(Tensor(x), axes), to, [&](const Position& i) {
        Position from = i;
        for (int k = 0; k < axes.size(); ++k) from[axes[k]] = i[k];
        return at(x, from);
      });
      CHECK_MESSAGE(right, str(axes));
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
}

TEST_CASE("a large transpose and a large permute are right to the last element") {
  const Array x = counting({1031, 517});
  CHECK(is(transpose(x), {517, 1031}, [&](const Position& i) { return at(x, {i[1], i[0]}); }));
  const Array y = counting({12, 64, 4, 32});
  CHECK(is(transpose(y, 1, 2), {12, 4, 64, 32}, [&](const Position& i) { return at(y, {i[0], i[2], i[1], i[3]}); }));
  const Array z = counting({65, 3, 70, 9});
  CHECK(is(permute(z, {3, 1, 2, 0}), {9, 3, 70, 65}, [&](const Position& i) {
    return at(z, {i[3], i[1], i[2], i[0]});
  }));
}

TEST_CASE("transpose and permute refuse what is no permutation") {
  const Tensor x = counting({2, 3, 4});
  CHECK_REFUSED(ShapeError, transpose(counting({3})), "transpose", "at least 2 axes", "[3]");
  CHECK_REFUSED(ValueError, permute(x, {0, 0, 1}), "permute", "[0, 0, 1]", "axes of [2, 3, 4]");
  CHECK_REFUSED(ValueError, permute(x, {1, 0}), "permute", "[1, 0]", "axes of [2, 3, 4]");
  CHECK_REFUSED(ValueError, permute(x, {0, 1, 3}), "permute", "[0, 1, 3]", "axes of [2, 3, 4]");
  CHECK_REFUSED(ValueError, transpose(x, 0, 3), "transpose", "axis 3", "rank 3");
}

TEST_CASE("broadcast_to keeps an axis of -1") {
  const Array x = counting({3, 1});
  CHECK(is(broadcast_to(counting({4}), {3, -1}), {3, 4}, [](const Position& i) { return static_cast<Real>(i[1]); }));
  CHECK_REFUSED(ShapeError, broadcast_to(x, {-1, 3, 5, 3}), "broadcast_to", "[3, 1]", "become [-1, 3, 5, 3]");
}

TEST_CASE("brackets refuse what is not there") {
  const Tensor x = counting({1, 4});
  CHECK_REFUSED(ValueError, x[{3}], "slice", "index 3", "axis 0 of size 1");
  CHECK_REFUSED(ValueError, (x[{_, -5}]), "slice", "index -5", "axis 1 of size 4");
  CHECK_REFUSED(ValueError, (x[{0, 0, 0}]), "slice", "3 indices", "shape [1, 4]");
  CHECK_REFUSED(ValueError, (x[{_, slice(0, 3, 0)}]), "slice", "a step of 0");
  CHECK_REFUSED(ValueError, (x[{ellipsis, ellipsis}]), "slice", "more than one ellipsis");
  CHECK_REFUSED(ValueError, narrow(x, 1, 2, 3), "narrow", "start 2", "length 3", "axis of size 4");
  CHECK_REFUSED(ShapeError, place(x, {_, slice(0, 2)}, {1, 9}), "place", "[1, 4]", "part of shape [1, 2]");
}

TEST_CASE("concat may take a tensor twice, and concat and stack refuse what does not fit") {
  check_gradients(
      [](const Tensors& x) {
        return concat({x[0], x[1] * x[0], x[0]}, 1);
      },
      {normal({3, 5}), normal({3, 5})});
  CHECK_REFUSED(ValueError, concat({}), "concat", "at least 1");
  CHECK_REFUSED(ValueError, concat({Tensor(1), Tensor(2)}), "concat", "axis 0", "rank 0");
  CHECK_REFUSED(ValueError, stack({}), "stack", "at least 1");
}

TEST_CASE("split and chunk refuse what does not fit") {
  const Tensor x = counting({2, 5});
  CHECK_REFUSED(ShapeError, split(x, {2, 2}, 1), "split", "lengths [2, 2]", "size 5", "axis 1");
  CHECK_REFUSED(ShapeError, split(x, {4, 4}, 1), "split", "lengths [4, 4]", "size 5", "axis 1");
  CHECK_REFUSED(ValueError, split(x, {6, -1}, 1), "split", "negative length", "[6, -1]");
  CHECK_REFUSED(ValueError, chunk(x, 0), "chunk", "into 0 parts");
}

TEST_CASE("pad, flip, roll, repeat_interleave and tile refuse what does not fit") {
  const Array x({2, 2}, {1, 2, 3, 4}), y = counting({4, 5, 3});
  CHECK_REFUSED(ValueError, pad(x, {{1, 1}}), "pad", "1 {before, after} for axes of [2, 2]");
  CHECK_REFUSED(ValueError, pad(x, {{0, 0}, {2, -1}}), "pad", "negative padding -1", "axis 1");
  CHECK_THROWS_AS(pad(x, {{0, 0}, {std::numeric_limits<std::int64_t>::max(), 1}}), LimitError);
  CHECK_REFUSED(ValueError, flip(y, {1, -2}), "flip", "repeated axis", "[1, -2]");
  CHECK_REFUSED(ValueError, roll(y, {1, 2}, {0}), "roll", "2 shifts", "1 axes");
  CHECK_REFUSED(ValueError, roll(y, 1, 3), "roll", "axis 3", "rank 3");
  CHECK_REFUSED(ValueError, repeat_interleave(x, -1, 0), "repeat_interleave", "negative count -1");
  CHECK_REFUSED(ValueError, tile(x, {1, -2}), "tile", "negative count", "[1, -2]");
  CHECK_THROWS_AS(repeat_interleave(x, std::int64_t{1} << 62, 0), LimitError);
}

TEST_CASE("tril and triu keep no NaN on the other side, and take matrices alone") {
  const Array nan({2, 2}, std::numeric_limits<Real>::quiet_NaN());
  CHECK(tril(Tensor(nan)).value().at({0, 1}) == 0);
  CHECK_REFUSED(ShapeError, tril(Tensor(counting({3}))), "tril", "at least 2 axes", "[3]");
}

TEST_CASE("integers and booleans are arranged in the same way") {
  const Index ids({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(equal(ids[{_, slice(none, none, -2)}], Index({2, 2}, {3, 1, 6, 4})));
  CHECK(equal(transpose(ids), Index({3, 2}, {1, 4, 2, 5, 3, 6})));
  CHECK(equal(concat(std::vector{ids, ids[{slice(0, 1)}]}), Index({3, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3})));
  CHECK(equal(stack(std::vector{ids[{0}], ids[{1}]}, 1), transpose(ids)));
  CHECK(equal(concat({ids, ids[{slice(0, 1)}]}), Index({3, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3})));
  CHECK(equal(stack({ids[{0}], ids[{1}]}, 1), transpose(ids)));
  CHECK(equal(concat({ids < 2, ids > 5}, 1), Mask({2, 6}, {true, false, false, false, false, false,  //
                                                         false, false, false, false, false, true})));
  const Mask mask({2, 1}, {true, false});
  CHECK(equal(broadcast_to(mask, {2, 2}), Mask({2, 2}, {true, true, false, false})));
  const Mask large = tril(Mask({37, 41}, true));
  CHECK(equal(transpose(transpose(large)), large));
  CHECK(equal(permute(transpose(large), {1, 0}), large));
}

TEST_CASE("what only changes the shape copies no memory") {
  const Tensor x = counting({2, 1, 3, 4});
  CHECK(reshape(x, {24}).value().data() == x.value().data());
  CHECK(transpose(x, 0, 1).value().data() == x.value().data());
  CHECK(x[{_, new_axis}].value().data() == x.value().data());
  CHECK(x[{_, 0}].value().data() == x.value().data());
  CHECK(tile(x, {1, 1}).value().data() == x.value().data());
  CHECK(transpose(x).value().data() != x.value().data());
}

TEST_CASE("an operation with nothing to do gives a tensor of its own") {
  struct Call {
    const char* name;
    std::function<Tensor(const Tensor&)> f;
    bool shares = false;  // the numbers, for certain
  };
  const Call calls[] = {
      {"reshape", [](const Tensor& x) { return reshape(x, {2, 3}); }, true},
      {"flatten", [](const Tensor& x) { return flatten(x, 1, 1); }, true},
      {"unflatten", [](const Tensor& x) { return unflatten(x, 1, {3}); }, true},
      {"squeeze", [](const Tensor& x) { return squeeze(x); }, true},
      {"squeeze of no axis", [](const Tensor& x) { return squeeze(x, Axes{}); }, true},
      {"broadcast_to", [](const Tensor& x) { return broadcast_to(x, {2, 3}); }, true},
      {"tile", [](const Tensor& x) { return tile(x, {1, 1}); }, true},
      {"dropout", [](const Tensor& x) { return dropout(x, 0); }, true},
      {"brackets", [](const Tensor& x) { return x[{_, _}]; }},
      {"narrow", [](const Tensor& x) { return narrow(x, 0, 0, 2); }},
      {"split", [](const Tensor& x) { return split(x, 2)[0]; }},
      {"chunk", [](const Tensor& x) { return chunk(x, 1)[0]; }},
      {"pad", [](const Tensor& x) { return pad(x, {{}, {}}); }},
      {"pad by replication", [](const Tensor& x) { return pad(x, {{}, {}}, PadMode::replicate); }, true},
      {"permute", [](const Tensor& x) { return permute(x, {0, 1}); }},
      {"movedim", [](const Tensor& x) { return movedim(x, Axes{}, Axes{}); }},
      {"flip", [](const Tensor& x) { return flip(x, Axes{}); }},
      {"roll", [](const Tensor& x) { return roll(x, 0, 1); }},
      {"repeat_interleave", [](const Tensor& x) { return repeat_interleave(x, 1, 0); }},
      {"concat", [](const Tensor& x) { return concat({x}, 0); }},
      {"einsum", [](const Tensor& x) { return einsum("ij->ij", {x}); }},
      {"sum", [](const Tensor& x) { return sum(x, Axes{}); }},
      {"mean", [](const Tensor& x) { return mean(x, Axes{}); }},
      {"max", [](const Tensor& x) { return max(x, Axes{}); }},
      {"clamp", [](const Tensor& x) { return clamp(x, {.min = 0}); }},
      {"pow", [](const Tensor& x) { return pow(x, 1); }},
      {"masked_fill", [](const Tensor& x) { return masked_fill(x, Mask({2, 3}, false), 0); }},
      {"where", [](const Tensor& x) { return where(Mask({2, 3}, true), x, 0); }},
      {"index_add", [](const Tensor& x) { return index_add(x, 0, Index(Shape{0}), zeros({0, 3})); }},
      {"scatter", [](const Tensor& x) { return scatter(x, 0, Index(Shape{0, 3}), zeros({0, 3})); }},
      {"tril", [](const Tensor& x) { return tril(x, 5); }},
  };
  for (const Call& call : calls) {
    CAPTURE(std::string(call.name));
    const Tensor x = variable({{1, 2, 3}, {4, 5, 6}}, "x");
    const Tensor y = call.f(x);
    REQUIRE(y.shape() == Shape{2, 3});
    CHECK_FALSE(same(x, y));
    CHECK((!call.shares || x.value().data() == y.value().data()));
    y.named("y");
    CHECK(x.name() == "x");
    int seen = 0;
    y.on_grad([&](const Tensor&) {
      ++seen;
      return Tensor();
    });
    const Tensors g = grad(sum(x * 10 + y), {y, x});
    CHECK(seen == 1);
    CHECK(equal(g[0].value(), Array(Shape{2, 3}, Real(1))));
    CHECK(equal(g[1].value(), Array(Shape{2, 3}, Real(11))));
    const NoGrad off;
    CHECK_FALSE(call.f(x).requires_grad());
  }
}
