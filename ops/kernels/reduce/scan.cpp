// One loop for all: it goes along the axis, with some lines side by side, and each line has a state of its own. Lines along the
// last axis are brought side by side in square tiles: alone, each element waits for the one before it. Every line is gone
// through from its first element to its last, so sums do not depend on how many lines there are, nor on threads.
#include "scan.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../../core/runtime/parallel.h"
#include "../registers/loops.h"
#include "../registers/transpose.h"

namespace xgrad {
namespace {

constexpr std::int64_t side_by_side = 64;  // lines
constexpr std::int64_t chunk = 64;         // elements of lines along the last axis that are transposed at a time
// From this many lines along the last axis on, a transpose pays, if they are at least as long as a register.
constexpr std::int64_t few_lines = 16;
constexpr std::int64_t line = 64 / sizeof(Real);  // of the cache

// Elements of lines side by side: element k of line j at k * side_by_side + j.
template <class T>
struct Turned {
  alignas(64) T numbers[chunk * side_by_side];
};

// Goes through every line of (outer, count, inner) in order. Of up to side_by_side lines `Group` holds the states:
// group(k, n, to, in...) is given element k of n lines, and where its results, of one type or several, begin.
template <class Group, class... Out, class... In>
void scan(const Shape& shape, int axis, ScanOrder order, std::tuple<Out*...> out, const In*... in) {
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t count = shape[axis];
  const auto place = [order](std::int64_t n, std::int64_t of) { return order == ScanOrder::forwards ? n : of - 1 - n; };
  const auto moved = [](const auto& pointers, std::int64_t by) {
    return std::apply([by](auto*... p) { return std::tuple(p + by...); }, pointers);
  };
  const bool turns = inner == 1 && outer >= few_lines && count >= tile<Real>;
  const std::int64_t lines = turns ? outer : inner, blocks = (lines + side_by_side - 1) / side_by_side;
  const std::int64_t grain =
      std::max<std::int64_t>(1, elementwise_block / std::max<std::int64_t>(count * std::min(lines, side_by_side), 1));
  if (!turns) {
    return parallel_for(outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = begin; block < end; ++block) {
        Group group;
        const std::int64_t first = block % blocks * side_by_side, at = block / blocks * count * inner + first;
        const std::int64_t n = std::min(side_by_side, inner - first);
        for (std::int64_t i = 0; i < count && n == 1; ++i) {  // a compile-time constant: its state is a register
          const std::int64_t k = place(i, count), here = at + k * inner;
          group(k, std::int64_t{1}, moved(out, here), (in + here)...);
        }
        for (std::int64_t i = 0; i < count && n > 1; ++i) {
          const std::int64_t k = place(i, count), here = at + k * inner;
          group(k, n, moved(out, here), (in + here)...);
        }
      }
    });
  }
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  // Hardware prefetching does not foresee rows that are far apart.
  const auto fetch_next = [&](std::int64_t first, std::int64_t start, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = start; k < std::min(start + chunk, count); k += line) {
        (__builtin_prefetch(in + (first + j) * count + k), ...);
      }
    }
  };
  parallel_for(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::tuple<Turned<In>...> from;
    std::tuple<Turned<Out>...> to;
    const auto rows = std::apply([](auto&... each) { return std::tuple(each.numbers...); }, to);
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * side_by_side, n = std::min(side_by_side, outer - first);
      Group group;
      for (std::int64_t i = 0; i < chunks; ++i) {
        const std::int64_t start = place(i, chunks) * chunk, length = std::min(chunk, count - start);
        const std::int64_t at = first * count + start;
        if (i + 1 < chunks) fetch_next(first, place(i + 1, chunks) * chunk, n);
        std::apply(
            [&](auto&... each) {
              (transpose_rows(each.numbers, side_by_side, in + at, count, length, n), ...);
              for (std::int64_t m = 0; m < length; ++m) {
                const std::int64_t k = place(m, length), row = k * side_by_side;
                group(start + k, n, moved(rows, row), (each.numbers + row)...);
              }
            },
            from);
        [&]<std::size_t... o>(std::index_sequence<o...>) {
          (transpose_rows(std::get<o>(out) + at, count, std::get<o>(rows), side_by_side, n, length), ...);
        }
        (std::index_sequence_for<Out...>());
      }
    }
  });
}

// f(n), with the usual n as a compile-time constant.
template <class F>
void with_lines(std::int64_t n, const F& f) {
  if (n == side_by_side) {
    f(std::integral_constant<std::int64_t, side_by_side>());
  } else {
    f(n);
  }
}

// Lines whose next result, a number, is also their state: in double.
template <class Step>
class Running {
 public:
  Running() { std::fill_n(states_, side_by_side, Step::first); }
  template <class... In>
  void operator()(std::int64_t, std::int64_t n, std::tuple<Real*> to, const In*... in) {
    Real* __restrict out = std::get<0>(to);
    with_lines(n, [&](auto lines) {
      for (std::int64_t j = 0; j < lines; ++j) {
        states_[j] = Step::next(states_[j], static_cast<double>(in[j])...);
        out[j] = static_cast<Real>(states_[j]);
      }
    });
  }

