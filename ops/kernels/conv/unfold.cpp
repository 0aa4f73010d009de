// The columns of a convolution, and their sums. Threads divide the planes of the images.
#include <algorithm>
#include <functional>

#include "../../../core/runtime/parallel.h"
#include "../products/gemm.h"
#include "conv.h"

namespace xgrad {
namespace {

// The part of an image that the results of a convolution see through one tap of its kernel, along an axis:
// results first ... last - 1 see a position of the image at tap k.
struct TapRange {
  std::int64_t first, last, from;  // `from`: the position that the first of them sees

  std::int64_t count() const { return last - first; }
};

TapRange seen(const ConvAxis& axis, std::int64_t k) {
  const std::int64_t shift = axis.dilation * k - axis.padding;
  const auto up = [&](std::int64_t n) { return n <= 0 ? 0 : (n - 1) / axis.stride + 1; };
  const std::int64_t first = std::min(up(-shift), axis.out);
  const std::int64_t last = std::clamp(up(axis.in - shift), first, axis.out);
  return {first, last, first * axis.stride + shift};
}

// f(row of the columns, row of the image, count, stride) for all elements that are both in a plane and in its columns.
template <class F>
void each_run_of_pixels(const ConvSizes& sizes, const F& f) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t taps = h.kernel * w.kernel, pixels = h.out * w.out;
  parallel_for(sizes.batch * sizes.groups * sizes.in, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const TapRange down = seen(h, tap / w.kernel), across = seen(w, tap % w.kernel);
        for (std::int64_t i = down.first; i < down.last; ++i) {
          const std::int64_t row = plane * h.in + down.from + (i - down.first) * h.stride;
          f((plane * taps + tap) * pixels + i * w.out + across.first, row * w.in + across.from, across.count());
        }
      }
    }
  });
}

}  // namespace

Array unfold_rows(const ConvSizes& sizes, const Real* image) {
  Array columns(
      Shape{sizes.batch, sizes.groups * sizes.in * sizes.h.kernel * sizes.w.kernel, sizes.h.out * sizes.w.out},
      Real(0));
  if (columns.size() == 0) return columns;
  Real* const out = columns.mutable_data();
  const std::int64_t stride = sizes.w.stride;
  each_run_of_pixels(sizes, [=](std::int64_t to, std::int64_t from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[to + i] = image[from + i * stride];
  });
  return columns;
}

Array fold_rows(const ConvSizes& sizes, const Real* columns) {
  Array image(sizes.image_shape(), Real(0));
  if (image.size() == 0 || sizes.h.out * sizes.w.out == 0) return image;
  Real* const out = image.mutable_data();
  const std::int64_t stride = sizes.w.stride;
  each_run_of_pixels(sizes, [=](std::int64_t from, std::int64_t to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[to + i * stride] += columns[from + i];
  });
  return image;
}

namespace {

// f(image, group) for all of them, in parallel.
template <class F>
void each_image(const ConvSizes& sizes, const F& f) {
  parallel_for(sizes.batch * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) f(n / sizes.groups, n % sizes.groups);
  });
}

// y (batch, channels, ...) = bias
void start_planes(Array& y, const Real* bias) {
  const std::int64_t channels = y.dim(1), plane = y.dim(2) * y.dim(3);
  for (std::int64_t n = 0; n < y.dim(0) * channels; ++n) {
    std::fill_n(y.mutable_data() + n * plane, plane, bias ? bias[n % channels] : 0);
  }
}

}  // namespace

Array detail::conv_rows_by_columns(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias) {
  const Array columns = unfold_rows(sizes, image);
  const std::int64_t seen = sizes.in * sizes.h.kernel * sizes.w.kernel, pixels = sizes.h.out * sizes.w.out;
  Array y(sizes.result_shape());
  start_planes(y, bias);
  Real* const out = y.mutable_data();
  each_image(sizes, [&](std::int64_t b, std::int64_t g) {
    gemm({.m = sizes.out, .n = pixels, .k = seen, .keep = 1}, {kernel + sizes.kernel_at(g, 0), seen},
         {columns.data() + (b * sizes.groups + g) * seen * pixels, pixels}, out + sizes.result_at(b, g), pixels);
  });
  return y;
}

Array detail::conv_image_rows_by_columns(const ConvSizes& sizes, const Real* result, const Real* kernel,
                                         const Real* bias) {
  const std::int64_t seen = sizes.in * sizes.h.kernel * sizes.w.kernel, pixels = sizes.h.out * sizes.w.out;
  Array columns(Shape{sizes.batch, sizes.groups * seen, pixels});
  Real* const to = columns.mutable_data();
  each_image(sizes, [&](std::int64_t b, std::int64_t g) {
    gemm({.m = seen, .n = pixels, .k = sizes.out}, {kernel + sizes.kernel_at(g, 0), seen, true},
         {result + sizes.result_at(b, g), pixels}, to + (b * sizes.groups + g) * seen * pixels, pixels);
  });
  Array x = fold_rows(sizes, columns.data());
  if (!bias) return x;
  Array with_bias(sizes.image_shape());
  start_planes(with_bias, bias);
  std::transform(x.begin(), x.end(), with_bias.begin(), with_bias.mutable_data(), std::plus<>());
  return with_bias;
}

Array detail::conv_kernel_rows_by_columns(const ConvSizes& sizes, const Real* image, const Real* result) {
  const Array columns = unfold_rows(sizes, image);
  const std::int64_t seen = sizes.in * sizes.h.kernel * sizes.w.kernel, pixels = sizes.h.out * sizes.w.out;
  Array gradient(sizes.kernel_shape(), Real(0));
  Real* const to = gradient.mutable_data();
  parallel_for(sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) {
      for (std::int64_t b = 0; b < sizes.batch; ++b) {
        gemm({.m = sizes.out, .n = seen, .k = pixels, .keep = 1}, {result + sizes.result_at(b, g), pixels},
             {columns.data() + (b * sizes.groups + g) * seen * pixels, pixels, true}, to + sizes.kernel_at(g, 0), seen);
      }
    }
  });
  return gradient;
}

}  // namespace xgrad
