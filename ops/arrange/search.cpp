// Binary search in sorted sequences, and distinct numbers.
#include "search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "../../core/runtime/parallel.h"
#include "../kernels/order/order.h"

namespace xgrad {
namespace {

constexpr std::int64_t searches_at_a_time = 1 << 12;

// The first of `size` keys that is not below (with `right`, not up to) this one. Without unpredictable branches.
std::int64_t place_among(OrderKey key, const OrderKey* keys, std::int64_t size, bool right) {
  const OrderKey* first = keys;
  for (std::int64_t left = size; left > 0;) {
    const std::int64_t half = (left + 1) / 2;
    const bool behind = right ? first[half - 1] <= key : first[half - 1] < key;
    first += static_cast<std::int64_t>(behind) * half;
    left -= half;
  }
  return first - keys;
}

// A sequence divided into cells of equal width: the start of its cell almost tells where a value belongs. A value's cell
// grows with the value, rounding included, so nothing in lower cells is above it.
class Cells {
 public:
  // Of an ascending sequence. Unusable where its finite numbers do not differ, or are so uneven that many are in one cell.
  Cells(const Real* sequence, std::int64_t size) {
    const auto finite = [](Real v) { return std::abs(v) < std::numeric_limits<Real>::infinity(); };
    const Real *first = std::find_if(sequence, sequence + size, finite), *last = sequence + size;
    while (last > first && !finite(last[-1])) --last;
    if (first == last) return;
    const auto count = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(4 * size)));
    least_ = *first;
    count_ = static_cast<Real>(count);
    scale_ = count_ / (last[-1] - least_);
    if (!finite(scale_) || !(scale_ > 0)) return;
    begins_.assign(static_cast<std::size_t>(count) + 1, 0);
    for (std::int64_t i = 0; i < size; ++i) steps_ = std::max(steps_, ++begins_[static_cast<std::size_t>(cell_of(sequence[i]) + 1)]);
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    numbers_.assign(sequence, sequence + size);
    numbers_.push_back(std::numeric_limits<Real>::quiet_NaN());  // which no value passes
  }
  bool usable() const { return steps_ > 0 && steps_ <= 4; }

  // The place of a value that is not NaN: the first number that is not below (with `right`, not up to) it. The number of steps
  // is the same for all values, so that branches are predictable: numbers of higher cells stop them, too.
  template <bool right>
  std::int64_t place_of(Real value) const {
    std::int64_t place = begins_[static_cast<std::size_t>(cell_of(value))];
    for (std::int64_t step = 0; step < steps_; ++step) {
      const Real number = numbers_[static_cast<std::size_t>(place)];
      place += static_cast<std::int64_t>(right ? number <= value : number < value);
    }
    return place;
  }

 private:
  // NaN is in the last one. A Real can hold the number of cells, a power of 2, but perhaps not the index of the last
  // one.
  std::int64_t cell_of(Real value) const {
    const Real at = (value - least_) * scale_;
    return at < count_ ? static_cast<std::int64_t>(std::max(at, Real(0))) : std::ssize(begins_) - 2;
  }

  Real least_ = 0, scale_ = 0, count_ = 0;
  std::int64_t steps_ = 0;            // the most numbers in a cell
  std::vector<std::int64_t> begins_;  // how many numbers are in lower cells
  std::vector<Real> numbers_;
};

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
  if (!in_rows && size > 1 && result.size() > 4 * size) {
    if (const Cells cells(sequence.value().data(), size); cells.usable()) {
      const auto search_cells = [&](auto right) {
        parallel_for(result.size(), searches_at_a_time, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            out[i] = in[i] == in[i] ? cells.place_of<right>(in[i]) : place_among(order_key(in[i]), keys.data(), size, right);
          }
        });
      };
      options.right ? search_cells(std::true_type()) : search_cells(std::false_type());
      return result;
    }
  }
  parallel_for(result.size(), searches_at_a_time, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = place_among(order_key(in[i]), keys.data() + (in_rows ? i / each * size : 0), size, options.right);
    }
  });
  return result;
}

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
