// Neighbouring windows lie side by side in a register, with their first inputs, then their second ones, and so on.
// Windows of different sizes, as at an edge, are computed one by one.
#include "pooling.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "../../../core/base/assert.h"
#include "../registers/rows.h"

namespace xgrad {
namespace {

// The maximum of window (i, j) of a plane, and its index.
std::pair<Real, std::int64_t> max_of_window(const PooledPlanes& sizes, const Real* x, std::int64_t i, std::int64_t j) {
  const Windows &rows = sizes.rows, &columns = sizes.columns;
  std::int64_t index = rows.first.data()[i] * columns.in + columns.first.data()[j];
  Real best = x[index];
  for (std::int64_t h = rows.first.data()[i]; h <= rows.last.data()[i]; ++h) {
    for (std::int64_t w = columns.first.data()[j]; w <= columns.last.data()[j]; ++w) {
      const std::int64_t at = h * columns.in + w;
      const bool better = x[at] > best || x[at] != x[at];
      best = better ? x[at] : best;
      index = better ? at : index;
    }
  }
  return {best, index};
}

// The inputs of some rows of a plane. The inputs at one position of neighbouring windows, `stride` apart, are
// contiguous: for a stride of 2, `buffer` takes the inputs at even and those at odd positions.
class Inputs {
 public:
  Inputs(const Real* from, std::int64_t stride, std::int64_t count, Real* buffer)
      : stride_(stride), parts_{from, from} {
    XGRAD_ASSERT(stride == 1 || stride == 2 || count == 0);
    if (stride == 1) return;
    Real *const even = buffer, *const odd = buffer + (count + 1) / 2;
    for (std::int64_t i = 0; i < count / 2; ++i) {
      even[i] = from[2 * i];
      odd[i] = from[2 * i + 1];
    }
    if (count % 2 == 1) even[count / 2] = from[count - 1];
    parts_[0] = even;
    parts_[1] = odd;
  }
  const Real* at(std::int64_t position) const {
    return stride_ == 1 ? parts_[0] + position : parts_[position % 2] + position / 2;
  }

 private:
  std::int64_t stride_;
  const Real* parts_[2];
};

// The maxima of a plane, whose columns of windows `begin` ... `end` - 1 are whole and 1 or 2 inputs apart.
void max_of_plane(const PooledPlanes& sizes, std::int64_t begin, std::int64_t end, const Real* x, Real* y,
                  std::int64_t* positions) {
  const Windows &rows = sizes.rows, &columns = sizes.columns;
  const std::int64_t width = columns.longest, side = end - begin;
  const std::int64_t left = side > 0 ? columns.first.data()[begin] : 0;
  Array buffer(Shape{2 * side});
  // Positions of each window's first input and of its largest, counted from the first input of the row of windows.
  Real* const firsts = buffer.mutable_data();
  Real* const of_best = firsts + side;
  for (std::int64_t j = 0; j < side; ++j) firsts[j] = static_cast<Real>(j * columns.stride);
  // Rows of windows whose inputs stay in a near cache.
  constexpr std::int64_t near = 1 << 14;
  const std::int64_t band = std::max<std::int64_t>(1, near / (std::max<std::int64_t>(1, rows.stride) * columns.in));
  for (std::int64_t band_begin = 0; band_begin < rows.out; band_begin += band) {
    const std::int64_t band_end = std::min(rows.out, band_begin + band);
    const std::int64_t *first = rows.first.data(), *last = rows.last.data();
    const std::int64_t start = first[band_begin] * columns.in, stop = (last[band_end - 1] + 1) * columns.in;
    const std::int64_t count = side > 0 ? stop - start : 0;
    Array copies(Shape{columns.stride == 1 ? 0 : count});
    const Inputs inputs(x + start, columns.stride, count, copies.mutable_data());
    for (std::int64_t i = band_begin; i < band_end; ++i) {
      Real* const to = y + i * columns.out;
      std::int64_t* const to_position = positions ? positions + i * columns.out : nullptr;
      const auto one = [&](std::int64_t j) {
        const auto [number, index] = max_of_window(sizes, x, i, j);
        to[j] = number;
        if (to_position) to_position[j] = index;
      };
      for (std::int64_t j = 0; j < begin; ++j) one(j);
      for (std::int64_t j = end; j < columns.out; ++j) one(j);
      if (side == 0) continue;
      const std::int64_t top = first[i], height = last[i] - top + 1;
      const std::int64_t corner = top * columns.in + left;
      each_pack(side, [&](std::int64_t j, auto part) {
        const Pack first = part.load(firsts + j);
        Pack best = part.load(inputs.at(corner - start) + j), index = first;
        for (std::int64_t h = 0; h < height; ++h) {
          for (std::int64_t w = 0; w < width; ++w) {
            const std::int64_t way = h * columns.in + w;
            const Pack v = part.load(inputs.at(corner - start + way) + j), here = first + static_cast<Real>(way);
            const auto better = v > best || v != v;
            index = where(better, here, index);
            best = where(better, v, best);
          }
        }
        part.store(best, to + begin + j);
        part.store(index, of_best + j);
      });
      if (!to_position) continue;
      for (std::int64_t j = 0; j < side; ++j) to_position[begin + j] = corner + static_cast<std::int64_t>(of_best[j]);
    }
  }
}

}  // namespace

void max_of_windows(const PooledPlanes& sizes, const Real* x, Real* y, std::int64_t* positions) {
  const Windows &rows = sizes.rows, &columns = sizes.columns;
  XGRAD_ASSERT(sizes.in() < std::int64_t{1} << 31);
  for (const Windows* windows : {&rows, &columns}) {
    for (std::int64_t i = 0; i < windows->out; ++i) {
      XGRAD_ASSERT(0 <= windows->first.data()[i] && windows->first.data()[i] <= windows->last.data()[i] &&
                   windows->last.data()[i] < windows->in);
    }
  }
  // Positions that a Real can count.
  constexpr std::int64_t most_numbered = std::int64_t{1} << std::numeric_limits<Real>::digits;
  const bool side_by_side = (columns.stride == 1 || columns.stride == 2) && rows.longest * columns.in <= most_numbered;
  const std::int64_t first = side_by_side ? columns.full_begin : 0, last = side_by_side ? columns.full_end : 0;
  const std::int64_t in = sizes.in(), out = sizes.out();
  parallel_for(sizes.planes, rows_per_block(in + out), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      max_of_plane(sizes, first, last, x + plane * in, y + plane * out, positions ? positions + plane * out : nullptr);
    }
  });
}

void take_places(std::int64_t planes, std::int64_t in, std::int64_t out, const std::int64_t* positions, const Real* x,
                 Real* y) {
  parallel_for(planes, rows_per_block(in + out), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      for (std::int64_t j = plane * out; j < (plane + 1) * out; ++j) y[j] = x[plane * in + positions[j]];
    }
  });
}

void add_places(std::int64_t planes, std::int64_t in, std::int64_t out, const std::int64_t* positions, const Real* y,
                Real* x) {
  parallel_for(planes, rows_per_block(in + out), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      Real* to = x + plane * in;
      std::fill_n(to, in, Real(0));
      for (std::int64_t j = plane * out; j < (plane + 1) * out; ++j) to[positions[j]] += y[j];
    }
  });
}

}  // namespace xgrad
