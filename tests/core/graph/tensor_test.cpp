// Tests of core/graph/tensor.h: handles, leaves, names, and what they refuse.
#include <xgrad/core/graph/tensor.h>

#include <array>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("numbers and arrays are constants without a node") {
  const Tensor a = 3;
  const Tensor b = 2.5;
  const Tensor c = Array(Shape{2}, {1, 2});
  CHECK(a.item() == 3);
  CHECK(b.item() == 2.5);
  CHECK(c.shape() == Shape{2});
  CHECK(c.size() == 2);
  CHECK(c.rank() == 1);
  CHECK(c.dim(-1) == 2);
  CHECK_FALSE(detail::Engine::node(a));
  CHECK_FALSE(a.requires_grad());
  CHECK(a.is_leaf());
  CHECK(a.name().empty());
}

TEST_CASE("copies of a handle mean the same tensor, a detached one has the value and no history") {
  const Tensor x = variable(3, "x");
  const Tensor copy = x, y = x * x;
  const Tensor d = y.detach();
  CHECK(same(x, copy));
  CHECK_FALSE(same(y, d));
  CHECK(d.item() == 9);
  CHECK_FALSE(d.requires_grad());
  CHECK(d.value().data() == y.value().data());
  (d * x).backward();
  CHECK(x.grad().item() == 9);
  const Tensor before = x.detach();
  copy.assign(Array(Shape{}, Real(5)));
  CHECK(x.item() == 5);
  CHECK(before.item() == 3);
}

TEST_CASE("an undefined tensor says so whatever is asked of it") {
  const Tensor none;
  CHECK_FALSE(none.defined());
  CHECK_FALSE(none.requires_grad());
  CHECK(none.is_leaf());
  CHECK(to_string(none) == "tensor(undefined)");
  const std::function<void()> calls[] = {[&] { (void)none.value(); },
                                         [&] { (void)none.shape(); },
                                         [&] { (void)none.item(); },
                                         [&] { (void)none.detach(); },
                                         [&] { none.named("x"); },
                                         [&] { (void)none.name(); },
                                         [&] { none.set_requires_grad(); },
                                         [&] { none.assign(Array(Shape{})); },
                                         [&] { (void)none.grad(); },
                                         [&] { none.zero_grad(); },
                                         [&] { none.remove_hook(1); },
                                         [&] { (void)(none + 1); },
                                         [&] { (void)(variable(1) * none); }};
  for (const auto& call : calls) {
    CHECK_REFUSED(GraphError, call(), "tensor", "undefined: no value was ever given to it");
  }
  error_of<GraphError>([&] { none.backward(); });
  error_of<GraphError>([&] { none.retain_grad(); });
  error_of<GraphError>([&] { none.on_grad([](const Tensor& g) { return g; }); });
}

TEST_CASE("gradients flow to variables, and to whatever is asked to want them") {
  const Tensor v = variable(1, "v");
  CHECK(v.requires_grad());
  CHECK(v.is_leaf());
  CHECK(v.name() == "v");
  const Tensor c = 1;
  c.set_requires_grad();
  CHECK(c.requires_grad());
  CHECK((c + 1).requires_grad());
  c.set_requires_grad(false);
  CHECK_FALSE((c + 1).requires_grad());
  const Tensor y = v * 2;
  CHECK_FALSE(y.is_leaf());
  CHECK_REFUSED(GraphError, y.set_requires_grad(false), "set_requires_grad", "only for leaves", "the result of mul");
}

TEST_CASE("assigning gives a leaf a new value of the same shape, of a tensor without its history") {
  const Tensor w = variable({7, 7}, "w");
  w.assign(Array(Shape{2}, {1, 2}));
  const Tensor before = w * w;
  const Tensor g = grad(sum(before), {w})[0];
  w.assign(w - 0.5 * g);
  CHECK(equal(w.value(), Array(Shape{2}, {0, 0})));
  CHECK(w.is_leaf());
  CHECK(w.requires_grad());
  CHECK(w.name() == "w");
  CHECK_REFUSED(ShapeError, w.assign(Array(Shape{1, 2})), "assign", "shape [1, 2] for w of shape [2]");
  CHECK_REFUSED(ShapeError, w.assign(Tensor(5)), "assign", "shape [] for w of shape [2]");
  CHECK_REFUSED(GraphError, (w * 2).assign(w), "assign", "only leaves can be assigned", "mul");
  CHECK_REFUSED(GraphError, (w * 2).assign(w.value()), "assign", "only leaves can be assigned", "mul");
}

