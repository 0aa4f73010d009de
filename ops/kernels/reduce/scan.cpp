// One loop for all: it goes along the axis, with some lines next to one another, and each line has its own state.
// Every line is gone through in order, so results do not depend on how many lines there are, nor on threads.
#include "scan.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../registers/loops.h"

namespace xgrad {
namespace {

// y_k = next(y_(k-1), in_k...) along the axis, or from the last one back with y_(k+1). The first one's predecessor is
// `first`.
template <class Next, class... In>
Array scan(const Shape& shape, int axis, ScanDirection direction, double first, const Next& next, const In*... in) {
  constexpr std::int64_t side_by_side = 64;
  std::int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t count = shape[axis], blocks = (inner + side_by_side - 1) / side_by_side;
  Array result(shape);
  if (result.size() == 0) return result;
  Real* const out = result.mutable_data();
  // n lines, the first of which begins at `at`.
  const auto lines = [&](std::int64_t at, auto n) {
    double states[side_by_side];
    std::fill_n(states, static_cast<std::int64_t>(n), first);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t here = at + (direction == ScanDirection::forwards ? i : count - 1 - i) * inner;
      for (std::int64_t j = 0; j < n; ++j) {
        states[j] = next(states[j], static_cast<double>(in[here + j])...);
        out[here + j] = static_cast<Real>(states[j]);
      }
    }
  };
  const std::int64_t grain = elementwise_block / (count * std::min(inner, side_by_side));
  parallel_for(result.size() / (count * inner) * blocks, std::max<std::int64_t>(1, grain),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t block = begin; block < end; ++block) {
                   const std::int64_t column = block % blocks * side_by_side;
                   const std::int64_t at = block / blocks * count * inner + column;
                   if (inner == 1) {  // the state of a single line is a register
                     lines(at, std::integral_constant<std::int64_t, 1>());
                   } else {
                     lines(at, std::min(side_by_side, inner - column));
                   }
                 }
               });
  return result;
}

}  // namespace

Array running_sum(const Array& x, int axis, ScanDirection direction) {
  return scan(
      x.shape(), axis, direction, 0, [](double sum, double v) { return sum + v; }, x.data());
}

Array running_product(const Array& x, int axis) {
  return scan(
      x.shape(), axis, ScanDirection::forwards, 1, [](double product, double v) { return product * v; }, x.data());
}

Array running_recurrence(const Array& a, const Array& b, int axis, ScanDirection direction) {
  XGRAD_ASSERT(a.shape() == b.shape());
  return scan(
      a.shape(), axis, direction, 0, [](double y, double u, double v) { return u * y + v; }, a.data(), b.data());
}

}  // namespace xgrad
