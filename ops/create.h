// Arrays and tensors from numbers, patterns and chance.
#pragma once

#include <initializer_list>
#include <vector>

#include <xgrad/core/random.h>
#include <xgrad/core/tensor.h>

namespace xgrad::inline XGRAD_ABI {

/// A number, or a list of such: what stands in the braces of tensor() and index(). Throws ShapeError when the parts of
/// a list differ in shape.
template <class T>
class Nested {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> Nested(Number number) : values_{static_cast<T>(number)} {}
  Nested(std::initializer_list<Nested> parts);

  BasicArray<T> array() const { return BasicArray<T>(shape_, std::span<const T>(values_)); }

 private:
  Shape shape_;
  std::vector<T> values_;
};
extern template class Nested<Real>;
extern template class Nested<std::int64_t>;

/// A constant of the given numbers: tensor({1, 2}), tensor({{1, 2}, {3, 4}}), to any depth. Throws ShapeError if rows
/// differ in length.
inline Tensor tensor(std::initializer_list<Nested<Real>> values) { return Nested<Real>(values).array(); }
/// The same with whole numbers, for ids and positions.
inline Index index(std::initializer_list<Nested<std::int64_t>> values) { return Nested<std::int64_t>(values).array(); }

/// Every element 0.
Tensor zeros(const Shape& shape);
/// Every element 1.
Tensor ones(const Shape& shape);
/// Every element `value`.
Tensor full(const Shape& shape, Real value);
/// Shaped like x.
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);

/// 0, 1, ..., n - 1. Throws ValueError for a negative n.
Index arange(std::int64_t n);
/// first, first + step, ..., before `last`. Throws ValueError when step is 0.
Index arange(std::int64_t first, std::int64_t last, std::int64_t step = 1);
/// `count` numbers from first to last, both included, equally far apart. Throws ValueError for a negative count.
Tensor linspace(Real first, Real last, std::int64_t count);
/// The identity matrix (n, n), or (rows, columns) with ones where the indices are equal.
Tensor eye(std::int64_t n);
Tensor eye(std::int64_t rows, std::int64_t columns);
/// Whole numbers as Reals, to calculate with.
Tensor to_real(const Index& numbers);
/// 1 where true, 0 where false.
Tensor to_real(const Mask& mask);

/// Uniform in [0, 1), the next draw of this thread's generator (manual_seed).
Tensor rand(const Shape& shape);
/// Normal with mean 0 and deviation 1, the next draw.
Tensor randn(const Shape& shape);
/// Whole numbers in [low, high), the next draw. Throws ValueError unless low < high.
Index randint(std::int64_t low, std::int64_t high, const Shape& shape);

}  // namespace xgrad::inline XGRAD_ABI
