// Threads divide the planes of the result.
#include "conv_far.h"

#include <algorithm>

#include "../../../core/runtime/parallel.h"
#include "conv_seen.h"

namespace xgrad::detail {
namespace {

// f(place of the kernel, offset in a plane of results, offset in a plane of the image, count) for each row of results
// that sees the image through a place: neighbours there are w.stride apart in the image.
template <class F>
void each_row_seen(const ConvSizes& sizes, const F& f) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  for (std::int64_t i = 0; i < h.kernel; ++i) {
    const Seen down = seen(h, i);
    for (std::int64_t j = 0; j < w.kernel && down.count() > 0; ++j) {
      const Seen across = seen(w, j);
      for (std::int64_t row = 0; row < down.count() && across.count() > 0; ++row) {
        f(i * w.kernel + j, (down.first + row) * w.out + across.first,
          (down.from + row * h.stride) * w.in + across.from, across.count());
      }
    }
  }
}

// f(plane) for the planes of groups, `each` of them in one: called as f(batch, group, number in the group).
template <class F>
void each_plane(std::int64_t batch, std::int64_t groups, std::int64_t each, const F& f) {
  parallel_for(batch * groups * each, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) f(n / each / groups, n / each % groups, n % each);
  });
}

}  // namespace

Array far_conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias) {
  Array y(sizes.result_shape());
  Real* const out = y.mutable_data();
  const std::int64_t stride = sizes.w.stride;
  each_plane(sizes.batch, sizes.groups, sizes.out, [&](std::int64_t b, std::int64_t g, std::int64_t o) {
    Real* const to = out + sizes.result_at(b, g, o);
    std::fill_n(to, sizes.h.out * sizes.w.out, bias ? bias[g * sizes.out + o] : 0);
    for (std::int64_t c = 0; c < sizes.in; ++c) {
      const Real *x = image + sizes.image_at(b, g, c), *weight = kernel + sizes.kernel_at(g, o, c);
      each_row_seen(sizes, [&](std::int64_t place, std::int64_t row, std::int64_t from, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) to[row + i] += weight[place] * x[from + i * stride];
      });
    }
  });
  return y;
}

Array far_conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias) {
  Array x(sizes.image_shape());
  Real* const out = x.mutable_data();
  const std::int64_t stride = sizes.w.stride;
  each_plane(sizes.batch, sizes.groups, sizes.in, [&](std::int64_t b, std::int64_t g, std::int64_t c) {
    Real* const to = out + sizes.image_at(b, g, c);
    std::fill_n(to, sizes.h.in * sizes.w.in, bias ? bias[g * sizes.in + c] : 0);
    for (std::int64_t o = 0; o < sizes.out; ++o) {
      const Real *y = result + sizes.result_at(b, g, o), *weight = kernel + sizes.kernel_at(g, o, c);
      each_row_seen(sizes, [&](std::int64_t place, std::int64_t row, std::int64_t from, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) to[from + i * stride] += weight[place] * y[row + i];
      });
    }
  });
  return x;
}

Array far_conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result) {
  Array gradient(sizes.kernel_shape(), Real(0));
  Real* const out = gradient.mutable_data();
  const std::int64_t stride = sizes.w.stride;
  each_plane(sizes.out, sizes.groups, sizes.in, [&](std::int64_t o, std::int64_t g, std::int64_t c) {
    Real* const to = out + sizes.kernel_at(g, o, c);
    for (std::int64_t b = 0; b < sizes.batch; ++b) {
      const Real *x = image + sizes.image_at(b, g, c), *y = result + sizes.result_at(b, g, o);
      each_row_seen(sizes, [&](std::int64_t place, std::int64_t row, std::int64_t from, std::int64_t count) {
        double sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += double(x[from + i * stride]) * double(y[row + i]);
        to[place] += static_cast<Real>(sum);
      });
    }
  });
  return gradient;
}

}  // namespace xgrad::detail
