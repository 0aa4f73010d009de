// Operations that rearrange, repeat, choose and join: against their definitions, element by element, and literals from
// numpy, PyTorch and xtensor.
#include <xgrad/ops/arrange/broadcast.h>
#include <xgrad/ops/arrange/join.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/arrange/slice.h>

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/reduce/reduce.h>

#include "support/check.h"
#include "support/oracle.h"

using namespace xgrad;
using namespace xgrad::testing;
using oracle::counting;

namespace {

using Position = ShortList<std::int64_t>;

Real at(const Array& array, const Position& position) {
  std::int64_t offset = 0;
  for (int axis = 0; axis < array.rank(); ++axis) offset = offset * array.dim(axis) + position[axis];
  return array.data()[offset];
}

// Whether `array` has this shape and at every position the value that `value` gives.
bool is(const Tensor& tensor, const Shape& shape, const std::function<Real(const Position&)>& value) {
  if (tensor.shape() != shape) return false;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    Position position = Position::filled(shape.rank(), 0);
    for (std::int64_t axis = shape.rank(), rest = i; axis-- > 0;) {
      position[static_cast<int>(axis)] = rest % shape[static_cast<int>(axis)];
      rest /= shape[static_cast<int>(axis)];
    }
    if (tensor.value().data()[i] != value(position)) return false;
  }
  return true;
}

// Gradients of an operation that only moves elements, also with the upstream gradient arriving transposed.
void check_moves(const Function& f, const Shape& shape) {
  check_gradients(f, {normal(shape)});
  check_gradients([&](const Tensors& x) { return f({x[0] * x[0]}); }, {normal(shape)});
  if (f({Tensor(normal(shape))}).rank() >= 2) {
    check_gradients([&](const Tensors& x) { return transpose(f(x)); }, {normal(shape)});
  }
}

}  // namespace

TEST_CASE("reshape keeps elements, order and memory") {
  const Tensor x = counting({2, 6});
  CHECK(equal(reshape(x, {3, 4}).value(), counting({3, 4})));
  CHECK(equal(reshape(x, {-1, 2, 1}).value(), counting({6, 2, 1})));
  CHECK(reshape(x, {12}).value().data() == x.value().data());
  CHECK(same(reshape(x, {2, 6}), x));
  CHECK(reshape(Tensor(3), {1, 1}).shape() == Shape{1, 1});
  CHECK(reshape(counting({0, 3}), {3, 0, 5}).shape() == Shape{3, 0, 5});
  CHECK(reshape(counting({0, 3}), {-1, 3}).shape() == Shape{0, 3});
  check_moves([](const Tensors& x) { return reshape(x[0], {5, -1}); }, {3, 5});
}

TEST_CASE("reshape refuses what does not fit") {
  const Tensor x = counting({2, 3});
  CHECK(error_of<ShapeError>([&] {
          reshape(x, {4, -1});
        }) == "reshape: [2, 3] of 6 elements cannot become [4, -1]: they are not divisible by 4");
  CHECK(error_of<ShapeError>([&] { reshape(x, {5}); }) == "reshape: [2, 3] of 6 elements cannot become [5]");
  CHECK(error_of<ShapeError>([] {
          reshape(counting({0, 3}), {-1, 0});
        }) == "reshape: -1 is ambiguous next to a size of 0 in [-1, 0]");
  CHECK(error_of<ValueError>([&] { reshape(x, {-1, -1}); }) == "reshape: at most one -1 in [-1, -1]");
  CHECK(error_of<ValueError>([&] { reshape(x, {-2, 3}); }) == "reshape: negative size -2 in [-2, 3]");
  CHECK_THROWS_AS(reshape(x, {std::int64_t{1} << 62, 4}), LimitError);
}

