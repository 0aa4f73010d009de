// Tests of core/array/xtensor.h: the same memory seen as xtensor and as Array.
#include <xgrad/core/array/xtensor_functions.h>

#include <stdexcept>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("an xtensor view of an array looks at the same memory, also of a scalar or an array without elements") {
  const Array a(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const auto seen = view(a);
  CHECK(seen.data() == a.data());
  CHECK(seen.shape(1) == 3);
  CHECK(seen(1, 2) == 6);
  CHECK(xt::sum(seen)() == 21);
  CHECK(view(Array(Shape{}, Real(3)))() == 3);
  CHECK(view(Array(Shape{0, 3})).size() == 0);
}

TEST_CASE("a view of a temporary keeps it alive") {
  const Tensor x(Array(Shape{2, 3}, Real(2)));
  const auto seen = view((x * 5).value());
  const auto copy = seen;
  const Tensor others[] = {x * 7, x * 8};  // would get the temporary's memory
  CHECK(seen(1, 2) == 10);
  CHECK(copy(0, 0) == 10);
  CHECK(xt::amax(view((x * 3).value()))() == 6);
}

TEST_CASE("containers become arrays, and keep their own elements") {
  xt::xtensor<Real, 2> rows{{1, 2, 3}, {4, 5, 6}};
  const Tensor x = variable(Array(std::move(rows)));
  CHECK(equal(grad(sum(x * x), {x})[0].value(), Array(Shape{2, 3}, {2, 4, 6, 8, 10, 12})));
  const Index index = xt::xarray<std::int64_t>{1, 2, 3, 4, 5};
  CHECK(index.at({4}) == 5);
  const Mask mask = to_array(xt::zeros<bool>({20}));
  CHECK(equal(mask, Mask(Shape{20}, false)));
  CHECK(equal(to_array(xt::xarray<Real>(Real(4))), Array(Shape{}, Real(4))));
  CHECK(to_array(xt::xarray<Real>::from_shape({0, 3})).shape() == Shape{0, 3});
  const xt::xarray<Real, xt::layout_type::column_major> columns{{1, 2, 3}, {4, 5, 6}};
  CHECK(equal(to_array(columns), Array(Shape{2, 3}, {1, 2, 3, 4, 5, 6})));
  const xt::xtensor<Real, 2, xt::layout_type::column_major> fixed_columns = columns;
  CHECK(equal(to_array(fixed_columns), Array(Shape{2, 3}, {1, 2, 3, 4, 5, 6})));
  const xt::xarray<Real> kept{{1, 2, 3}, {4, 5, 6}};
  const Array copy = kept;
  CHECK(copy.data() != kept.data());
  CHECK(copy.at({1, 2}) == 6);
  const std::vector<float> theirs{1.5F, 2.5F, 3.5F, 4.5F};  // other numbers in foreign memory
  const std::vector<std::size_t> shape{2, 2};
  CHECK(equal(to_array(xt::adapt(theirs, shape)), Array(Shape{2, 2}, {1.5, 2.5, 3.5, 4.5})));
}

TEST_CASE("an array is made of an expression without a word") {
  const xt::xarray<Real> x{{1, 2}, {3, 4}};
  const Array doubled = x * 2;
  CHECK(equal(doubled, Array(Shape{2, 2}, {2, 4, 6, 8})));
  const Array square = view(doubled) * view(doubled);
  CHECK(equal(square, Array(Shape{2, 2}, {4, 16, 36, 64})));
  const Mask large = x > 2;
  CHECK(equal(large, Mask(Shape{2, 2}, {false, false, true, true})));
  const Index whole = xt::xarray<int>{7, -8};
  CHECK(equal(whole, Index(Shape{2}, {7, -8})));
  Array a;
  a = xt::transpose(x);
  CHECK(equal(a, Array(Shape{2, 2}, {1, 3, 2, 4})));
  CHECK(sum(Array(xt::view(x, 0))).item() == 3);
  // Real numbers are no ids, and ids no real numbers.
  static_assert(!std::is_convertible_v<xt::xarray<Real>, Index>);
  static_assert(!std::is_convertible_v<xt::xarray<int>, Array>);
  static_assert(!std::is_convertible_v<int, Array>);
}

TEST_CASE("what is written through a view shows neither in a copy nor in a graph that was there before") {
  Array a(Shape{2, 2}, {5, 1, 1, 1});
  const Array copy = a;
  const Tensor x = variable(a);
  const Tensor y = sum(x * x);
  auto seen = mutable_view(a);
  seen = seen * 2 + xt::ones<Real>({2, 2});
  seen += 1;
  xt::noalias(seen) = seen + 1;
  seen.fill(seen(0, 0));
  CHECK(seen.data() == a.data());
  CHECK(equal(a, Array(Shape{2, 2}, Real(13))));
  CHECK(equal(copy, Array(Shape{2, 2}, {5, 1, 1, 1})));
  CHECK(equal(grad(y, {x})[0].value(), Array(Shape{2, 2}, {10, 2, 2, 2})));
  CHECK_THROWS_AS((seen = xt::ones<Real>({3, 2})), std::runtime_error);  // it keeps its size
  CHECK(equal(a, Array(Shape{2, 2}, Real(13))));
}

TEST_CASE("an expression is evaluated straight into its array, without a temporary") {
  const xt::xarray<Real> x = xt::ones<Real>({256, 256});
  const std::int64_t bytes = 256 * 256 * static_cast<std::int64_t>(sizeof(Real));
  // Temporaries are in the pool afterwards.
  const auto left_in_pool = [&](const auto& evaluate) {
    detail::pool_trim();
    const auto before = pool_stats().bytes_cached;
    evaluate();
    return pool_stats().bytes_cached - before;
  };
  Array kept;
  CHECK(left_in_pool([&] { kept = to_array(x * 2 + 1); }) < bytes);
  CHECK(equal(kept, Array(Shape{256, 256}, Real(3))));
}

TEST_CASE("an array may be assigned an expression of itself") {
  Array a(Shape{2, 2}, {1, 2, 3, 4});
  auto seen = mutable_view(a);
  seen = xt::transpose(seen);
  CHECK(equal(a, Array(Shape{2, 2}, {1, 3, 2, 4})));
  seen = seen - xt::view(seen, 0);
  CHECK(equal(a, Array(Shape{2, 2}, {0, 0, 1, 1})));
  a = to_array(xt::transpose(view(a)) + view(a));
  CHECK(equal(a, Array(Shape{2, 2}, {0, 1, 1, 2})));
  const Array b = a;
  a = to_array(xt::transpose(view(a)) * 2);
  CHECK(equal(b, Array(Shape{2, 2}, {0, 1, 1, 2})));
  CHECK(equal(a, Array(Shape{2, 2}, {0, 2, 2, 4})));
}
