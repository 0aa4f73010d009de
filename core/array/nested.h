// Nested: numbers in braces to any depth, {{1, 2}, {3, 4}}, the argument of tensor(), index(), mask() and variable().
#pragma once

#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <vector>

#include "shape.h"

namespace xgrad {

template <class T>
class BasicArray;

/// A number, or a list of nested numbers. A list throws ShapeError if its parts have different shapes.
template <class T>
class Nested {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> Nested(Number number) : values_{static_cast<T>(number)} {}
  Nested(std::initializer_list<Nested> parts);

  /// The numbers as an array in the shape of the braces.
  BasicArray<T> array() const;

 private:
  Shape shape_;
  std::vector<T> values_;
};
}  // namespace xgrad