TEST_CASE("flatten, squeeze and unsqueeze are reshapes with names") {
  const Tensor x = counting({2, 1, 3, 1});
  CHECK(equal(flatten(x).value(), counting({6})));
  CHECK(flatten(x, 1, -2).shape() == Shape{2, 3, 1});
  CHECK(flatten(Tensor(1)).shape() == Shape{1});
  CHECK(flatten(counting({0, 2, 3}), 1).shape() == Shape{0, 6});
  CHECK(squeeze(x).shape() == Shape{2, 3});
  CHECK(squeeze(x, {-1}).shape() == Shape{2, 1, 3});
  CHECK(squeeze(x, -1).shape() == Shape{2, 1, 3});
  CHECK(squeeze(x, {3, 1}).shape() == Shape{2, 3});
  CHECK(unsqueeze(x, 0).shape() == Shape{1, 2, 1, 3, 1});
  CHECK(unsqueeze(x, -1).shape() == Shape{2, 1, 3, 1, 1});
  CHECK(unsqueeze(Tensor(1), 0).shape() == Shape{1});
  check_moves([](const Tensors& x) { return unsqueeze(squeeze(flatten(x[0], 0, 1)), 1); }, {2, 3, 1, 2});

  CHECK(error_of<ShapeError>([&] { squeeze(x, {0}); }) == "squeeze: axis 0 of [2, 1, 3, 1] is not of size 1");
  CHECK(error_of<ValueError>([&] { unsqueeze(x, 5); }) == "unsqueeze: axis 5 is out of range for rank 5");
  CHECK(error_of<ValueError>([&] { flatten(x, 2, 1); }) == "flatten: axis 2 comes after axis 1");
}

