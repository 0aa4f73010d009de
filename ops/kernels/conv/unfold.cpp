// The columns of a convolution, and their sums. Threads divide the planes of the images.
#include "../../../core/runtime/parallel.h"
#include "conv.h"
#include "conv_seen.h"

namespace xgrad {
namespace {

// f(row of the columns, row of the image, count, stride) for all numbers that a plane and its columns share.
template <class F>
void each_run_of_pixels(const ConvSizes& sizes, const F& f) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t places = h.kernel * w.kernel, pixels = h.out * w.out;
  parallel_for(sizes.batch * sizes.groups * sizes.in, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) {
      for (std::int64_t place = 0; place < places; ++place) {
        const detail::Seen down = detail::seen(h, place / w.kernel), across = detail::seen(w, place % w.kernel);
        for (std::int64_t i = down.first; i < down.last; ++i) {
          const std::int64_t row = plane * h.in + down.from + (i - down.first) * h.stride;
          f((plane * places + place) * pixels + i * w.out + across.first, row * w.in + across.from, across.count());
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

}  // namespace xgrad
