// The copying kernel. xtensor's strided assignment goes element by element (up to 200 times slower than a copy of
// rows), so these are plain loops: axes are merged where both sides allow it, rows that lie in one piece are moved as
// such, and transposes go through registers in square tiles.
#include <xgrad/ops/copy.h>

#include <utility>

#include <xgrad/core/parallel.h>
#include <xgrad/ops/simd.h>

namespace xgrad::inline XGRAD_ABI {

namespace {

// The axes of a copy, outermost first, without those of size 1, neighbours merged where one stride serves both.
struct Walk {
  struct Axis {
    std::int64_t size, to, from;
  };
  Strides sizes;
  std::array<Strides, 2> strides;  // of `to` and `from`
  bool empty = false;

  Walk(const Shape& shape, const Strides& to_strides, const Strides& from_strides) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t size = shape[axis], to = to_strides[axis], from = from_strides[axis];
      empty |= size == 0;
      if (size == 1) continue;
      if (rank() > 0 && strides[0].back() == to * size && strides[1].back() == from * size) {
        const Axis outer = pop();
        push({outer.size * size, to, from});
      } else {
        push({size, to, from});
      }
    }
  }
  int rank() const { return sizes.size(); }
  std::int64_t count() const {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    return count;
  }
  void push(const Axis& axis) {
    sizes.push_back(axis.size);
    strides[0].push_back(axis.to);
    strides[1].push_back(axis.from);
  }
  Axis pop() { return take(rank() - 1); }
  Axis take(int i) {
    const Axis axis{sizes[i], strides[0][i], strides[1][i]};
    for (Strides* list : {&sizes, &strides[0], &strides[1]}) list->erase(i);
    return axis;
  }
};

// Calls f with the way to copy one row of n elements: row(to, from).
template <class T, class F>
void with_strided_row_copy(std::int64_t n, std::int64_t to_step, std::int64_t from_step, const F& f) {
  if (to_step == 1 && from_step == 1) return with_row_copy<T>(n, f);
  if (to_step == 1 && from_step == 0) {
    return f([n](T* to, const T* from) { std::fill_n(to, n, *from); });
  }
  if (to_step == 1 && from_step == -1) {  // a step that the compiler knows becomes whole registers turned round
    return f([n](T* to, const T* from) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[-i];
    });
  }
  if (to_step == 1) {
    return f([n, from_step](T* to, const T* from) {
      for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * from_step];
    });
  }
  f([n, to_step, from_step](T* to, const T* from) {
    for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  });
}

// A square tile is as wide as a register.
template <class T>
inline constexpr int tile = sizeof(T) == 1 ? 16 : static_cast<int>(Pack::width * sizeof(Real) / sizeof(T));

// to[i to_stride + j] = from[i + j from_stride] for i, j < tile: rows into registers, then log2(tile) rounds that each
// interleave register i with register i + tile / 2, then out.
template <class T>
void transpose_tile(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride) {
  constexpr int width = tile<T>;
  if constexpr (sizeof(T) == 1) {
    for (int i = 0; i < width; ++i) {
      for (int j = 0; j < width; ++j) to[i * to_stride + j] = from[i + j * from_stride];
    }
  } else {
    typedef T Register __attribute__((vector_size(width * sizeof(T))));
    Register rows[width], mixed[width];
    for (int j = 0; j < width; ++j) std::memcpy(&rows[j], from + j * from_stride, sizeof(Register));
    const auto interleave = [&]<int... k>(std::integer_sequence<int, k...>) {
      for (int j = 0; j < width / 2; ++j) {
        mixed[2 * j] = __builtin_shufflevector(rows[j], rows[j + width / 2], (k / 2 + k % 2 * width)...);
        mixed[2 * j + 1] =
            __builtin_shufflevector(rows[j], rows[j + width / 2], (width / 2 + k / 2 + k % 2 * width)...);
      }
      for (int j = 0; j < width; ++j) rows[j] = mixed[j];
    };
    for (int round = 1; round < width; round *= 2) interleave(std::make_integer_sequence<int, width>{});
    for (int i = 0; i < width; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(Register));
  }
}

