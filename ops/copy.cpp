// The copying kernel. xtensor's strided assignment goes element by element (up to 200 times slower than a copy of
// rows), so these are plain loops: axes are merged where both sides allow it, rows that lie in one piece are moved as
// such, and transposes go through registers in square tiles.
#include <xgrad/ops/copy.h>

#include <cstring>
#include <utility>

#include <xgrad/core/parallel.h>
#include <xgrad/ops/simd.h>

namespace xgrad::inline XGRAD_ABI {

namespace {

constexpr std::int64_t copy_block = 1 << 15;  // elements that one thread moves at a time

// The axes of a copy, outermost first, without those of size 1, neighbours merged where one stride serves both.
struct Walk {
  Strides sizes, to, from;
  bool empty = false;

  Walk(const Shape& shape, const Strides& to_strides, const Strides& from_strides) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t size = shape[axis];
      empty |= size == 0;
      if (size == 1) continue;
      const int last = sizes.size() - 1;
      if (last >= 0 && to[last] == to_strides[axis] * size && from[last] == from_strides[axis] * size) {
        sizes[last] *= size;
        to[last] = to_strides[axis];
        from[last] = from_strides[axis];
      } else {
        sizes.push_back(size);
        to.push_back(to_strides[axis]);
        from.push_back(from_strides[axis]);
      }
    }
  }
  int rank() const { return sizes.size(); }
  void move_axis(int axis, int before) {
    for (Strides* list : {&sizes, &to, &from}) {
      std::rotate(list->begin() + axis, list->begin() + axis + 1, list->begin() + before);
    }
  }
};

// Calls f(to, from) with the offsets of the indices begin ... end - 1 of the axes before `axes`, in row-major order.
template <class F>
void for_each_offset(const Walk& walk, int axes, std::int64_t begin, std::int64_t end, const F& f) {
  Strides index = Strides::filled(axes, 0);
  std::int64_t to = 0, from = 0;
  for (std::int64_t axis = axes, rest = begin; axis-- > 0;) {
    const int i = static_cast<int>(axis);
    index[i] = rest % walk.sizes[i];
    rest /= walk.sizes[i];
    to += index[i] * walk.to[i];
    from += index[i] * walk.from[i];
  }
  for (std::int64_t n = begin; n < end; ++n) {
    f(to, from);
    for (int i = axes; i-- > 0;) {
      to += walk.to[i];
      from += walk.from[i];
      if (++index[i] < walk.sizes[i]) break;
      index[i] = 0;
      to -= walk.sizes[i] * walk.to[i];
      from -= walk.sizes[i] * walk.from[i];
    }
  }
}

// Calls f with the way to copy one row of n elements: row(to, from). Short rows of usual lengths have a size that the
// compiler knows.
template <class T, class F>
void with_row_copy(std::int64_t n, std::int64_t to_step, std::int64_t from_step, const F& f) {
  const auto fixed = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes>) {
    f([](T* to, const T* from) { std::memcpy(to, from, bytes); });
  };
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  if (to_step == 1 && from_step == 1) {
    switch (bytes) {
      case 16:
        return fixed(std::integral_constant<std::size_t, 16>{});
      case 32:
        return fixed(std::integral_constant<std::size_t, 32>{});
      case 64:
        return fixed(std::integral_constant<std::size_t, 64>{});
      case 128:
        return fixed(std::integral_constant<std::size_t, 128>{});
      default:
        return f([bytes](T* to, const T* from) { std::memcpy(to, from, bytes); });
    }
  }
  if (to_step == 1 && from_step == 0) {
    return f([n](T* to, const T* from) { std::fill_n(to, n, *from); });
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
  const int last = walk.rank() - 1;
  if (walk.to[last] != 1 || walk.from[last] == 0 || walk.from[last] == 1) return false;
  for (int axis = 0; axis < last; ++axis) {
    if (walk.from[axis] != 1) continue;
    walk.move_axis(axis, last);
    return true;
  }
  return false;
}

}  // namespace

template <class T>
void copy_strided(const Shape& shape, T* to, const Strides& to_strides, const T* from, const Strides& from_strides) {
  Walk walk(shape, to_strides, from_strides);
  if (walk.empty) return;
  const int last = walk.rank() - 1;
  if (walk.rank() == 0) {
    *to = *from;
  } else if (walk.rank() == 1) {
    const std::int64_t to_step = walk.to[0], from_step = walk.from[0];
    parallel_for(walk.sizes[0], copy_block, [&](std::int64_t begin, std::int64_t end) {
      with_row_copy<T>(end - begin, to_step, from_step,
                       [&](auto copy_row) { copy_row(to + begin * to_step, from + begin * from_step); });
    });
  } else if (make_transpose(walk)) {
    // Strips of whole tiles: the unit of the parallel loop.
    constexpr std::int64_t strip = 4 * tile<T>;
    const std::int64_t height = walk.sizes[last - 1], width = walk.sizes[last];
    const std::int64_t to_stride = walk.to[last - 1], from_stride = walk.from[last];
    const std::int64_t strips = (height + strip - 1) / strip;
    std::int64_t planes = 1;
    for (int axis = 0; axis < last - 1; ++axis) planes *= walk.sizes[axis];
    const std::int64_t elements = std::min(strip, height) * width;
    parallel_for(
        planes * strips, std::max<std::int64_t>(1, copy_block / elements), [&](std::int64_t begin, std::int64_t end) {
          std::int64_t first = begin % strips, left = end - begin;
          for_each_offset(walk, last - 1, begin / strips, (end + strips - 1) / strips,
                          [&](std::int64_t to_offset, std::int64_t from_offset) {
                            const std::int64_t count = std::min(left, strips - first);
                            const std::int64_t row = first * strip;
                            transpose_rows(to + to_offset + row * to_stride, to_stride, from + from_offset + row,
                                           from_stride, std::min(count * strip, height - row), width);
                            left -= count;
                            first = 0;
                          });
        });
  } else {
    std::int64_t rows = 1;
    for (int axis = 0; axis < last; ++axis) rows *= walk.sizes[axis];
    parallel_for(rows, std::max<std::int64_t>(1, copy_block / walk.sizes[last]),
                 [&](std::int64_t begin, std::int64_t end) {
                   with_row_copy<T>(walk.sizes[last], walk.to[last], walk.from[last], [&](auto copy_row) {
                     for_each_offset(walk, last, begin, end, [&](std::int64_t to_offset, std::int64_t from_offset) {
                       copy_row(to + to_offset, from + from_offset);
                     });
                   });
                 });
  }
}

template void copy_strided(const Shape&, Real*, const Strides&, const Real*, const Strides&);
template void copy_strided(const Shape&, std::int64_t*, const Strides&, const std::int64_t*, const Strides&);
template void copy_strided(const Shape&, bool*, const Strides&, const bool*, const Strides&);

}  // namespace xgrad::inline XGRAD_ABI
