// Sorting by whole numbers that are in the order of the values.
#include "sort.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "../core/parallel.h"
#include "index.h"

namespace xgrad {
namespace {

// That one thread sorts.
constexpr std::int64_t numbers_at_a_time = 1 << 15;

using Key = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

// A whole number that grows with the value: the sign bit decides which way the other bits count. -0 is 0, and NaN is
// larger than every number.
Key key_of(Real value) {
  if (std::isnan(value)) return ~Key{0};
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  const auto bits = std::bit_cast<Key>(value + Real(0));
  return bits & sign ? ~bits : bits | sign;
}

// The indices of the first `count` elements along the axis; of equal ones the first comes first.
Index first_in_order(const Array& x, int axis, std::int64_t count, bool descending) {
  Shape shape = x.shape();
  const std::int64_t size = std::exchange(shape[axis], count), inner = strides_of(x.shape())[axis];
  Index result(shape);
  if (result.size() == 0) return result;
  const Real* in = x.data();
  std::int64_t* out = result.mutable_data();
  const Key flip = descending ? ~Key{0} : 0;
  parallel_for(x.size() / size, std::max<std::int64_t>(1, numbers_at_a_time / size),
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<std::pair<Key, std::int64_t>> line(static_cast<std::size_t>(size));
                 for (std::int64_t n = begin; n < end; ++n) {
                   const std::int64_t outer = n / inner, column = n % inner;
                   const Real* from = in + outer * size * inner + column;
                   std::int64_t* to = out + outer * count * inner + column;
                   for (std::int64_t i = 0; i < size; ++i)
                     line[static_cast<std::size_t>(i)] = {key_of(from[i * inner]) ^ flip, i};
                   if (count == size) {
                     std::sort(line.begin(), line.end());
                   } else {
                     std::partial_sort(line.begin(), line.begin() + count, line.end());
                   }
                   for (std::int64_t i = 0; i < count; ++i) to[i * inner] = line[static_cast<std::size_t>(i)].second;
                 }
               });
  return result;
}

}  // namespace

Index argsort(const Tensor& x, const SortOptions& options) {
  const int axis = normalize_axis("sort", options.axis, x.rank());
  return first_in_order(x.value(), axis, x.shape()[axis], options.descending);
}

Sorted sort(const Tensor& x, const SortOptions& options) {
  const Index indices = argsort(x, options);
  return {gather(x, options.axis, indices), indices};
}

Sorted topk(const Tensor& x, std::int64_t k, const TopkOptions& options) {
  const int axis = normalize_axis("topk", options.axis, x.rank());
  if (k < 0 || k > x.shape()[axis]) fail<ValueError>("topk", "k = ", k, " of ", x.shape()[axis]);
  const Index indices = first_in_order(x.value(), axis, k, options.largest);
  return {gather(x, axis, indices), indices};
}

}  // namespace xgrad
