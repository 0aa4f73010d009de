// The columns of a convolution, and its three maps as products with them. The columns of an image are made when it is
// multiplied, in a buffer of the worker.
#include <algorithm>

#include "../../../core/runtime/parallel.h"
#include "../products/product.h"
#include "conv.h"
#include "conv_window.h"

namespace xgrad {
namespace {

// The results that see an image through one tap of the kernel, along an axis: results first ... last - 1 see positions
// from, from + stride, ...
struct TapRange {
  std::int64_t first, last, from;
};

TapRange seen(const ConvAxis& axis, std::int64_t k) {
  const std::int64_t shift = axis.dilation * k - axis.padding;
  const auto up = [&](std::int64_t n) { return n <= 0 ? 0 : (n - 1) / axis.stride + 1; };
  const std::int64_t first = std::min(up(-shift), axis.out);
  const std::int64_t last = std::clamp(up(axis.in - shift), first, axis.out);
  return {first, last, first * axis.stride + shift};
}

// f(position in the columns, position in the planes, count) for all elements that are both in some planes and in their
// columns (planes, taps, pixels).
void each_run(const ConvSizes& sizes, std::int64_t planes, const auto& f) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  std::int64_t row = 0;  // of the columns
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    for (std::int64_t tap = 0; tap < sizes.taps(); ++tap, row += sizes.pixels()) {
      const TapRange down = seen(h, tap / w.kernel), across = seen(w, tap % w.kernel);
      std::int64_t from = (plane * h.in + down.from) * w.in + across.from;
      for (std::int64_t i = down.first; i < down.last; ++i, from += h.step() * w.in) {
        f(row + i * w.out + across.first, from, across.last - across.first);
      }
    }
  }
}

// Whether some of the results see zeros before or after the image.
bool sees_zeros(const ConvAxis& axis) { return seen(axis, 0).first > 0 || seen(axis, axis.kernel - 1).last < axis.out; }

// Writes the columns of some planes.
void unfold(const ConvSizes& sizes, std::int64_t planes, const Real* image, Real* columns) {
  if (sees_zeros(sizes.h) || sees_zeros(sizes.w)) {
    std::fill_n(columns, planes * sizes.taps() * sizes.pixels(), Real(0));
  }
  const std::int64_t stride = sizes.w.stride;
  each_run(sizes, planes, [=](std::int64_t to, std::int64_t from, std::int64_t count) {
    if (stride == 1) {
      each_pack(count, [&](std::int64_t i, auto part) { part.store(part.load(image + from + i), columns + to + i); });
    } else {
      for (std::int64_t i = 0; i < count; ++i) columns[to + i] = image[from + i * stride];
    }
  });
}

// Adds the columns of some planes to these.
void fold(const ConvSizes& sizes, std::int64_t planes, const Real* columns, Real* image) {
  each_run(sizes, planes, [=, stride = sizes.w.stride](std::int64_t from, std::int64_t to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) image[to + i * stride] += columns[from + i];
  });
}

// f(first, count) for blocks of planes, in parallel.
void each_block_of_planes(const ConvSizes& sizes, const auto& f) {
  parallel_for(sizes.batch * sizes.groups * sizes.in, 1,
               [&](std::int64_t begin, std::int64_t end) { f(begin, end - begin); });
}

// y (batch, channels, ...) = bias
void start_planes(Array& y, const Real* bias) {
  const std::int64_t channels = y.dim(1), plane = y.dim(2) * y.dim(3);
  for (std::int64_t n = 0; n < y.dim(0) * channels; ++n) {
    std::fill_n(y.mutable_data() + n * plane, plane, bias ? bias[n % channels] : 0);
  }
}

// f(columns, image, group) for all of them, in parallel, with memory for the columns.
void each_image(const ConvSizes& sizes, const auto& f) {
  const auto make_columns = [&] { return Array(Shape{sizes.seen(), sizes.pixels()}); };
  each_conv_job(sizes, 1, make_columns,
                [&](Array& columns, std::int64_t b, std::int64_t g, std::int64_t, std::int64_t) {
                  f(columns.mutable_data(), b, g);
                });
}

}  // namespace

