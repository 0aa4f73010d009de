// A row of windows at a time: their first inputs, then their second ones, and so on, each in a loop over the windows
// that has no branch.
#include "pooling.h"

#include <algorithm>
#include <vector>

#include "rows.h"

namespace xgrad {
namespace {

// The maxima of one row of windows. `column(i, k)` is the k-th column that window i sees, or its last one again.
template <class Column>
void max_of_row(const PooledPlanes& sizes, std::int64_t row, const Column& column, const Real* plane, Real* best,
                std::int32_t* place) {
  const std::int64_t count = sizes.columns.out, longest = sizes.columns.longest;
  const std::int64_t top = sizes.rows.first.data()[row], bottom = sizes.rows.last.data()[row];
  for (std::int64_t h = top; h <= bottom; h += sizes.rows.step) {
    const Real* from = plane + h * sizes.columns.in;
    const auto begin = static_cast<std::int32_t>(h * sizes.columns.in);
    for (std::int64_t k = 0; k < longest; ++k) {
      const auto nth = static_cast<std::int32_t>(k);
      if (h == top && k == 0) {
        for (std::int32_t i = 0; i < count; ++i) {
          best[i] = from[column(i, nth)];
          place[i] = begin + column(i, nth);
        }
        continue;
      }
      for (std::int32_t i = 0; i < count; ++i) {
        const std::int32_t at = column(i, nth);
        const Real v = from[at];
        const bool better = (v > best[i]) | (v != v);
        best[i] = better ? v : best[i];
        place[i] = better ? begin + at : place[i];
      }
    }
  }
}

// Calls f(column) with the columns of regular windows as a formula, of others by table.
template <class F>
void with_columns(const Windows& windows, const F& f) {
  const auto step = static_cast<std::int32_t>(windows.step);
  const auto begin = static_cast<std::int32_t>(windows.first.data()[0]);
  const std::int64_t *first = windows.first.data(), *last = windows.last.data();
  if (windows.stride == 1) return f([=](std::int32_t i, std::int32_t k) { return begin + i + k * step; });
  if (windows.stride == 2) return f([=](std::int32_t i, std::int32_t k) { return begin + 2 * i + k * step; });
  f([=](std::int32_t i, std::int32_t k) {
    return static_cast<std::int32_t>(std::min(first[i] + std::int64_t{k} * step, last[i]));
  });
}

}  // namespace

void max_of_windows(const PooledPlanes& sizes, const Real* x, Real* y, std::int64_t* places) {
  if (sizes.planes == 0) return;
  const std::int64_t in = sizes.in(), out = sizes.out(), count = sizes.columns.out;
  with_columns(sizes.columns, [&](auto column) {
    parallel_for(sizes.planes, rows_per_block(in + out), [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int32_t, PoolAllocator<std::int32_t>> row_places(static_cast<std::size_t>(count));
      for (std::int64_t plane = begin; plane < end; ++plane) {
        for (std::int64_t row = 0; row < sizes.rows.out; ++row) {
          const std::int64_t at = plane * out + row * count;
          max_of_row(sizes, row, column, x + plane * in, y + at, row_places.data());
          if (places) std::copy_n(row_places.data(), count, places + at);
        }
      }
    });
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
