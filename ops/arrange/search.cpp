// Membership, positions in a shape, and distinct numbers.
#include "search.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "../kernels/order/order.h"

namespace xgrad {
namespace {

// The positions in sorted order, and whether two elements are equal.
std::vector<std::int64_t> in_order(const Array& x) {
  std::vector<OrderKey> keys(static_cast<std::size_t>(x.size()));
  std::ranges::transform(x, keys.begin(), order_key);
  return positions_in_order(keys);
}
std::vector<std::int64_t> in_order(const Index& x) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(x.size()));
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  std::ranges::stable_sort(positions, {}, [&](std::int64_t i) { return x.data()[i]; });
  return positions;
}
bool alike(Real a, Real b) { return order_key(a) == order_key(b); }
bool alike(std::int64_t a, std::int64_t b) { return a == b; }

template <class T>
Unique<T> unique_of(const BasicArray<T>& x) {
  std::vector<T> values;
  std::vector<std::int64_t> counts;
  Index inverse(x.shape());
  std::int64_t* places = inverse.mutable_data();
  T last{};
  for (const std::int64_t at : in_order(x)) {
    const T value = x.data()[at];
    if (values.empty() || !alike(value, last)) {
      values.push_back(value + T(0));  // -0 becomes 0
      counts.push_back(0);
      last = value;
    }
    ++counts.back();
    places[at] = std::ssize(values) - 1;
  }
  return {BasicArray<T>(values), std::move(inverse), Index(counts)};
}

template <class T>
Unique<T> runs_of(const BasicArray<T>& x) {
  std::vector<T> values;
  std::vector<std::int64_t> counts;
  Index inverse(x.shape());
  std::int64_t* places = inverse.mutable_data();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (i == 0 || x.data()[i] != x.data()[i - 1]) {
      values.push_back(x.data()[i]);
      counts.push_back(0);
    }
    ++counts.back();
    places[i] = std::ssize(values) - 1;
  }
  return {BasicArray<T>(values), std::move(inverse), Index(counts)};
}

template <class T>
Mask found(const BasicArray<T>& elements, const BasicArray<T>& test) {
  std::vector<T> sorted;
  std::ranges::copy_if(test, std::back_inserter(sorted), [](T v) { return v == v; });
  std::ranges::sort(sorted);
  Mask result(elements.shape());
  std::ranges::transform(elements, result.mutable_data(),
                         [&](T v) { return v == v && std::ranges::binary_search(sorted, v); });
  return result;
}

}  // namespace

Mask isin(const Tensor& elements, const Tensor& test) { return found(elements.value(), test.value()); }
Mask isin(const Index& elements, const Index& test) { return found(elements, test); }

std::vector<Index> unravel_index(const Index& index, const Shape& shape) {
  const std::int64_t size = shape.numel();
  for (const std::int64_t i : index) {
    if (i < 0 || i >= size) fail<ValueError>("unravel_index", "index ", i, " is not in [0, ", size, ")");
  }
  std::vector<Index> places;
  for (const std::int64_t stride : strides_of(shape)) {
    const std::int64_t length = shape[static_cast<int>(places.size())];
    Index& along = places.emplace_back(index.shape());
    std::ranges::transform(index, along.mutable_data(), [=](std::int64_t i) { return i / stride % length; });
  }
  return places;
}

Unique<Real> unique(const Tensor& x) { return unique_of(x.value()); }
Unique<std::int64_t> unique(const Index& x) { return unique_of(x); }
Unique<Real> unique_consecutive(const Tensor& x) { return runs_of(x.value()); }
Unique<std::int64_t> unique_consecutive(const Index& x) { return runs_of(x); }

}  // namespace xgrad
