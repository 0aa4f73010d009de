// Neighbouring windows lie side by side in a register, with their first inputs, then their second ones, and so on.
// Where windows are of different sizes, and so at an edge, they are gone through one by one.
#include "pooling.h"

#include <algorithm>
#include <vector>

#include "rows.h"

namespace xgrad {
namespace {

using Numbers = std::vector<Real, PoolAllocator<Real>>;

void max_one_by_one(const PooledPlanes& sizes, const Real* x, Real* y, std::int64_t* places) {
  const Windows &rows = sizes.rows, &columns = sizes.columns;
  for (std::int64_t i = 0; i < rows.out; ++i) {
    for (std::int64_t j = 0; j < columns.out; ++j) {
      std::int64_t place = rows.first.data()[i] * columns.in + columns.first.data()[j];
      Real best = x[place];
      for (std::int64_t h = rows.first.data()[i]; h <= rows.last.data()[i]; h += rows.step) {
        for (std::int64_t w = columns.first.data()[j]; w <= columns.last.data()[j]; w += columns.step) {
          const std::int64_t at = h * columns.in + w;
          const bool better = x[at] > best || x[at] != x[at];
          best = better ? x[at] : best;
          place = better ? at : place;
        }
      }
      *y++ = best;
      if (places) *places++ = place;
    }
  }
}

// A row of inputs, in which the windows begin `stride` apart: at(k) has the inputs k behind their beginnings, one
// beside the other.
class Row {
 public:
  // For a stride of 2, `room` takes the inputs with even and those with odd numbers.
  Row(const Real* from, std::int64_t stride, std::int64_t count, Real* room) : stride_(stride), parts_{from, from} {
    if (stride == 1) return;
    Real *even = room, *odd = room + (count + 1) / 2;
    for (std::int64_t i = 0; i < count / 2; ++i) {
      even[i] = from[2 * i];
      odd[i] = from[2 * i + 1];
    }
    if (count % 2 == 1) even[count / 2] = from[count - 1];
    parts_[0] = even;
    parts_[1] = odd;
  }
  const Real* at(std::int64_t k) const { return stride_ == 1 ? parts_[0] + k : parts_[k % 2] + k / 2; }

 private:
  std::int64_t stride_;
  const Real* parts_[2];
};

// Windows that are all of one size, 1 or 2 columns apart.
void max_side_by_side(const PooledPlanes& sizes, const Real* x, Real* y, std::int64_t* places) {
  const Windows &rows = sizes.rows, &columns = sizes.columns;
  const std::int64_t begin = columns.first.data()[0], count = columns.in - begin, out = columns.out;
  const std::int64_t height = rows.longest, width = columns.longest;
  Numbers room(static_cast<std::size_t>(height * (count + 1) + out));
  Real* const nth_of_best = room.data() + height * (count + 1);
  std::vector<Row> seen;
  std::vector<std::int64_t> offsets;  // of the n-th input of a window from its first
  for (std::int64_t n = 0; n < height * width; ++n) {
    offsets.push_back(n / width * rows.step * columns.in + n % width * columns.step);
  }
  for (std::int64_t i = 0; i < rows.out; ++i, y += out) {
    const std::int64_t top = rows.first.data()[i];
    seen.clear();
    for (std::int64_t h = 0; h < height; ++h) {
      const Real* from = x + (top + h * rows.step) * columns.in + begin;
      seen.emplace_back(from, columns.stride, count, room.data() + h * (count + 1));
    }
    each_pack(out, [&](std::int64_t j, auto part) {
      Pack best = part.load(seen[0].at(0) + j), nth(0);
      for (std::int64_t n = 1; n < height * width; ++n) {
        const Pack v = part.load(seen[static_cast<std::size_t>(n / width)].at(n % width * columns.step) + j);
        const Pack number(static_cast<Real>(n));
        nth = where(v == v, where(v > best, number, nth), number);
        best = where(v == v, where(v > best, v, best), v);
      }
      part.store(best, y + j);
      part.store(nth, nth_of_best + j);
    });
    if (!places) continue;
    for (std::int64_t j = 0, at = top * columns.in + begin; j < out; ++j, at += columns.stride) {
      *places++ = at + offsets[static_cast<std::size_t>(nth_of_best[j])];
    }
  }
}

}  // namespace

void max_of_windows(const PooledPlanes& sizes, const Real* x, Real* y, std::int64_t* places) {
  const Windows &rows = sizes.rows, &columns = sizes.columns;
  constexpr std::int64_t most_numbered = 1 << 16;
  const bool regular = rows.stride > 0 && (columns.stride == 1 || columns.stride == 2) &&
                       rows.longest * columns.longest <= most_numbered;
  const std::int64_t in = sizes.in(), out = sizes.out();
  parallel_for(sizes.planes, rows_per_block(in + out), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const auto of_plane = regular ? max_side_by_side : max_one_by_one;
      of_plane(sizes, x + plane * in, y + plane * out, places ? places + plane * out : nullptr);
    }
  });
}

void take_places(std::int64_t planes, std::int64_t in, std::int64_t out, const std::int64_t* places, const Real* x,
                 Real* y) {
  parallel_for(planes, rows_per_block(in + out), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      for (std::int64_t j = plane * out; j < (plane + 1) * out; ++j) y[j] = x[plane * in + places[j]];
    }
  });
}

void add_places(std::int64_t planes, std::int64_t in, std::int64_t out, const std::int64_t* places, const Real* y,
                Real* x) {
  parallel_for(planes, rows_per_block(in + out), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      Real* to = x + plane * in;
      std::fill_n(to, in, Real(0));
      for (std::int64_t j = plane * out; j < (plane + 1) * out; ++j) to[places[j]] += y[j];
    }
  });
}

}  // namespace xgrad