 private:
  double states_[side_by_side];
};

struct Adding {
  static constexpr double first = 0;
  static double next(double sum, double v) { return sum + v; }
};
struct Multiplying {
  static constexpr double first = 1;
  static double next(double product, double v) { return product * v; }
};
struct Recurring {
  static constexpr double first = 0;
  static double next(double y, double a, double b) { return a * y + b; }
};

// Lines whose state is a sum of powers of e, in units of the largest: units e^most.
class RunningPowers {
 public:
  RunningPowers() {
    std::fill_n(most_, side_by_side, -detail::infinity);
    std::fill_n(units_, side_by_side, 0.0);
  }
  void operator()(std::int64_t, std::int64_t n, std::tuple<Real*> to, const Real* in) {
    using Doubles = BasicPack<xsimd::batch<double>>;
    constexpr auto width = static_cast<std::int64_t>(Doubles::width);
    alignas(64) double numbers[side_by_side];
    std::fill(std::copy_n(in, n, numbers), numbers + (n + width - 1) / width * width, -detail::infinity);
    for (std::int64_t j = 0; j < n; j += width) {
      const Doubles v = Doubles::load(numbers + j), most = Doubles::load(most_ + j), units = Doubles::load(units_ + j);
      const auto alike = v == most, less = v <= most;  // equal also where both are infinite; not less where one is NaN
      const Doubles power = exp(where(alike, 0, -abs(v - most)));
      const Doubles next = where(less, units + power, units * power + 1), top = where(less, most, v);
      next.store(units_ + j);
      top.store(most_ + j);
      const Doubles y = where(abs(top) == detail::infinity, top, top + log(next));
      where(next == next, y, next).store(numbers + j);  // NaN stays
    }
    Real* __restrict out = std::get<0>(to);
    for (std::int64_t j = 0; j < n; ++j) out[j] = static_cast<Real>(numbers[j]);
  }

 private:
  double most_[side_by_side], units_[side_by_side];
};

// Lines whose state is their largest (smallest) number and its position, in integers as wide as the values where these
// suffice.
template <bool largest, class Position>
class RunningExtreme {
 public:
  RunningExtreme() {
    std::fill_n(values_, side_by_side, (largest ? -1 : 1) * std::numeric_limits<Real>::infinity());
    std::fill_n(positions_, side_by_side, Position(0));
  }
  void operator()(std::int64_t k, std::int64_t n, std::tuple<Real*, std::int64_t*> to, const Real* __restrict in) {
    Real* __restrict values = std::get<0>(to);
    std::int64_t* __restrict positions = std::get<1>(to);
    with_lines(n, [&](auto lines) {
      const auto here = static_cast<Position>(k);
      for (std::int64_t j = 0; j < lines; ++j) {
        const Real v = in[j], best = values_[j];
        const bool reaches = largest ? v >= best : v <= best;
        const bool better = reaches | (v != v);  // nothing reaches a NaN
        values_[j] = better ? v : best;
        positions_[j] = better ? here : positions_[j];
      }
      for (std::int64_t j = 0; j < lines; ++j) values[j] = values_[j];
      for (std::int64_t j = 0; j < lines; ++j) positions[j] = positions_[j];
    });
  }

 private:
  Real values_[side_by_side];
  Position positions_[side_by_side];
};

template <bool largest>
RunningExtremes extremes(const Array& x, int axis) {
  RunningExtremes result{Array(x.shape()), Index(x.shape())};
  const std::tuple<Real*, std::int64_t*> to(result.values.mutable_data(), result.positions.mutable_data());
  using Narrow = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  if (x.shape()[axis] <= std::numeric_limits<Narrow>::max()) {
    scan<RunningExtreme<largest, Narrow>>(x.shape(), axis, ScanOrder::forwards, to, x.data());
  } else {
    scan<RunningExtreme<largest, std::int64_t>>(x.shape(), axis, ScanOrder::forwards, to, x.data());
  }
  return result;
}

template <class Group, class... In>
Array scanned(int axis, ScanOrder order, const Array& x, const In&... more) {
  Array result(x.shape());
  scan<Group>(x.shape(), axis, order, std::tuple(result.mutable_data()), x.data(), more.data()...);
  return result;
}

}  // namespace

Array running_sum(const Array& x, int axis, ScanOrder order) { return scanned<Running<Adding>>(axis, order, x); }

Array running_product(const Array& x, int axis) {
  return scanned<Running<Multiplying>>(axis, ScanOrder::forwards, x);
}

Array running_recurrence(const Array& a, const Array& b, int axis, ScanOrder order) {
  return scanned<Running<Recurring>>(axis, order, a, b);
}

Array running_logsumexp(const Array& x, int axis) { return scanned<RunningPowers>(axis, ScanOrder::forwards, x); }

RunningExtremes running_extremes(const Array& x, int axis, bool largest) {
  return largest ? extremes<true>(x, axis) : extremes<false>(x, axis);
}

}  // namespace xgrad
