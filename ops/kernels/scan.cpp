// One loop for all: it goes along the axis, with some lines side by side, and each line has a state of its own.
#include "scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "../../core/parallel.h"
#include "loops.h"

namespace xgrad {
namespace {

// step(state, k, at) for every element, `at` its place in memory and k that along the axis, in order along each line.
template <class State, class Step>
void scan(const Shape& shape, int axis, ScanOrder order, const State& first, const Step& step) {
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t count = shape[axis];
  constexpr std::int64_t columns = 64;  // lines that are gone through side by side
  const std::int64_t blocks = (inner + columns - 1) / columns;
  const std::int64_t grain = std::max<std::int64_t>(1, elementwise_block / std::max<std::int64_t>(count * columns, 1));
  parallel_for(outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t corner = i / blocks * count * inner + i % blocks * columns;
      const std::int64_t width = std::min(columns, inner - i % blocks * columns);
      const auto place = [&](std::int64_t n) { return order == ScanOrder::forwards ? n : count - 1 - n; };
      if (width == 1) {  // a single state stays in registers
        State state = first;
        for (std::int64_t n = 0; n < count; ++n) step(state, place(n), corner + place(n) * inner);
        continue;
      }
      std::array<State, columns> states;
      states.fill(first);
      for (std::int64_t n = 0; n < count; ++n) {
        const std::int64_t k = place(n), row = corner + k * inner;
        for (std::int64_t j = 0; j < width; ++j) step(states[static_cast<std::size_t>(j)], k, row + j);
      }
    }
  });
}

}  // namespace

Array running_sum(const Array& x, int axis, ScanOrder order) {
  Array result(x.shape());
  scan(x.shape(), axis, order, 0.0,
       [in = x.data(), out = result.mutable_data()](double& sum, std::int64_t, std::int64_t at) {
         sum += static_cast<double>(in[at]);
         out[at] = static_cast<Real>(sum);
       });
  return result;
}

Array running_product(const Array& x, int axis) {
  Array result(x.shape());
  scan(x.shape(), axis, ScanOrder::forwards, 1.0,
       [in = x.data(), out = result.mutable_data()](double& product, std::int64_t, std::int64_t at) {
         product *= static_cast<double>(in[at]);
         out[at] = static_cast<Real>(product);
       });
  return result;
}

Array running_recurrence(const Array& a, const Array& b, int axis, ScanOrder order) {
  Array result(a.shape());
  scan(a.shape(), axis, order, 0.0,
       [p = a.data(), q = b.data(), out = result.mutable_data()](double& y, std::int64_t, std::int64_t at) {
         y = static_cast<double>(p[at]) * y + static_cast<double>(q[at]);
         out[at] = static_cast<Real>(y);
       });
  return result;
}

namespace {

// The sum of powers of e, in units of the largest: units e^most.
struct Powers {
  double most = -std::numeric_limits<double>::infinity();
  double units = 0;
};

}  // namespace

Array running_logsumexp(const Array& x, int axis) {
  Array result(x.shape());
  scan(x.shape(), axis, ScanOrder::forwards, Powers(),
       [in = x.data(), out = result.mutable_data()](Powers& sum, std::int64_t, std::int64_t at) {
         const auto v = static_cast<double>(in[at]);
         if (v == sum.most) {  // also where both are infinite
           sum.units += 1;
         } else if (v < sum.most) {
           sum.units += std::exp(v - sum.most);
         } else {  // or NaN, which stays
           sum.units = sum.units * std::exp(sum.most - v) + 1;
           sum.most = v;
         }
         out[at] = static_cast<Real>(std::isinf(sum.most) ? sum.most : sum.most + std::log(sum.units));
       });
  return result;
}

Index running_extreme(const Array& x, int axis, bool largest) {
  struct Best {
    Real value;
    std::int64_t at;
  };
  Index result(x.shape());
  const Real sign = largest ? 1 : -1;
  scan(x.shape(), axis, ScanOrder::forwards, Best{-std::numeric_limits<Real>::infinity(), 0},
       [in = x.data(), out = result.mutable_data(), sign](Best& best, std::int64_t k, std::int64_t at) {
         const Real v = sign * in[at];
         if (std::isnan(v) || v >= best.value) best = {v, k};  // nothing is as large as a NaN
         out[at] = best.at;
       });
  return result;
}

}  // namespace xgrad
