// Creating arrays and tensors from numbers, patterns and random draws.
#include "create.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/array/xtensor_functions.h"

namespace xgrad {
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
  if (step > 0 ? first >= last : first <= last) return {};
  // Unsigned: distances go up to 2^64 - 1, and i step, taken modulo 2^64, is right once it is added to `first`.
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last),
             by = static_cast<std::uint64_t>(step);
  const std::uint64_t count = step > 0 ? (to - from - 1) / by + 1 : (from - to - 1) / (0 - by) + 1;
  if (!std::in_range<std::int64_t>(count)) fail<LimitError>("arange", count, " numbers from ", first, " to ", last);
  Index result(Shape{static_cast<std::int64_t>(count)});
  std::int64_t* out = result.mutable_data();
  for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<std::int64_t>(from + i * by);
  return result;
}

Tensor detail::real_range(double epsilon, double first, double last, double step) {
  for (const double number : {first, last, step}) {
    if (!std::isfinite(number)) fail<ValueError>("arange", number, " is not finite");
  }
  if (step == 0) fail<ValueError>("arange", "step is 0");
  const double rounding = 4 * epsilon * std::max(std::abs(first), std::abs(last)) / std::abs(step);
  const double count = std::max(std::ceil((last - first) / step - std::min(rounding, 0.5)), 0.0);
  constexpr double most = 0x1p62;
  if (count > most) fail<LimitError>("arange", count, " numbers from ", first, " to ", last);
  Array result(Shape{static_cast<std::int64_t>(count)});
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) out[i] = static_cast<Real>(first + static_cast<double>(i) * step);
  return result;
}

Tensor linspace(Real first, Real last, std::int64_t count) {
  if (count < 0) fail<ValueError>("linspace", "negative count ", count);
  if (count < 2) return full({count}, first);
  Array result(Shape{count});  // before the count reaches xtensor, which does not check it
  auto numbers = mutable_view(result);
  const auto t = xt::cast<Real>(xt::arange(count)) / static_cast<Real>(count - 1);
  // The ends may be further apart than the largest number.
  if (std::isfinite(last - first)) {
    xt::noalias(numbers) = first + t * (last - first);
  } else {
    xt::noalias(numbers) = (Real(1) - t) * first + t * last;
  }
  result.mutable_data()[count - 1] = last;
  return result;
}

Tensor eye(std::int64_t n) { return eye(n, n); }

Tensor eye(std::int64_t rows, std::int64_t columns) {
  Array result(Shape{rows, columns}, Real(0));
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) out[i * columns + i] = 1;
  return result;
}

Tensor to_real(const Index& numbers) { return to_array(xt::cast<Real>(view(numbers))); }
Tensor to_real(const Mask& mask) { return to_array(xt::cast<Real>(view(mask))); }

Index to_index(const Tensor& numbers) {
  Index result(numbers.shape());
  std::int64_t* out = result.mutable_data();
  for (const Real number : numbers.value()) {
    if (!(number >= Real(-0x1p63) && number < Real(0x1p63)) || number != std::trunc(number)) {
      fail<ValueError>("to_index", number, " is no integer of 64 bits");
    }
    *out++ = static_cast<std::int64_t>(number);
  }
  return result;
}

Tensor rand(const Shape& shape) { return random_uniform(shape, next_random_key()); }
Tensor randn(const Shape& shape) { return random_normal(shape, next_random_key()); }

}  // namespace xgrad
