// The copying kernel. xtensor's strided assignment goes element by element (up to 200 times slower than a copy of
// rows), so these are plain loops: axes are merged where both sides allow it, contiguous rows are copied whole, and
// transposes go through registers in square tiles.
#include "copy.h"

#include "../../../core/runtime/parallel.h"
#include "transpose.h"

namespace xgrad {

namespace {

using CopyWalk = Walk<2>;  // to, from

// Calls f with the way to copy one row of n elements: row(to, from).
template <class T, class F>
void with_strided_row_copy(std::int64_t n, const CopyWalk::Offsets& steps, const F& f) {
  const std::int64_t to_stride = steps[0], from_stride = steps[1];
  if (to_stride == 1 && from_stride == 1) return with_row_copy<T>(n, f);
  if (to_stride == 1 && from_stride == 0) {
    return f([n](T* to, const T* from) { std::fill_n(to, n, *from); });
  }
  if (to_stride == 1 && from_stride == -1) {  // a constant step compiles to reversed registers
    return f([n](T* to, const T* from) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[-i];
    });
  }
  if (to_stride == 1) {
    return f([n, from_stride](T* to, const T* from) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * from_stride];
    });
  }
  f([n, to_stride, from_stride](T* to, const T* from) {
    for (std::int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  });
}

// transpose_rows for every step of a walk, in parallel by strips of rows that stay together.
template <class T>
void copy_transposed(const CopyWalk& walk, T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride,
                     std::int64_t height, std::int64_t width) {
  constexpr std::int64_t strip = 4 * tile<T>;
  const std::int64_t strips = (height + strip - 1) / strip;
  const std::int64_t grain = std::max<std::int64_t>(1, copy_block / (std::min(strip, height) * width));
  parallel_for(walk.count() * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = begin % strips, left = end - begin;
    walk.for_each(begin / strips, (end + strips - 1) / strips, [&](const auto& at) {
      const std::int64_t count = std::min(left, strips - first), row = first * strip;
      transpose_rows(to + at[0] + row * to_stride, to_stride, from + at[1] + row, from_stride,
                     std::min(count * strip, height - row), width);
      left -= count;
      first = 0;
    });
  });
}

// Whether the innermost axis is contiguous in `to` and some other axis is contiguous in `from`; if so, that one is
// moved next to the innermost.
bool make_transpose(CopyWalk& walk) {
  const auto [to, from] = walk[walk.rank() - 1].strides;
  if (to != 1 || from == 0 || from == 1) return false;
  for (int i = 0; i < walk.rank() - 1; ++i) {
    if (walk[i].strides[1] != 1) continue;
    const CopyWalk::Axis innermost = walk.pop();
    walk.push(walk.take(i));
    walk.push(innermost);
    return true;
  }
  return false;
}

}  // namespace

template <class T>
void copy_strided(const Shape& shape, T* to, const Strides& to_strides, const T* from, const Strides& from_strides) {
  CopyWalk walk(shape, {to_strides, from_strides});
  if (walk.rank() == 0) {
    *to = *from;
    return;
  }
  if (walk.count() == 0) return;
  const bool transposed = make_transpose(walk);
  const CopyWalk::Axis inner = walk.pop();
  if (transposed) {
    const CopyWalk::Axis rows = walk.pop();
    copy_transposed(walk, to, rows.strides[0], from, inner.strides[1], rows.size, inner.size);
  } else if (walk.rank() == 0) {
    parallel_for(inner.size, copy_block, [&](std::int64_t begin, std::int64_t end) {
      with_strided_row_copy<T>(end - begin, inner.strides, [&](auto copy_row) {
        copy_row(to + begin * inner.strides[0], from + begin * inner.strides[1]);
      });
    });
  } else {
    const std::int64_t grain = std::max<std::int64_t>(1, copy_block / inner.size);
    with_strided_row_copy<T>(inner.size, inner.strides, [&](auto copy_row) {
      parallel_for(walk.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        walk.for_each(begin, end, [&](const auto& at) { copy_row(to + at[0], from + at[1]); });
      });
    });
  }
}

template void copy_strided(const Shape&, Real*, const Strides&, const Real*, const Strides&);
template void copy_strided(const Shape&, std::int64_t*, const Strides&, const std::int64_t*, const Strides&);
template void copy_strided(const Shape&, bool*, const Strides&, const bool*, const Strides&);

}  // namespace xgrad
