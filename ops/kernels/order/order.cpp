// Sorting and selecting by whole numbers that are in the order of the values: sorting by their digits, selecting by their bits,
// without unpredictable branches.
#include "order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../../core/runtime/parallel.h"
#include "../registers/copy.h"
#include "../reduce/reduce.h"

namespace xgrad {
namespace {

// Per thread.
constexpr std::int64_t numbers_at_a_time = 1 << 15;

Shape with_size(Shape shape, int axis, std::int64_t size) {
  shape[axis] = size;
  return shape;
}

// A key and its position along the axis, both in one number where they fit.
struct ShortItem {
  std::uint64_t bits;
  ShortItem() = default;
  ShortItem(OrderKey key, std::int64_t at)
      : bits(static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint64_t>(at)) {}
  OrderKey key() const { return static_cast<OrderKey>(bits >> 32); }
  std::int64_t position() const { return static_cast<std::int64_t>(bits & 0xffffffff); }
  bool operator<(const ShortItem& other) const { return bits < other.bits; }
};
struct LongItem {
  OrderKey of = 0;
  std::int64_t at = 0;
  LongItem() = default;
  LongItem(OrderKey key, std::int64_t position) : of(key), at(position) {}
  OrderKey key() const { return of; }
  std::int64_t position() const { return at; }
  bool operator<(const LongItem& other) const { return of < other.of || (of == other.of && at < other.at); }
};

// Sorts items given in order of position (radix sort): by one digit of the key after the other, the last first, stable each
// time. `spare` is as long.
template <class T>
void sort_items(std::vector<T>& items, std::vector<T>& spare) {
  constexpr std::size_t digits = sizeof(OrderKey), values = 256;
  if (items.size() < values) {  // counting digits would take longer
    std::sort(items.begin(), items.end());
    return;
  }
  const auto digit = [](const T& item, std::size_t d) { return item.key() >> (8 * d) & (values - 1); };
  std::array<std::array<std::size_t, values>, digits> counts{};
  for (const T& item : items) {
    for (std::size_t d = 0; d < digits; ++d) ++counts[d][digit(item, d)];
  }
  for (std::size_t d = 0; d < digits; ++d) {
    std::array<std::size_t, values>& places = counts[d];
    if (places[digit(items[0], d)] == items.size()) continue;  // all alike
    std::size_t before = 0;
    for (std::size_t& place : places) place = std::exchange(before, before + place);
    for (const T& item : items) spare[places[digit(item, d)]++] = item;
    std::swap(items, spare);
  }
}

// A line along the axis, and room to work on it.
template <class T>
struct Line {
  std::vector<OrderKey> keys;
  std::vector<T> items, spare;

