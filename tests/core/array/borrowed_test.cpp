// Arrays in memory that came from elsewhere: std::vector that are given away, and elements with another owner.
#include <xgrad/core/array/array.h>

#include <memory>
#include <vector>

#include <xgrad/ops/ops.h>
#include <xgrad/optim/optimizers/sgd.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

/// Numbers in memory of a user's, and whether it is still held.
struct Lender {
  std::vector<Real> memory;
  std::shared_ptr<int> count = std::make_shared<int>(0);

  /// `numbers` so many places behind the beginning of the memory, as an array of this shape.
  Array lend(const Array& numbers, std::size_t offset) {
    memory.assign(offset + static_cast<std::size_t>(numbers.size()) + 3, Real(-77));
    std::ranges::copy(numbers, memory.begin() + static_cast<std::ptrdiff_t>(offset));
    return Array::borrowed(numbers.shape(), memory.data() + offset, count);
  }
  bool held() const { return count.use_count() > 1; }
};

}  // namespace

TEST_CASE("a vector that is given away becomes an array without a copy") {
  std::vector<Real> numbers(24, Real(1.5));
  const Real* const place = numbers.data();
  Array a(Shape{4, 6}, std::move(numbers));
  CHECK(a.data() == place);
  CHECK(a.shape() == Shape{4, 6});
  CHECK(a.unique());
  a.mutable_data()[5] = 2;
  CHECK(a.data() == place);
  const Array b = a.reshaped({24});
  CHECK(b.data() == place);
  a.mutable_data()[5] = 3;  // shared by now
  CHECK(b.at({5}) == 2);

  std::vector<std::int64_t> ids{5, 6, 7};
  const std::int64_t* const first = ids.data();
  const Index list(std::move(ids));
  CHECK(list.data() == first);
  CHECK(equal(list, index({5, 6, 7})));
  CHECK(equal(Array(std::vector<Real>{1, 2}), Array(Shape{2}, {1, 2})));
  CHECK(Array(std::vector<Real>()).shape() == Shape{0});
  CHECK(equal(Mask(std::vector<bool>{true, false}), Mask(Shape{2}, {true, false})));

  // Lvalues, and numbers of another type, are copied as before.
  const std::vector<Real> kept(24, Real(1));
  CHECK(Array(kept).data() != kept.data());
  CHECK(equal(Array(std::vector<int>{1, 2}), Array(Shape{2}, {1, 2})));
  std::vector<Real> wrong(24, Real(1));
  CHECK(error_of<ShapeError>([&] { Array(Shape{5, 5}, std::move(wrong)); }) == "array: 24 values for shape [5, 5]");
  CHECK(wrong.size() == 24);
}

TEST_CASE("borrowed elements are read where they are, and let go with the last array") {
  Lender lender;
  {
    Tensor kept;
    {
      Array a = lender.lend(arange(12.0).value().reshaped({3, 4}), 1);
      CHECK(a.data() == lender.memory.data() + 1);
      CHECK_FALSE(a.unique());
      CHECK(a.at({2, 3}) == 11);
      const Array row = a.reshaped({12});
      a = Array();
      CHECK(row.data() == lender.memory.data() + 1);
      CHECK(lender.held());
      const Tensor x = Tensor(row).set_requires_grad();
      kept = sum(x * x);
    }
    CHECK(lender.held());  // the rule keeps what it needs
  }
  CHECK_FALSE(lender.held());
  {
    const Array one = lender.lend(Array(Shape{}, Real(4)), 0);
    CHECK(one.data() == lender.memory.data());
    CHECK(one.item() == 4);
  }
  CHECK_FALSE(lender.held());
  CHECK(Array::borrowed(Shape{0, 3}, nullptr, lender.count).size() == 0);
  CHECK(error_of<ValueError>([] { Array::borrowed(Shape{1}, nullptr, std::make_shared<int>()); }) ==
        "borrowed: no address for elements of shape [1]");
  CHECK(error_of<ValueError>([&] { Array::borrowed(Shape{1}, lender.memory.data(), nullptr); }) ==
        "borrowed: needs an owner");
  const auto* const between = reinterpret_cast<const Real*>(reinterpret_cast<const char*>(lender.memory.data()) + 1);
  CHECK(error_of<ValueError>([&] { Array::borrowed(Shape{1}, between, lender.count); }) ==
        cat("borrowed: the address is not a multiple of ", alignof(Real), " bytes"));
  const std::vector<std::int64_t> ids{1, 2, 3};
  CHECK(equal(Index::borrowed(Shape{3}, ids.data(), lender.count), index({1, 2, 3})));
}