TEST_CASE("permute puts axis axes[i] at position i, for every shape and order") {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5}, Shape{17, 33}, Shape{64, 48}, Shape{1, 4, 1},
                             Shape{2, 0, 3}, Shape{5, 17, 18}, Shape{3, 10, 4, 8}, Shape{2, 3, 4, 5, 2}}) {
    CAPTURE(cat(shape));
    const Array x = counting(shape);
    Axes axes = all_axes(shape.rank());
    do {
      CHECK_MESSAGE(equal(permute(x, axes), oracle::permute(x, axes)), cat(axes));
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

TEST_CASE("transpose exchanges two axes and returns when done twice") {
  const Tensor x = counting({2, 3, 4});
  CHECK(is(transpose(x), {2, 4, 3}, [&](const Position& i) { return at(x.value(), {i[0], i[2], i[1]}); }));
  CHECK(is(transpose(x, 0, -1), {4, 3, 2}, [&](const Position& i) { return at(x.value(), {i[2], i[1], i[0]}); }));
  CHECK(equal(transpose(transpose(x, 0, 2), 2, 0).value(), x.value()));
  check_moves([](const Tensors& x) { return transpose(x[0]); }, {3, 5});
  check_moves([](const Tensors& x) { return permute(x[0], {2, 0, -1, 1}); }, {2, 3, 1, 2});
  check_moves([](const Tensors& x) { return permute(x[0], {}); }, {});

  CHECK(error_of<ShapeError>([] { transpose(counting({3})); }) == "transpose: needs at least 2 axes, shape is [3]");
  CHECK(error_of<ValueError>([&] {
          permute(x, {0, 0, 1});
        }) == "permute: [0, 0, 1] is not a permutation of the axes of [2, 3, 4]");
  CHECK(error_of<ValueError>([&] {
          permute(x, {1, 0});
        }) == "permute: [1, 0] is not a permutation of the axes of [2, 3, 4]");
  CHECK(error_of<ValueError>([&] {
          permute(x, {0, 1, 3});
        }) == "permute: [0, 1, 3] is not a permutation of the axes of [2, 3, 4]");
  CHECK(error_of<ValueError>([&] { transpose(x, 0, 3); }) == "transpose: axis 3 is out of range for rank 3");
}

TEST_CASE("broadcast_to repeats along new axes and axes of size 1") {
  const Array x = counting({3, 1});
  CHECK(is(broadcast_to(x, {2, 3, 5}), {2, 3, 5}, [&](const Position& i) { return at(x, {i[1], 0}); }));
  CHECK(is(broadcast_to(Tensor(7), {17}), {17}, [](const Position&) { return Real(7); }));
  CHECK(is(broadcast_to(counting({4}), {3, -1}), {3, 4}, [](const Position& i) { return static_cast<Real>(i[1]); }));
  CHECK(broadcast_to(x, {3, 0}).shape() == Shape{3, 0});
  check_moves([](const Tensors& x) { return broadcast_to(x[0], {2, 3, 5}); }, {3, 1});
  check_moves([](const Tensors& x) { return broadcast_to(x[0], {2, 2}); }, {});
  CHECK(error_of<ShapeError>([&] { broadcast_to(x, {2, 5}); }) == "broadcast_to: [3, 1] cannot become [2, 5]");
  CHECK(error_of<ShapeError>([&] {
          broadcast_to(x, {-1, 3, 5, 3});
        }) == "broadcast_to: [3, 1] cannot become [-1, 3, 5, 3]");
}

TEST_CASE("ranges mean what they mean in numpy, for every start, stop and step") {
  const std::int64_t size = 5;
  const Array x = counting({size});
  for (std::int64_t start = -7; start <= 7; ++start) {
    for (std::int64_t stop = -7; stop <= 7; ++stop) {
      for (const std::int64_t step : {-7, -3, -2, -1, 1, 2, 3, 7}) {
        // The definition in the Python reference: indices, adjusted to the axis, then counted off.
        const auto adjusted = [&](std::int64_t i) {
          if (i < 0) i += size;
          return step > 0 ? std::min(std::max<std::int64_t>(i, 0), size)
                          : std::min(std::max<std::int64_t>(i, -1), size - 1);
        };
        std::vector<Real> expected;
        for (std::int64_t i = adjusted(start); step > 0 ? i < adjusted(stop) : i > adjusted(stop); i += step) {
          expected.push_back(static_cast<Real>(i));
        }
        CHECK_MESSAGE(equal(x.size() ? Tensor(x)[{slice(start, stop, step)}].value() : x,
                            Array({static_cast<std::int64_t>(expected.size())}, expected)),
                      start, ":", stop, ":", step);
      }
    }
  }
}

TEST_CASE("brackets choose positions, ranges and new axes") {
  const Array a = counting({4, 3, 6});
  const Tensor x = a;
  CHECK(is(x[{0, _, slice(1, 3)}], {3, 2}, [&](const Position& i) { return at(a, {0, i[0], i[1] + 1}); }));
  CHECK(is(x[{-1}], {3, 6}, [&](const Position& i) { return at(a, {3, i[0], i[1]}); }));
  CHECK(is(x[1], {3, 6}, [&](const Position& i) { return at(a, {1, i[0], i[1]}); }));
  CHECK(is(x[{_, 2}], {4, 6}, [&](const Position& i) { return at(a, {i[0], 2, i[1]}); }));
  CHECK(is(x[{_, _, slice(none, none, 2)}], {4, 3, 3}, [&](const Position& i) {
    return at(a, {i[0], i[1], 2 * i[2]});
  }));
  CHECK(is(x[{slice(none, none, -1), _, slice(-2, none)}], {4, 3, 2}, [&](const Position& i) {
    return at(a, {3 - i[0], i[1], 4 + i[2]});
  }));
  CHECK(is(x[{_, slice(none, none, -2)}], {4, 2, 6}, [&](const Position& i) {
    return at(a, {i[0], 2 - 2 * i[1], i[2]});
  }));
  CHECK(is(x[{ellipsis, 0}], {4, 3}, [&](const Position& i) { return at(a, {i[0], i[1], 0}); }));
  CHECK(is(x[{1, ellipsis, slice(5, none, -5)}], {3, 2}, [&](const Position& i) {
    return at(a, {1, i[0], 5 - 5 * i[1]});
  }));
  CHECK(is(x[{_, new_axis, 1}], {4, 1, 6}, [&](const Position& i) { return at(a, {i[0], 1, i[2]}); }));
  CHECK(x[{2, 1, 5}].item() == 2 * 18 + 6 + 5);
  CHECK(x[{slice(3, 1)}].shape() == Shape{0, 3, 6});
  CHECK(x[{ellipsis}].shape() == a.shape());
  CHECK(Tensor(5)[{ellipsis}].item() == 5);
  CHECK(Tensor(5)[{new_axis}].shape() == Shape{1});
}

TEST_CASE("gradients flow to the chosen part only, to any order") {
  check_moves([](const Tensors& x) { return x[0][{0, _, slice(1, 3)}]; }, {2, 3, 4});
  check_moves([](const Tensors& x) { return x[0][{slice(none, none, -1), slice(0, none, 2)}]; }, {3, 5});
  check_moves([](const Tensors& x) { return x[0][{1, 2}]; }, {3, 5});
  check_moves([](const Tensors& x) { return narrow(x[0], -1, 1, 3); }, {2, 1, 5});
  check_moves([](const Tensors& x) { return place(x[0], {slice(1, none, 2), _, new_axis, 1}, {7, 5, 3}); }, {3, 5, 1});
  const Tensor x = variable(counting({2, 2}));
  CHECK(equal(grad(sum_to(x[{1}], {}), {x})[0].value(), Array({2, 2}, {0, 0, 1, 1})));
}

TEST_CASE("brackets refuse what is not there") {
  const Tensor x = counting({1, 4});
  CHECK(error_of<ValueError>([&] { x[{3}]; }) == "slice: index 3 out of range for axis 0 of size 1");
  CHECK(error_of<ValueError>([&] { x[{_, -5}]; }) == "slice: index -5 out of range for axis 1 of size 4");
  CHECK(error_of<ValueError>([&] { x[{0, 0, 0}]; }) == "slice: 3 indices for shape [1, 4]");
  CHECK(error_of<ValueError>([&] { x[{_, slice(0, 3, 0)}]; }) == "slice: a step of 0");
  CHECK(error_of<ValueError>([&] { x[{ellipsis, ellipsis}]; }) == "slice: more than one ellipsis");
  CHECK(error_of<ValueError>([&] { narrow(x, 1, 2, 3); }) == "narrow: start 2, length 3 in an axis of size 4");
  CHECK(error_of<ShapeError>([&] { place(x, {_, slice(0, 2)}, {1, 9}); }) == "place: [1, 4] at a part of shape [1, 2]");
}

TEST_CASE("concat joins along an axis") {
  const Array a = counting({2, 3}), b = counting({2, 1}), c = counting({2, 0});
  CHECK(equal(concat({a, b, c, a}, 1).value(), Array({2, 7}, {0, 1, 2, 0, 0, 1, 2, 3, 4, 5, 1, 3, 4, 5})));
  CHECK(equal(concat({a, a}).value(), Array({4, 3}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5})));
  CHECK(concat({c, c}, -1).shape() == Shape{2, 0});
  CHECK(concat({c, c}, 0).shape() == Shape{4, 0});
  CHECK(equal(concat({a}, 0).value(), a));
  check_gradients(
      [](const Tensors& x) {
        return concat({x[0], x[1] * x[0], x[0]}, 1);
      },
      {normal({3, 5}), normal({3, 5})});
  check_gradients([](const Tensors& x) { return transpose(concat(x, -2)); }, {normal({2, 1, 2}), normal({2, 3, 2}, 2)});
  CHECK(error_of<ValueError>([] { concat({}); }) == "concat: needs at least 1 tensor");
  CHECK(error_of<ShapeError>([] {
          concat({counting({2, 3}), counting({2, 4})}, 0);
        }) == "concat: input 1 has shape [2, 4], input 0 has [2, 3], axis 0");
  CHECK(error_of<ValueError>([] { concat({Tensor(1), Tensor(2)}); }) == "concat: axis 0 is out of range for rank 0");
}

TEST_CASE("stack joins along a new axis") {
  const Array a = counting({2, 2}), b({2, 2}, {5, 6, 7, 8});
  CHECK(equal(stack({a, b}).value(), Array({2, 2, 2}, {0, 1, 2, 3, 5, 6, 7, 8})));
  CHECK(equal(stack({a, b}, 1).value(), Array({2, 2, 2}, {0, 1, 5, 6, 2, 3, 7, 8})));
  CHECK(equal(stack({a, b}, -1).value(), Array({2, 2, 2}, {0, 5, 1, 6, 2, 7, 3, 8})));
  CHECK(equal(stack({Tensor(1), Tensor(2)}).value(), Array({2}, {1, 2})));
  CHECK(stack({counting({0, 2})}, 1).shape() == Shape{0, 1, 2});
  check_gradients(
      [](const Tensors& x) {
        return stack({x[0], x[1] * x[0], x[0]}, 1);
      },
      {normal({3, 5}), normal({3, 5})});
  CHECK(error_of<ValueError>([] { stack({}); }) == "stack: needs at least 1 tensor");
  CHECK(error_of<ShapeError>([] {
          stack({counting({2}), counting({1, 2})});
        }) == "stack: input 1 has shape [1, 2], input 0 has [2]");
}

TEST_CASE("split and chunk cut along an axis, and concat undoes them") {
  const Tensor x = counting({2, 5});
  const Tensors parts = split(x, {1, 0, 4}, 1);
  REQUIRE(parts.size() == 3);
  CHECK(equal(parts[0].value(), Array({2, 1}, {0, 5})));
  CHECK(parts[1].shape() == Shape{2, 0});
  CHECK(equal(parts[2].value(), Array({2, 4}, {1, 2, 3, 4, 6, 7, 8, 9})));
  CHECK(equal(concat(parts, 1).value(), x.value()));
  std::vector<std::int64_t> sizes;
  for (const Tensor& part : chunk(x, 2, -1)) sizes.push_back(part.dim(1));  // torch.chunk: 3 and 2
  CHECK(sizes == std::vector<std::int64_t>{3, 2});
  CHECK(chunk(counting({6}), 4).size() == 3);  // torch.chunk: 2, 2, 2
  CHECK(chunk(counting({0, 2}), 3).size() == 3);
  check_gradients(
      [](const Tensors& x) {
        const Tensors parts = chunk(x[0], 3, 1);
        return parts[0] * parts[2] + parts[1];
      },
      {normal({2, 6})});
  CHECK(error_of<ShapeError>([&] { split(x, {2, 2}, 1); }) == "split: lengths [2, 2] do not make the size 5 of axis 1");
  CHECK(error_of<ShapeError>([&] { split(x, {4, 4}, 1); }) == "split: lengths [4, 4] do not make the size 5 of axis 1");
  CHECK(error_of<ValueError>([&] { split(x, {6, -1}, 1); }) == "split: negative length in [6, -1]");
  CHECK(error_of<ValueError>([&] { chunk(x, 0); }) == "chunk: into 0 parts");
}

TEST_CASE("pad puts a value around") {
  const Array x({2, 2}, {1, 2, 3, 4});
  CHECK(equal(pad(x, {{1, 0}, {0, 2}}, 7).value(), Array({3, 4}, {7, 7, 7, 7, 1, 2, 7, 7, 3, 4, 7, 7})));
  CHECK(equal(pad(counting({0}), {{2, 1}}).value(), Array({3}, {0, 0, 0})));
  CHECK(pad(Tensor(3), {}).item() == 3);
  check_moves([](const Tensors& x) { return pad(x[0], {{1, 2}, {0, 0}, {3, 1}}, -1); }, {2, 3, 1});
  CHECK(error_of<ValueError>([&] { pad(x, {{1, 1}}); }) == "pad: 1 paddings for shape [2, 2]");
  CHECK(error_of<ValueError>([&] { pad(x, {{0, 0}, {2, -1}}); }) == "pad: negative padding -1 of axis 1");
  CHECK_THROWS_AS(pad(x, {{0, 0}, {std::numeric_limits<std::int64_t>::max(), 1}}), LimitError);
}

TEST_CASE("flip turns axes round") {
  const Array x = counting({3, 4, 2});
  CHECK(is(flip(x, {1}), {3, 4, 2}, [&](const Position& i) { return at(x, {i[0], 3 - i[1], i[2]}); }));
  CHECK(is(flip(x, {-1, 0}), {3, 4, 2}, [&](const Position& i) { return at(x, {2 - i[0], i[1], 1 - i[2]}); }));
  CHECK(equal(flip(x, {}).value(), x));
  CHECK(equal(flip(x, 1).value(), flip(x, {1}).value()));
  CHECK(flip(counting({0, 3}), {0, 1}).shape() == Shape{0, 3});
  check_moves([](const Tensors& x) { return flip(x[0], {0, 1}); }, {3, 5});
  CHECK(error_of<ValueError>([&] { flip(x, {1, -2}); }) == "flip: repeated axis in [1, -2]");
}

TEST_CASE("roll moves around the end, and rolls back") {
  const Array x = counting({4, 5, 3});
  for (const std::int64_t shift : {-13, -4, -1, 0, 1, 2, 5, 9}) {
    CAPTURE(shift);
    CHECK(is(roll(x, shift, 1), {4, 5, 3}, [&](const Position& i) {
      return at(x, {i[0], ((i[1] - shift) % 5 + 5) % 5, i[2]});
    }));
    CHECK(equal(roll(roll(Tensor(x), shift, 0), -shift, 0).value(), x));
  }
  CHECK(is(roll(x, {-3, 1}, {0, -1}), {4, 5, 3}, [&](const Position& i) {
    return at(x, {(i[0] + 3) % 4, i[1], (i[2] + 2) % 3});
  }));
  CHECK(equal(roll(x, {1, 1}, {0, 0}).value(), roll(x, 2, 0).value()));
  CHECK(roll(counting({0, 2}), 1, 0).shape() == Shape{0, 2});
  check_moves([](const Tensors& x) { return roll(x[0], {2, -1}, {0, 1}); }, {3, 5});
  CHECK(error_of<ValueError>([&] { roll(x, {1, 2}, {0}); }) == "roll: 2 shifts for 1 axes");
  CHECK(error_of<ValueError>([&] { roll(x, 1, 3); }) == "roll: axis 3 is out of range for rank 3");
}

TEST_CASE("repeat_interleave repeats positions, tile repeats the whole") {
  const Array x({2, 2}, {1, 2, 3, 4});
  CHECK(equal(repeat_interleave(x, 2, 0).value(), Array({4, 2}, {1, 2, 1, 2, 3, 4, 3, 4})));
  CHECK(equal(repeat_interleave(x, 3, -1).value(), Array({2, 6}, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4})));
  CHECK(repeat_interleave(x, 0, 0).shape() == Shape{0, 2});
  CHECK(equal(tile(x, {2}).value(), Array({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4})));
  CHECK(equal(tile(x, {2, 1}).value(), Array({4, 2}, {1, 2, 3, 4, 1, 2, 3, 4})));
  const Array y = counting({3, 1, 2});
  CHECK(is(tile(y, {2, 2, 3, 4}), {2, 6, 3, 8}, [&](const Position& i) { return at(y, {i[1] % 3, 0, i[3] % 2}); }));
  CHECK(equal(tile(Tensor(5), {2, 1}).value(), Array({2, 1}, {5, 5})));
  CHECK(tile(x, {0, 2}).shape() == Shape{0, 4});
  CHECK(tile(counting({0, 3}), {2, 2}).shape() == Shape{0, 6});
  check_moves([](const Tensors& x) { return repeat_interleave(x[0], 3, 0); }, {3, 5});
  check_moves([](const Tensors& x) { return tile(x[0], {2, 1, 3}); }, {3, 1});
  CHECK(error_of<ValueError>([&] { repeat_interleave(x, -1, 0); }) == "repeat_interleave: negative count -1");
  CHECK(error_of<ValueError>([&] { tile(x, {1, -2}); }) == "tile: negative count in [1, -2]");
  CHECK_THROWS_AS(repeat_interleave(x, std::int64_t{1} << 62, 0), LimitError);
}

