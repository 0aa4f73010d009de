// Creating arrays and tensors from numbers, patterns and random draws.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "../../core/array/random.h"
#include "../../core/graph/tensor.h"

namespace xgrad {

/// A constant with the given values: tensor({1, 2}), tensor({{1, 2}, {3, 4}}), to any depth. Throws ShapeError if rows
/// differ in length.
inline Tensor tensor(std::initializer_list<Nested<Real>> values) { return Nested<Real>(values).array(); }
/// An Index of the given integers: ids, positions.
inline Index index(std::initializer_list<Nested<std::int64_t>> values) { return Nested<std::int64_t>(values).array(); }
/// A Mask of the given booleans: mask({{true, false}, {true, true}}).
inline Mask mask(std::initializer_list<Nested<bool>> values) { return Nested<bool>(values).array(); }
/// A constant with the values of a container such as std::vector or std::span: as a list, or in row-major order with
/// the given shape. Throws ShapeError unless the shape has one element for each value.
Tensor tensor(const NumbersFor<Real> auto& numbers) { return Array(numbers); }
Tensor tensor(const Shape& shape, const NumbersFor<Real> auto& numbers) { return Array(shape, numbers); }
/// An Index of the values of such a container. Throws as tensor, and ValueError for an integer beyond 2^63 - 1.
Index index(const NumbersFor<std::int64_t> auto& numbers) { return Index(numbers); }
Index index(const Shape& shape, const NumbersFor<std::int64_t> auto& numbers) { return Index(shape, numbers); }

/// A tensor of zeros.
Tensor zeros(const Shape& shape);
/// A tensor of ones.
Tensor ones(const Shape& shape);
/// A tensor whose elements all equal `value`.
Tensor full(const Shape& shape, Real value);
/// A tensor of zeros, or of ones, with the shape of x.
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);

namespace detail {
// `epsilon` is the relative error of the arguments.
Tensor real_range(double epsilon, double first, double last, double step = 1);
inline Tensor real_range(double epsilon, double n) { return real_range(epsilon, 0, n); }
}  // namespace detail

/// The integers 0, 1, ..., n - 1. Throws ValueError for a negative n, LimitError when the size overflows.
Index arange(std::int64_t n);
/// The integers first, first + step, ... in the half-open range [first, last). Throws ValueError when step is 0.
Index arange(std::int64_t first, std::int64_t last, std::int64_t step = 1);
/// The range as a tensor, if an argument is a floating-point number: arange(0, 3, 1.5) is 0, 1.5. Element i is first +
/// i step, computed in double. `last` is excluded even after rounding errors: an element within 4 epsilon max(|first|,
/// |last|) of `last` counts as `last`. Here epsilon is the machine epsilon of the arguments' type. Throws ValueError
/// when step is 0 or a number is not finite.
template <class... Numbers>
requires(sizeof...(Numbers) <= 3 && (std::is_arithmetic_v<Numbers> && ...) &&
         (std::is_floating_point_v<Numbers> || ...)) Tensor arange(Numbers... numbers) {
  constexpr double epsilon = std::max({static_cast<double>(std::numeric_limits<Numbers>::epsilon())...});
  return detail::real_range(epsilon, static_cast<double>(numbers)...);
}
/// `count` equally spaced values from first to last, both included. Throws ValueError for a negative count.
Tensor linspace(Real first, Real last, std::int64_t count);
/// The identity matrix (n, n), or (rows, columns) with ones where the indices are equal.
Tensor eye(std::int64_t n);
Tensor eye(std::int64_t rows, std::int64_t columns);
/// A tensor of Reals that equal these integers.
Tensor to_real(const Index& numbers);
/// An Index of the integers that a tensor contains. Throws ValueError for a fraction (use floor() or round() first),
/// for NaN, and for a number that does not fit 64 bits.
Index to_index(const Tensor& numbers);
/// A tensor with 1 where the mask is true, and 0 where it is false.
Tensor to_real(const Mask& mask);

/// Uniform random numbers in [0, 1): the next draw of this thread's generator (manual_seed). For integers: randint,
/// randperm.
Tensor rand(const Shape& shape);
/// Normal random numbers with mean 0 and standard deviation 1: the next draw of this thread's generator.
Tensor randn(const Shape& shape);

}  // namespace xgrad
