// Arrays and tensors from numbers, patterns and chance.
#include <xgrad/ops/create.h>

namespace xgrad::inline XGRAD_ABI {
namespace {

template <class T>
Tensor reals(const BasicArray<T>& from) {
  Array result(from.shape());
  std::transform(from.begin(), from.end(), result.mutable_data(), [](T value) { return static_cast<Real>(value); });
  return result;
}

}  // namespace

Tensor zeros(const Shape& shape) { return full(shape, 0); }
Tensor ones(const Shape& shape) { return full(shape, 1); }
Tensor full(const Shape& shape, Real value) { return Array(shape, value); }
Tensor zeros_like(const Tensor& x) { return zeros(x.shape()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape()); }

Index arange(std::int64_t n) {
  if (n < 0) fail<ValueError>("arange", "negative count ", n);
  return arange(0, n);
}

Index arange(std::int64_t first, std::int64_t last, std::int64_t step) {
  if (step == 0) fail<ValueError>("arange", "step is 0");
  const std::int64_t distance = step > 0 ? last - first : first - last;
  const std::int64_t stride = step > 0 ? step : -step;
  Index result(Shape{distance > 0 ? (distance + stride - 1) / stride : 0});
  std::int64_t* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) out[i] = first + i * step;
  return result;
}

Tensor linspace(Real first, Real last, std::int64_t count) {
  if (count < 0) fail<ValueError>("linspace", "negative count ", count);
  Array result(Shape{count});
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < count; ++i) {
    const Real t = count == 1 ? 0 : static_cast<Real>(i) / static_cast<Real>(count - 1);
    out[i] = i == count - 1 && count > 1 ? last : first + t * (last - first);
  }
  return result;
}

Tensor eye(std::int64_t n) { return eye(n, n); }

Tensor eye(std::int64_t rows, std::int64_t columns) {
  Array result(Shape{rows, columns}, Real(0));
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) out[i * columns + i] = 1;
  return result;
}

Tensor to_real(const Index& numbers) { return reals(numbers); }
Tensor to_real(const Mask& mask) { return reals(mask); }

Tensor rand(const Shape& shape) { return random_uniform(shape, next_random_key()); }
Tensor randn(const Shape& shape) { return random_normal(shape, next_random_key()); }
Index randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return random_integers(low, high, shape, next_random_key());
}

}  // namespace xgrad::inline XGRAD_ABI
