// Joining tensors along an existing axis, or along a new one.
//
// Overloads for BasicArray take Array, Index and Mask, record no graph, and mean the same as those for tensors.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Joins tensors along `axis`. Throws ValueError for an empty list, ShapeError when sizes of other axes differ.
Tensor concat(const Tensors& xs, int axis = 0);
template <class T>
BasicArray<T> concat(const std::vector<BasicArray<T>>& xs, int axis = 0);
/// Joins tensors of one shape along a new axis at position `axis` of the result. Throws as concat.
Tensor stack(const Tensors& xs, int axis = 0);
template <class T>
BasicArray<T> stack(const std::vector<BasicArray<T>>& xs, int axis = 0);

/// The same for Index and Mask in braces: concat({ids, newer}, 1). (Arrays in braces become tensors.)
template <std::integral T>
BasicArray<T> concat(std::initializer_list<BasicArray<T>> xs, int axis = 0) {
  return concat(std::vector(xs), axis);
}
template <std::integral T>
BasicArray<T> stack(std::initializer_list<BasicArray<T>> xs, int axis = 0) {
  return stack(std::vector(xs), axis);
}

}  // namespace xgrad