  explicit Line(std::int64_t size) : keys(static_cast<std::size_t>(size)) {}
  // Sorts the whole line.
  void sort() {
    items.resize(keys.size());
    spare.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) items[i] = T(keys[i], static_cast<std::int64_t>(i));
    sort_items(items, spare);
  }
};

std::int64_t count_below(const std::vector<OrderKey>& keys, OrderKey limit) {
  std::int64_t total = 0;
  for (std::size_t begin = 0; begin < keys.size();) {
    const std::size_t end = std::min(keys.size(), begin + (1 << 20));
    OrderKey count = 0;  // as wide as a key, so that a register counts as many as it holds
    for (; begin < end; ++begin) count += keys[begin] < limit ? 1 : 0;
    total += static_cast<std::int64_t>(count);
  }
  return total;
}

// The key at position k in sorted order, and how many are smaller: bit after bit, the highest first.
struct Kth {
  OrderKey key = 0;
  std::int64_t smaller = 0;
};
Kth kth_key(const std::vector<OrderKey>& keys, std::int64_t k) {
  Kth result;
  std::int64_t not_above = std::ssize(keys);  // that lie below key + 2^(bit + 1)
  for (int bit = std::numeric_limits<OrderKey>::digits - 1; bit >= 0; --bit) {
    const OrderKey step = OrderKey{1} << bit, middle = result.key | step;
    const std::int64_t below = count_below(keys, middle);
    if (below <= k) {
      result = {middle, below};
    } else {
      not_above = below;
    }
    if (not_above - result.smaller > 1) continue;
    // A single key is left in this range.
    for (const OrderKey key : keys) {
      if (key - result.key < step) return {key, result.smaller};
    }
  }
  return result;
}

// The position of the one that has `rank` equal ones before it.
std::int64_t position_of_key(const std::vector<OrderKey>& keys, OrderKey key, std::int64_t rank) {
  auto found = std::ranges::find(keys, key);
  for (; rank > 0; --rank) found = std::find(found + 1, keys.end(), key);
  return found - keys.begin();
}

// The array with the axis last, and back.
template <class T>
BasicArray<T> with_last_axis(const BasicArray<T>& x, int from, int to) {
  Shape sizes = x.shape();
  Strides strides = strides_of(x.shape());
  const std::int64_t size = sizes[from], stride = strides[from];
  sizes.erase(from);
  strides.erase(from);
  sizes.insert(to, size);
  strides.insert(to, stride);
  return copy_part(x, {.sizes = sizes, .strides = strides});
}

template <class T, class F>
Index each_line_of(const Array& x, std::int64_t size, const Shape& shape, std::int64_t count, OrderKey flip, const F& f) {
  Index result(shape);
  const Real* in = x.data();
  std::int64_t* out = result.mutable_data();
  parallel_for(result.size() / count, std::max<std::int64_t>(1, numbers_at_a_time / std::max<std::int64_t>(size, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 Line<T> line(size);
                 for (std::int64_t n = begin; n < end; ++n) {
                   const Real* from = in + n * size;
                   OrderKey* keys = line.keys.data();
                   for (std::int64_t i = 0; i < size; ++i) keys[i] = order_key(from[i]) ^ flip;
                   f(line, out + n * count);
                 }
               });
  return result;
}

// f(line, to) for each line of x, its keys exclusive-ored with `flip`: it writes `count` results.
template <class F>
Index each_line(const Array& x, int axis, std::int64_t count, OrderKey flip, const F& f) {
  if (with_size(x.shape(), axis, count).numel() == 0) return Index(with_size(x.shape(), axis, count));
  const int last = x.rank() - 1;
  const std::int64_t size = x.shape()[axis];
  const Array lines = axis == last ? x : with_last_axis(x, axis, last);
  const Shape shape = with_size(lines.shape(), last, count);
  const bool is_short = sizeof(OrderKey) == 4 && size <= std::numeric_limits<std::uint32_t>::max();
  const Index result = is_short ? each_line_of<ShortItem>(lines, size, shape, count, flip, f)
                                : each_line_of<LongItem>(lines, size, shape, count, flip, f);
  return axis == last ? result : with_last_axis(result, last, axis);
}

}  // namespace

Index first_in_order(const Array& x, int axis, std::int64_t count, bool descending) {
  const OrderKey flip = descending ? ~OrderKey{0} : 0;
  return each_line(x, axis, count, flip, [count](auto& line, std::int64_t* to) {
    if (count > std::ssize(line.keys) / 4) {
      line.sort();
    } else {  // those before the last one, and of its equals as many as are left
      const auto [key, smaller] = kth_key(line.keys, count - 1);
      std::int64_t equals = count - smaller;
      line.items.clear();
      for (std::int64_t i = 0; i < std::ssize(line.keys); ++i) {
        const OrderKey each = line.keys[static_cast<std::size_t>(i)];
        if (each < key || (each == key && equals-- > 0)) line.items.emplace_back(each, i);
      }
      line.spare.resize(line.items.size());
      sort_items(line.items, line.spare);
    }
    for (std::int64_t i = 0; i < count; ++i) to[i] = line.items[static_cast<std::size_t>(i)].position();
  });
}

Index kth_in_order(const Array& x, int axis, std::int64_t k, NanOrder nan) {
  return each_line(x, axis, 1, 0, [k, nan](auto& line, std::int64_t* to) {
    if (nan == NanOrder::wins && count_below(line.keys, ~OrderKey{0}) < std::ssize(line.keys)) {
      *to = position_of_key(line.keys, ~OrderKey{0}, 0);
      return;
    }
    const auto [key, smaller] = kth_key(line.keys, k);
    *to = position_of_key(line.keys, key, k - smaller);
  });
}

Index most_frequent(const Array& x, int axis) {
  return each_line(x, axis, 1, 0, [](auto& line, std::int64_t* to) {
    line.sort();
    std::ptrdiff_t most = 0;
    for (auto begin = line.items.begin(); begin != line.items.end();) {
      const auto end =
          std::find_if(begin, line.items.end(), [begin](const auto& each) { return each.key() != begin->key(); });
      if (end - begin > most) {
        most = end - begin;
        *to = std::prev(end)->position();
      }
      begin = end;
    }
  });
}

std::vector<std::int64_t> positions_in_order(const std::vector<OrderKey>& keys) {
  std::vector<std::int64_t> positions(keys.size());
  const auto sorted = [&]<class T>(Line<T> line) {
    line.keys = keys;
    line.sort();
    std::ranges::transform(line.items, positions.begin(), [](const T& item) { return item.position(); });
  };
  if (sizeof(OrderKey) == 4 && keys.size() <= std::numeric_limits<std::uint32_t>::max()) {
    sorted(Line<ShortItem>(0));
  } else {
    sorted(Line<LongItem>(0));
  }
  return positions;
}

namespace {

// Lines side by side, in one pass: the best elements so far of some lines, and their positions, in registers. Positions are
// counted within stretches that are short enough for numbers as wide as the values.
template <bool largest>
void first_extreme_columns(const Real* in, std::int64_t count, std::int64_t inner, std::int64_t n, std::int64_t* out) {
  using Place = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  constexpr std::int64_t side_by_side = 64, stretch = 1 << 20;
  Real best[side_by_side];
  Place places[side_by_side];
  std::copy_n(in, n, best);
  std::fill_n(out, n, 0);
  const auto passes = [&](const Real* row, Place k, auto columns) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const Real v = row[j], b = best[j];
      const bool better = (largest ? v > b : v < b) | ((v != v) & (b == b));  // nothing is better than a NaN
      best[j] = better ? v : b;
      places[j] = better ? k : places[j];
    }
  };
  for (std::int64_t first = 0; first < count; first += stretch) {
    std::fill_n(places, side_by_side, Place(-1));
    const auto length = static_cast<Place>(std::min(stretch, count - first));
    const Real* from = in + first * inner;
    for (Place k = 0; k < length; ++k, from += inner) {
      if (n == side_by_side) {
        passes(from, k, std::integral_constant<std::int64_t, side_by_side>());
      } else {
        passes(from, k, n);
      }
    }
    for (std::int64_t j = 0; j < n; ++j) out[j] = places[j] < 0 ? out[j] : first + places[j];
  }
}

}  // namespace