TEST_CASE("tril and triu keep one side of a diagonal") {
  for (const Shape& shape : {Shape{4, 4}, Shape{2, 3, 5}, Shape{5, 3}, Shape{1, 1}}) {
    const Array x = normal(shape);
    for (const std::int64_t offset : {-9, -2, -1, 0, 1, 3, 9}) {
      CAPTURE(offset);
      const auto row = [&](const Position& i) { return i[i.size() - 2]; };
      CHECK(is(tril(Tensor(x), offset), shape,
               [&](const Position& i) { return i.back() <= row(i) + offset ? at(x, i) : 0; }));
      CHECK(is(triu(Tensor(x), offset), shape,
               [&](const Position& i) { return i.back() >= row(i) + offset ? at(x, i) : 0; }));
    }
  }
  const Array nan({2, 2}, std::numeric_limits<Real>::quiet_NaN());
  CHECK(tril(Tensor(nan)).value().at({0, 1}) == 0);
  CHECK(equal(tril(Mask({2, 3}, true)), Mask({2, 3}, {true, false, false, true, true, false})));
  CHECK(equal(triu(Mask({2, 3}, true), 1), Mask({2, 3}, {false, true, true, false, false, true})));
  CHECK(tril(Tensor(counting({0, 3}))).shape() == Shape{0, 3});
  CHECK(equal(tril(Tensor(nan), std::numeric_limits<std::int64_t>::min()).value(), Array({2, 2}, Real(0))));
  check_moves([](const Tensors& x) { return tril(x[0], 1); }, {3, 5});
  check_moves([](const Tensors& x) { return triu(x[0], -1); }, {2, 5, 3});
  CHECK(error_of<ShapeError>([] { tril(Tensor(counting({3}))); }) == "tril: needs at least 2 axes, shape is [3]");
}