Array unfold_rows(const ConvSizes& sizes, const Real* image) {
  Array columns(Shape{sizes.batch, sizes.groups * sizes.seen(), sizes.pixels()});
  if (columns.size() == 0) return columns;
  Real* const out = columns.mutable_data();
  each_block_of_planes(sizes, [&](std::int64_t first, std::int64_t count) {
    unfold(sizes, count, image + first * sizes.h.in * sizes.w.in, out + first * sizes.taps() * sizes.pixels());
  });
  return columns;
}

Array fold_rows(const ConvSizes& sizes, const Real* columns) {
  Array image(sizes.image_shape(), Real(0));
  if (image.size() == 0 || sizes.pixels() == 0) return image;
  Real* const out = image.mutable_data();
  each_block_of_planes(sizes, [&](std::int64_t first, std::int64_t count) {
    fold(sizes, count, columns + first * sizes.taps() * sizes.pixels(), out + first * sizes.h.in * sizes.w.in);
  });
  return image;
}

Array detail::conv_rows_by_columns(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias) {
  Array y(sizes.result_shape());
  start_planes(y, bias);
  Real* const out = y.mutable_data();
  const std::int64_t seen = sizes.seen(), pixels = sizes.pixels();
  each_image(sizes, [&](Real* columns, std::int64_t b, std::int64_t g) {
    unfold(sizes, sizes.in, image + sizes.image_at(b, g), columns);
    gemm({.m = sizes.out, .n = pixels, .k = seen, .keep = 1}, {kernel + sizes.kernel_at(g, 0), seen}, {columns, pixels},
         out + sizes.result_at(b, g), pixels);
  });
  return y;
}

Array detail::conv_image_rows_by_columns(const ConvSizes& sizes, const Real* result, const Real* kernel,
                                         const Real* bias) {
  Array x(sizes.image_shape());
  start_planes(x, bias);
  Real* const out = x.mutable_data();
  const std::int64_t seen = sizes.seen(), pixels = sizes.pixels();
  each_image(sizes, [&](Real* columns, std::int64_t b, std::int64_t g) {
    gemm({.m = seen, .n = pixels, .k = sizes.out}, {kernel + sizes.kernel_at(g, 0), seen, true},
         {result + sizes.result_at(b, g), pixels}, columns, pixels);
    fold(sizes, sizes.in, columns, out + sizes.image_at(b, g));
  });
  return x;
}

Array detail::conv_kernel_rows_by_columns(const ConvSizes& sizes, const Real* image, const Real* result) {
  // Blocks of images have their own sums, as many as memory allows. The columns of some rows of results are made at a
  // time.
  constexpr std::int64_t most_blocks = 16, most_elements = 1 << 20, most_columns = 1 << 17;
  Array gradient(sizes.kernel_shape(), Real(0));
  const std::int64_t seen = sizes.seen(), width = sizes.w.out, size = gradient.size();
  const std::int64_t blocks = std::clamp<std::int64_t>(most_elements / size, 1, std::min(sizes.batch, most_blocks));
  const std::int64_t height = std::clamp<std::int64_t>(most_columns / (seen * width), 1, sizes.h.out);
  Array all(Shape{blocks, size}, Real(0));
  Real* const sums = all.mutable_data();
  parallel_for(blocks * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    Array buffer(Shape{seen, height * width});
    Real* const columns = buffer.mutable_data();
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t block = job / sizes.groups, g = job % sizes.groups;
      for (std::int64_t b = sizes.batch * block / blocks; b < sizes.batch * (block + 1) / blocks; ++b) {
        for (std::int64_t i = 0; i < sizes.h.out; i += height) {
          ConvSizes rows = sizes;  // of results, from row i on
          rows.h.out = std::min(height, sizes.h.out - i);
          rows.h.padding -= i * sizes.h.step();
          unfold(rows, sizes.in, image + sizes.image_at(b, g), columns);
          gemm({.m = sizes.out, .n = seen, .k = rows.pixels(), .keep = 1},
               {result + sizes.result_at(b, g) + i * width, sizes.pixels()}, {columns, rows.pixels(), true},
               sums + block * size + sizes.kernel_at(g, 0), seen);
        }
      }
    }
  });
  Real* const out = gradient.mutable_data();
  for (std::int64_t n = 0; n < blocks * size; ++n) out[n % size] += sums[n];
  return gradient;
}

}  // namespace xgrad
