// Arrays in memory that came from elsewhere: a std::vector that is given away, and elements that are aligned to
// nothing.
#include <xgrad/core/array/array.h>
#include <xgrad/core/array/xtensor_buffer.h>

#include <vector>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

/// Numbers so many places behind the beginning of their memory.
struct Shifted {
  std::vector<Real> memory;
  std::size_t offset;
  Real* data() { return memory.data() + offset; }
};

/// The same numbers as an array that took such memory over.
Array shifted(const Array& numbers, std::size_t offset) {
  Shifted elements{std::vector<Real>(offset + static_cast<std::size_t>(numbers.size())), offset};
  std::ranges::copy(numbers, elements.data());
  return {XtensorBuffer<Real>::host(std::move(elements)), numbers.shape()};
}

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
  CHECK_REFUSED(ShapeError, Array(Shape{5, 5}, std::move(wrong)), "array", "24 values for shape [5, 5]");
  CHECK(wrong.size() == 24);
}

TEST_CASE("kernels give the same numbers wherever elements lie") {
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
    const Tensors found = everything(shifted(x, offset), shifted(w, offset + 1), shifted(gy, offset + 2));
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CAPTURE(i);
      CHECK(equal(found[i].value(), expected[i].value()));
    }
  }
}
