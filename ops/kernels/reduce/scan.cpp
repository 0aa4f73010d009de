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

}  // namespace xgrad
