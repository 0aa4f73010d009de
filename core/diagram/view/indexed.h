// Vectors with indices of type int.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

namespace xgrad::detail {

/// A vector whose elements have an index of type int, as vertices, edges and frames of a diagram have.
template <class T>
class Indexed : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  explicit Indexed(std::integral auto count, const T& value = T())
      : std::vector<T>(static_cast<std::size_t>(count), value) {}

  decltype(auto) operator[](std::integral auto i) { return std::vector<T>::operator[](static_cast<std::size_t>(i)); }
  decltype(auto) operator[](std::integral auto i) const {
    return std::vector<T>::operator[](static_cast<std::size_t>(i));
  }
  int count() const { return static_cast<int>(this->size()); }
};

}  // namespace xgrad::detail