// Contiguous lines are read twice: first for the largest element, then for its position.
Index first_extreme(const Array& x, int axis, bool largest) {
  const Shape shape = with_size(x.shape(), axis, 1);
  Index result(shape, 0);
  if (result.size() == 0) return result;
  const std::int64_t count = x.shape()[axis], inner = strides_of(x.shape())[axis];
  const Real* in = x.data();
  std::int64_t* out = result.mutable_data();
  if (inner > 1) {
    constexpr std::int64_t side_by_side = 64;
    const std::int64_t blocks = (inner + side_by_side - 1) / side_by_side;
    parallel_for(result.size() / inner * blocks, std::max<std::int64_t>(1, copy_block / (count * side_by_side)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t block = begin; block < end; ++block) {
                     const std::int64_t plane = block / blocks, j = block % blocks * side_by_side;
                     const auto columns = largest ? first_extreme_columns<true> : first_extreme_columns<false>;
                     columns(in + plane * count * inner + j, count, inner, std::min(side_by_side, inner - j),
                             out + plane * inner + j);
                   }
                 });
    return result;
  }
  const Array extremes = largest ? max_over(x, {axis}, shape) : min_over(x, {axis}, shape);
  const Real* wanted = extremes.data();
  // Without branches, so that the loops run in registers.
  const auto is = [](Real value, Real wanted) {
    return static_cast<int>(value == wanted) | (static_cast<int>(value != value) & static_cast<int>(wanted != wanted));
  };
  constexpr std::int64_t stretch = 64;  // elements searched between checks for a hit
  parallel_for(result.size(), std::max<std::int64_t>(1, copy_block / count), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Real *row = in + i * count, most = wanted[i];
      const auto among = [&](std::int64_t first) {
        int found = 0;
        for (std::int64_t k = first; k < first + stretch; ++k) found |= is(row[k], most);
        return found != 0;
      };
      std::int64_t k = 0;
      while (k + stretch <= count && !among(k)) k += stretch;
      while (!is(row[k], most)) ++k;
      out[i] = k;
    }
  });
  return result;
}

}  // namespace xgrad
