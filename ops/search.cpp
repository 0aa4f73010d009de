// Binary search in sorted sequences, and sorting out equal numbers.
#include "search.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "../core/parallel.h"
#include "kernels/order.h"

namespace xgrad {
namespace {

constexpr std::int64_t searches_at_a_time = 1 << 12;

// The first of `size` keys that is not below (with `right`, not up to) this one. Without branches that nobody can
// foresee.
std::int64_t place_of(OrderKey key, const OrderKey* keys, std::int64_t size, bool right) {
  const OrderKey* first = keys;
  for (std::int64_t left = size; left > 0;) {
    const std::int64_t half = (left + 1) / 2;
    const bool behind = right ? first[half - 1] <= key : first[half - 1] < key;
    first += static_cast<std::int64_t>(behind) * half;
    left -= half;
  }
  return first - keys;
}

Index search(const char* op, const Tensor& sequence, const Tensor& values, const SearchOptions& options) {
  const Shape &of = sequence.shape(), &shape = values.shape();
  if (of.rank() == 0) fail<ShapeError>(op, "the sequence is a scalar");
  const bool in_rows = of.rank() > 1;
  if (in_rows && (of.rank() != shape.rank() || !std::equal(of.begin(), of.end() - 1, shape.begin()))) {
    fail<ShapeError>(op, "a sequence of shape ", of, " for values of shape ", shape);
  }
  const std::int64_t size = of.back();
  std::vector<OrderKey> keys;
  keys.reserve(static_cast<std::size_t>(sequence.size()));
  for (const Real value : sequence.value()) keys.push_back(order_key(value));
  for (std::int64_t i = 1; i < std::ssize(keys); ++i) {
    if (i % size > 0 && keys[static_cast<std::size_t>(i - 1)] > keys[static_cast<std::size_t>(i)]) {
      fail<ValueError>(op, "the sequence is not ascending at ", position_of(i, of));
    }
  }
  Index result(shape);
  std::int64_t* out = result.mutable_data();
  const Real* in = values.value().data();
  const std::int64_t each = in_rows ? std::max<std::int64_t>(shape.back(), 1) : 0;
  parallel_for(result.size(), searches_at_a_time, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = place_of(order_key(in[i]), keys.data() + (in_rows ? i / each * size : 0), size, options.right);
    }
  });
  return result;
}

OrderKey key_of(Real value) { return order_key(value); }
std::int64_t key_of(std::int64_t value) { return value; }

template <class T>
Unique<T> unique_of(const BasicArray<T>& x) {
  using Key = decltype(key_of(T()));
  std::vector<std::pair<Key, std::int64_t>> line;
  line.reserve(static_cast<std::size_t>(x.size()));
  for (std::int64_t i = 0; i < x.size(); ++i) line.emplace_back(key_of(x.data()[i]), i);
  std::ranges::sort(line);
  std::vector<T> values;
  std::vector<std::int64_t> counts;
  Index inverse(x.shape());
  std::int64_t* places = inverse.mutable_data();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto [key, at] = line[i];
    if (i == 0 || key != line[i - 1].first) {
      values.push_back(x.data()[at] + T(0));  // -0 becomes 0
      counts.push_back(0);
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
    if (i < 0 || i >= size) fail<ValueError>("unravel_index", "index ", i, " not in [0, ", size, ")");
  }
  std::vector<Index> places;
  for (const std::int64_t stride : strides_of(shape)) {
    const std::int64_t length = shape[static_cast<int>(places.size())];
    Index& along = places.emplace_back(index.shape());
    std::ranges::transform(index, along.mutable_data(), [=](std::int64_t i) { return i / stride % length; });
  }
  return places;
}

Index searchsorted(const Tensor& sequence, const Tensor& values, const SearchOptions& options) {
  return search("searchsorted", sequence, values, options);
}

Index bucketize(const Tensor& values, const Tensor& boundaries, const SearchOptions& options) {
  if (boundaries.rank() != 1) {
    fail<ShapeError>("bucketize", "the boundaries need one axis, their shape is ", boundaries.shape());
  }
  return search("bucketize", boundaries, values, options);
}

Unique<Real> unique(const Tensor& x) { return unique_of(x.value()); }
Unique<std::int64_t> unique(const Index& x) { return unique_of(x); }
Unique<Real> unique_consecutive(const Tensor& x) { return runs_of(x.value()); }
Unique<std::int64_t> unique_consecutive(const Index& x) { return runs_of(x); }

}  // namespace xgrad