// Each body of a loop takes the memory that was released before it.
TEST_CASE("a loop over the numbers or the sizes of an element of a list reads what is still there") {
  const Tensor w = variable({1, 2, 3}, "w");
  using Numbers = std::vector<Real>;
  Numbers seen;
  const auto see = [&](auto number) {
    seen.push_back(static_cast<Real>(number));
    for (int i = 0; i < 4; ++i) CHECK((zeros({3}) + 7).size() == 3);
  };
  const auto taken = [&] { return std::exchange(seen, Numbers()); };
  for (const Real number : grad(sum(w * w), {w})[0].value()) see(number);
  CHECK(taken() == Numbers{2, 4, 6});
  for (const Real number : split(w * w, 3)[0].value()) see(number);
  CHECK(taken() == Numbers{1, 4, 9});
  for (const Real number : split(w * w, 3)[0].named("part").value()) see(number);
  CHECK(taken() == Numbers{1, 4, 9});
  for (const std::int64_t size : (zeros({6, 5, 4}) + 1).shape()) see(size);
  CHECK(taken() == Numbers{6, 5, 4});
  for (const std::int64_t size : (zeros({6, 5, 4}) + 1).value().shape()) see(size);
  CHECK(taken() == Numbers{6, 5, 4});
  const Tensor& square = (w * w).named("square");
  for (const Real number : square.value()) see(number);
  CHECK(taken() == Numbers{1, 4, 9});
}

TEST_CASE("an update in place changes the tensor and nobody who looked at its value before") {
  const Tensor x = variable(Array(Shape{2}, {1, 2}), "x");
  const Array before = x.value();
  const Tensor detached = x.detach();
  x.update([](Array& value) { value.mutable_data()[0] = 10; });
  CHECK(x.value().at({0}) == 10);
  CHECK(before.at({0}) == 1);
  CHECK(detached.value().at({0}) == 1);
  CHECK_REFUSED(GraphError, (x * 2).update([](Array&) {}), "update", "only leaves can be changed", "mul");
}

TEST_CASE("an update that fails leaves the value as it was") {
  const Tensor x = variable({1, 2, 3}, "x");
  const Tensor y = sum(x * x);
  const auto enlarge = [](Array& value) { value = Array(Shape{5}, Real(7)); };
  const auto break_off = [](Array& value) {
    value.mutable_data()[0] = 100;
    fail<ValueError>("mine", "no");
  };
  CHECK_REFUSED(ShapeError, x.update(enlarge), "assign", "shape [5] for x of shape [3]");
  CHECK_REFUSED(ValueError, x.update(break_off), "mine", "no");
  CHECK(equal(x.value(), Array(Shape{3}, {1, 2, 3})));
  CHECK(equal(grad(y, {x})[0].value(), Array(Shape{3}, {2, 4, 6})));
}

TEST_CASE("a value that is written to in place does not move when nobody else looks") {
  const Tensor x = variable(Array(Shape{1000}, Real(1)), "x");
  const Real* place = x.value().data();
  x.mutable_value().mutable_data()[5] = 2;
  CHECK(x.value().data() == place);
  const Array before = x.value();
  x.mutable_value().mutable_data()[5] = 3;
  CHECK(before.at({5}) == 2);
  const Tensor y = sum(x * x);
  (void)x.mutable_value();
  CHECK_REFUSED(GraphError, grad(y, {x}), "mul", "'x' was assigned after it was used here; run the forward pass again");
}

TEST_CASE("in braces stand numbers, and a shape is said") {
  const Tensor w = variable({{2, 1, 0}}, "w");
  CHECK(equal(w.value(), Array(Shape{1, 3}, {2, 1, 0})));
  CHECK(w.name() == "w");
  CHECK(w.requires_grad());
  CHECK(equal(variable(full({2, 2}, 7)).value(), Array(Shape{2, 2}, Real(7))));
  // A variable that is made of a tensor is another one.
  const Tensor x = variable({1, 2}, "x");
  const Tensor copy = variable(x, "copy");
  copy.assign(Array(Shape{2}, Real(0)));
  CHECK(equal(x.value(), Array(Shape{2}, {1, 2})));
  CHECK(variable(x * 2).is_leaf());
  CHECK_REFUSED(GraphError, grad(sum(copy * 2), {x}), "grad", "the result does not depend on 'x'");
}

TEST_CASE("braces that could mean a shape or numbers do not compile where neither is said") {
  CHECK_FALSE(std::is_constructible_v<Array, std::initializer_list<Nested<Real>>>);
  const auto from_braces = []<class T>(std::type_identity<T>) {
    return requires { T({{2, 2}, 7}); };
  };
  CHECK_FALSE(from_braces(std::type_identity<Tensor>()));
  const auto array_from_braces = []<class T>(std::type_identity<T>) {
    return requires { T{{1, 2}, {3, 4}}; };
  };
  CHECK_FALSE(array_from_braces(std::type_identity<Array>()));
}