// to[i to_stride + j] = from[i + j from_stride] for i < height, j < width.
template <class T>
void transpose_rows(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t height,
                    std::int64_t width) {
  for (std::int64_t i = 0; i < height; i += tile<T>) {
    for (std::int64_t j = 0; j < width; j += tile<T>) {
      T* out = to + i * to_stride + j;
      const T* in = from + i + j * from_stride;
      if (i + tile<T> <= height && j + tile<T> <= width) {
        transpose_tile(out, to_stride, in, from_stride);
      } else {
        for (std::int64_t p = 0; p < std::min<std::int64_t>(tile<T>, height - i); ++p) {
          for (std::int64_t q = 0; q < std::min<std::int64_t>(tile<T>, width - j); ++q) {
            out[p * to_stride + q] = in[p + q * from_stride];
          }
        }
      }
    }
  }
}

// Whether the innermost axis is one piece in `to` and some other axis is one piece in `from`; if so, that one is
// brought next to the innermost.
bool make_transpose(Walk& walk) {
  const auto& [to, from] = walk.strides;
  if (to.back() != 1 || from.back() == 0 || from.back() == 1) return false;
  for (int axis = 0; axis < walk.rank() - 1; ++axis) {
    if (from[axis] != 1) continue;
    const Walk::Axis innermost = walk.pop();
    walk.push(walk.take(axis));
    walk.push(innermost);
    return true;
  }
  return false;
}

}  // namespace

template <class T>
void copy_strided(const Shape& shape, T* to, const Strides& to_strides, const T* from, const Strides& from_strides) {
  Walk walk(shape, to_strides, from_strides);
  if (walk.empty) return;
  if (walk.rank() == 0) {
    *to = *from;
  } else if (walk.rank() == 1) {
    const Walk::Axis row = walk.pop();
    parallel_for(row.size, copy_block, [&](std::int64_t begin, std::int64_t end) {
      with_strided_row_copy<T>(end - begin, row.to, row.from,
                               [&](auto copy_row) { copy_row(to + begin * row.to, from + begin * row.from); });
    });
  } else if (make_transpose(walk)) {
    const Walk::Axis columns = walk.pop(), rows = walk.pop();
    constexpr std::int64_t strip = 4 * tile<T>;  // rows that stay together
    const std::int64_t strips = (rows.size + strip - 1) / strip;
    const std::int64_t grain = std::max<std::int64_t>(1, copy_block / (std::min(strip, rows.size) * columns.size));
    parallel_for(walk.count() * strips, grain, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t first = begin % strips, left = end - begin;
      for_each_offset<2>(walk.sizes, walk.strides, begin / strips, (end + strips - 1) / strips, [&](const auto& at) {
        const std::int64_t count = std::min(left, strips - first), row = first * strip;
        transpose_rows(to + at[0] + row * rows.to, rows.to, from + at[1] + row, columns.from,
                       std::min(count * strip, rows.size - row), columns.size);
        left -= count;
        first = 0;
      });
    });
  } else {
    const Walk::Axis row = walk.pop();
    const std::int64_t grain = std::max<std::int64_t>(1, copy_block / row.size);
    with_strided_row_copy<T>(row.size, row.to, row.from, [&](auto copy_row) {
      parallel_for(walk.count(), grain, [&](std::int64_t begin, std::int64_t end) {
        for_each_offset<2>(walk.sizes, walk.strides, begin, end,
                           [&](const auto& at) { copy_row(to + at[0], from + at[1]); });
      });
    });
  }
}

template void copy_strided(const Shape&, Real*, const Strides&, const Real*, const Strides&);
template void copy_strided(const Shape&, std::int64_t*, const Strides&, const std::int64_t*, const Strides&);
template void copy_strided(const Shape&, bool*, const Strides&, const bool*, const Strides&);

}  // namespace xgrad::inline XGRAD_ABI