TEST_CASE("whole numbers and truth values are arranged in the same way") {
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

TEST_CASE("what only changes the shape shares memory") {
  const Tensor x = counting({2, 1, 3, 4});
  CHECK(transpose(x, 0, 1).value().data() == x.value().data());
  CHECK(x[{_, new_axis}].value().data() == x.value().data());
  CHECK(x[{_, 0}].value().data() == x.value().data());
  CHECK(tile(x, {1, 1}).value().data() == x.value().data());
  CHECK(transpose(x).value().data() != x.value().data());
}

TEST_CASE("every rearrangement has gradients of second order on every class of shapes") {
  struct Case {
    std::string name;
    Function f;
  };
  const std::vector<Case> cases{
      {"reshape",
       [](const Tensors& x) {
         return reshape(x[0], {x[0].size(), 1});
       }},
      {"flatten", [](const Tensors& x) { return flatten(x[0], 0, 1); }},
      {"squeeze", [](const Tensors& x) { return squeeze(x[0]); }},
      {"unsqueeze", [](const Tensors& x) { return unsqueeze(x[0], -2); }},
      {"permute",
       [](const Tensors& x) {
         Axes axes = all_axes(x[0].rank());
         std::rotate(axes.begin(), axes.begin() + 1, axes.end());
         return permute(x[0], axes);
       }},
      {"transpose", [](const Tensors& x) { return transpose(x[0]); }},
      {"transpose outer", [](const Tensors& x) { return transpose(x[0], 0, -1); }},
      {"broadcast_to",
       [](const Tensors& x) {
         Shape shape = x[0].shape();
         shape.insert(0, 2);
         return broadcast_to(x[0], shape);
       }},
      {"slice",
       [](const Tensors& x) {
         return x[0][{slice(none, none, -1), ellipsis, slice(0, -1)}];
       }},
      {"narrow", [](const Tensors& x) { return narrow(x[0], 1, 0, x[0].dim(1) / 2); }},
      {"chunk", [](const Tensors& x) { return chunk(x[0], 2, -1)[0]; }},
      {"pad",
       [](const Tensors& x) {
         return pad(x[0], ShortList<Padding>::filled(x[0].rank(), {1, 2}), 3);
       }},
      {"concat",
       [](const Tensors& x) {
         return concat({x[0], x[0] * x[0]}, -1);
       }},
      {"concat outer",
       [](const Tensors& x) {
         return concat({x[0], x[0], x[0]}, 0);
       }},
      {"stack",
       [](const Tensors& x) {
         return stack({x[0], x[0] * x[0]}, 1);
       }},
      {"flip",
       [](const Tensors& x) {
         return flip(x[0], {0, -1});
       }},
      {"roll",
       [](const Tensors& x) {
         return roll(x[0], {1, -2}, {0, 1});
       }},
      {"repeat_interleave", [](const Tensors& x) { return repeat_interleave(x[0], 2, 1); }},
      {"tile",
       [](const Tensors& x) {
         return tile(x[0], {2, 3});
       }},
      {"tril", [](const Tensors& x) { return tril(x[0]); }},
      {"triu", [](const Tensors& x) { return triu(x[0]); }},
  };
  for (const Case& c : cases) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 5}, Shape{1, 4, 1}, Shape{5, 1, 2}, Shape{2, 3, 1, 2},
                               Shape{2, 1, 2, 1, 3}, Shape{0, 3}, Shape{2, 0, 3}}) {
      CAPTURE(c.name);
      CAPTURE(cat(shape));
      check_gradients([&](const Tensors& x) { return c.f({x[0] * x[0]}); }, {normal(shape)},
                      {.zero = shape.numel() == 0});
    }
  }
}