TEST_CASE("vectors and spans of any type of number become arrays") {
  const std::vector<float> few{1, 2, 3, 4};
  const std::vector<std::int32_t> ids{1, 2, 3, 4};
  const std::array<unsigned char, 2> bytes{255, 0};
  CHECK(equal(Array(few), Array(Shape{4}, {1, 2, 3, 4})));
  CHECK(equal(Array(std::span(ids)), Array(Shape{4}, {1, 2, 3, 4})));
  CHECK(equal(Array(Shape{2, 2}, ids), Array(Shape{2, 2}, {1, 2, 3, 4})));
  CHECK(equal(Index(ids), index({1, 2, 3, 4})));
  CHECK(equal(Index(bytes), index({255, 0})));
  CHECK(equal(Mask(std::vector<bool>{true, false}), Mask(Shape{2}, {true, false})));
  CHECK(equal(tensor(std::vector<double>{1.5, 2.5}).value(), Array(Shape{2}, {1.5, 2.5})));
  CHECK(equal(tensor({2, 1}, std::vector<long>{1, 2}).value(), Array(Shape{2, 1}, {1, 2})));
  CHECK(equal(index({1, 2}, std::span(ids).first(2)), index({{1, 2}})));
  CHECK_REFUSED(ShapeError, (void)Array(Shape{3}, few), "array", "4 values for shape [3]");
  CHECK_REFUSED(ValueError, index(std::vector<std::uint64_t>{~0ull}), "array",
                "18446744073709551615 does not fit a signed number of 64 bits");
  CHECK_FALSE(std::is_constructible_v<Index, std::vector<double>>);
  CHECK_FALSE(std::is_constructible_v<Array, std::string>);
  CHECK_FALSE(std::is_constructible_v<Array, Index>);
}

TEST_CASE("adding to a variable makes it mean the sum, and nobody else") {
  Tensor h = variable({1, 2}, "h");
  const Tensor before = h;
  h += before * 2;
  h -= 1;
  h *= h;
  h /= 2;
  CHECK(equal(h.value(), Array(Shape{2}, {2, 12.5})));
  CHECK(equal(before.value(), Array(Shape{2}, {1, 2})));
  CHECK(equal(grad(sum(h), {before})[0].value(), Array(Shape{2}, {6, 15})));
}

TEST_CASE("tensors, arrays and shapes can be printed, a tensor as its numbers, its shape and what it is") {
  std::ostringstream out;
  out << tensor({1, 2}) << " " << Array(Shape{1}, Real(3)) << " " << index({4}) << " " << Shape{2, 3} << " "
      << Mask(Shape{1}, true);
  CHECK(out.str() == "tensor([1, 2], shape=[2]) [3] [4] [2, 3] [true]");
  CHECK(to_string(Shape{2, 3}) == "[2, 3]");
  CHECK(to_string(tensor({{1, 2}, {3, 4}})) == "tensor([[1, 2],\n        [3, 4]], shape=[2, 2])");
  CHECK(to_string(Tensor(Array(Shape{2}, {1, 2.5}))) == "tensor([1.0, 2.5], shape=[2])");
  CHECK(to_string(variable(3, "x")) == "tensor(3, shape=[], name=x, requires_grad)");
  CHECK(to_string(variable(3) * 2) == "tensor(6, shape=[], op=mul)");
}

TEST_CASE("gradients add up until they are forgotten, and one that was read stays as it was") {
  const Tensor x = variable(Array(Shape{2}, {1, 2}), "x");
  CHECK_FALSE(x.has_grad());
  sum(x * x).backward();
  const Tensor read = x.grad();
  CHECK(equal(read.value(), Array(Shape{2}, {2, 4})));
  sum(x * x).backward();
  CHECK(equal(read.value(), Array(Shape{2}, {2, 4})));
  CHECK(equal(x.grad().value(), Array(Shape{2}, {4, 8})));
  CHECK_FALSE(x.grad().requires_grad());
  x.grad().update([](Array& value) { value.mutable_data()[0] = 100; });
  CHECK(equal(x.grad().value(), Array(Shape{2}, {4, 8})));
  x.zero_grad();
  CHECK_FALSE(x.has_grad());
  sum(x).backward();
  CHECK(equal(x.grad().value(), Array(Shape{2}, {1, 1})));
}

TEST_CASE("the value of a tensor that nobody else holds can be taken, of others it is shared") {
  Tensor alone(Array(Shape{3}, Real(1)));
  CHECK(detail::Engine::unique(alone));
  const Real* place = alone.value().data();
  const Array taken = detail::Engine::take_value(std::move(alone));
  CHECK(taken.data() == place);
  CHECK(taken.unique());
  Tensor held(Array(Shape{3}, Real(1)));
  const Tensor other = held;
  CHECK(detail::Engine::take_value(std::move(held)).data() == other.value().data());
  CHECK(other.size() == 3);
}