TEST_CASE("whoever writes gets a copy") {
  Lender lender;
  const Array numbers = arange(20.0).value();
  Array a = lender.lend(numbers, 3);
  a.mutable_data()[0] = 100;
  CHECK(a.at({0}) == 100);
  CHECK(lender.memory[3] == 0);
  CHECK_FALSE(lender.held());

  a = lender.lend(numbers, 3);
  a[{slice(0, 5)}] = Real(7);
  Tensor w = Tensor(lender.lend(numbers, 5)).set_requires_grad();
  const std::vector<Real> before = lender.memory;
  optim::SGD sgd{{w}, {.lr = 0.5}};
  sgd.step(grad(sum(w * w), {w}));
  CHECK(lender.memory == before);
  CHECK(equal(w.value(), Array(Shape{20}, Real(0))));
}

TEST_CASE("kernels give the same numbers wherever borrowed elements lie, and write nothing there") {
  manual_seed(5);
  const Array x = randn({4, 6, 9}).value(), w = randn({9, 9}).value(), gy = randn({4, 6, 9}).value();
  const Index labels = random_integers(0, 9, {24}, {.seed = 1});
  const auto everything = [&](Array x, Array w, Array gy) {
    Tensors results;
    const Tensor a = Tensor(std::move(x)).set_requires_grad(), b = Tensor(std::move(w)).set_requires_grad();
    const Tensors xs{a, b};
    const auto add = [&](const Tensor& y) {
      results.push_back(y.detach());
      if (y.shape() != Shape{4, 6, 9}) return;
      for (const Tensor& g : grad(y, xs, {.seed = Tensor(gy), .unused = Unused::zeros})) {
        results.push_back(g);
      }
    };
    add(exp(a));
    add(relu(a) * sigmoid(a));
    add(softmax(matmul(a, b)));
    add(layer_norm(a, b[{0}], b[{1}]));
    add(cumsum(a, 1));
    add(transpose(transpose(a, 0, 2), 0, 2) + b[{0}]);
    add(concat({a, a * 2}, 0));
    add(sum(a, 1));
    add(cross_entropy(reshape(matmul(a, b), {24, 9}), labels));
    add(conv2d(reshape(a, {1, 4, 6, 9}), reshape(a, {1, 4, 6, 9})[{_, _, slice(0, 3), slice(0, 3)}]));
    results.push_back(-Tensor(gy));
    results.push_back(exp(Tensor(std::move(gy))));
    return results;
  };
  const Tensors expected = everything(x, w, gy);
  for (const std::size_t offset : {0, 1, 2, 3, 5, 7, 11, 15}) {
    CAPTURE(offset);
    Lender one, two, three;
    Array lent = one.lend(x, offset), weights = two.lend(w, offset + 1), gradient = three.lend(gy, offset + 2);
    const std::vector<Real> before[]{one.memory, two.memory, three.memory};
    const Tensors found = everything(std::move(lent), std::move(weights), std::move(gradient));
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK(equal(found[i].value(), expected[i].value()));
    }
    CHECK(one.memory == before[0]);
    CHECK(two.memory == before[1]);
    CHECK(three.memory == before[2]);
  }
}
