// Convolutions as products with the columns of an image (the patch of each pixel of the result), of which only those of
// a panel exist at a time. Pixels are the columns of results, so that these are written where they belong.
#include "conv_bfloat16.h"

#include <algorithm>
#include <vector>

#include "../../../core/runtime/parallel.h"
#include "conv_window.h"

namespace xgrad {
namespace {

using namespace detail;

// The patches of the pixels of some images: pixel (i, j) sees, of each channel, the places taps + i h_step + j w_step.
struct View {
  const std::vector<std::int64_t>& taps;
  std::int64_t h_step, w_step;
  std::int64_t height, width;  // in pixels

  std::int64_t pixels() const { return height * width; }
  std::int64_t panels() const { return (pixels() + panel_columns - 1) / panel_columns; }
};

// The columns of an image, a row for each channel and place, written for some pixels at a time. Threads: for the thread
// that made it.
class Columns {
 public:
  Columns(const View& view, const Plane& plane, std::int64_t channels) : view_(view), plane_(plane) {
    rows_.reserve(static_cast<std::size_t>(channels) * view.taps.size());
    for (std::int64_t c = 0; c < channels; ++c) {
      for (const std::int64_t tap : view.taps) rows_.push_back(c * plane.plane + tap);
    }
  }

  void choose(std::int64_t first, std::int64_t count) {
    stretches_.clear();
    for (std::int64_t pixel = first; pixel < first + count;) {
      const std::int64_t i = pixel / view_.width, j = pixel % view_.width;
      const std::int64_t length = std::min(view_.width - j, first + count - pixel);
      stretches_.push_back({i * view_.h_step + j * view_.w_step, pixel - first, length});
      pixel += length;
    }
  }
  // Rows `first` ... of the columns of the chosen pixels, `step` elements apart, each followed by room for a register.
  void write(std::int64_t first, std::int64_t rows, Real* to, std::int64_t step) const {
    for (const Stretch& stretch : stretches_) {
      for (std::int64_t i = 0; i < stretch.length; i += pack_width) {
        const Real* const from = plane_.data + stretch.from + i * view_.w_step;
        const std::int64_t count = std::min(pack_width, stretch.length - i);
        Real* const into = to + stretch.to + i;
        if (view_.w_step != 1) {
          each_of(first, rows, from, into, step, [&](const Real* row, Real* at) {
            for (std::int64_t n = 0; n < count; ++n) at[n] = row[n * view_.w_step];
          });
        } else if (count == pack_width) {
          each_of(first, rows, from, into, step, [](const Real* row, Real* at) { Pack::load(row).store(at); });
        } else {  // the elements behind them are written afterwards
          const PartPack part{static_cast<std::size_t>(count)};
          each_of(first, rows, from, into, step, [&](const Real* row, Real* at) { part.load(row).store(at); });
        }
      }
    }
  }

 private:
  // Pixels of one row.
  struct Stretch {
    std::int64_t from, to, length;
  };
  template <class F>
  void each_of(std::int64_t first, std::int64_t rows, const Real* from, Real* to, std::int64_t step, const F& f) const {
    const std::int64_t* const places = rows_.data() + first;
    for (std::int64_t row = 0; row < rows; ++row, to += step) f(from + places[row], to);
  }

  const View& view_;
  Plane plane_;
  std::vector<std::int64_t> rows_;  // where each row of the columns begins for the first pixel
  std::vector<Stretch> stretches_;
};

// Columns of this depth stay in the first-level cache, from being written to being packed.
constexpr std::int64_t most_depth = 128;

// result(p) of channel o = bias_o + sum over the depth of w_ok times the columns of pixel p.
struct PixelSums {
  const Bfloat16* weights;  // packed (rows, depth)
  std::int64_t rows, depth;
  std::int64_t channels;  // of the image
  const Real* bias;       // (rows) or nullptr

  Real* result;
  std::int64_t plane, row, step;  // between channels, rows and pixels of the result
};

void sum_pixels(const BfloatUnit& unit, const View& view, const PixelSums& sums, const Plane& image,
                std::int64_t first_panel, std::int64_t last_panel) {
  const bool in_place = sums.step == 1 && sums.row == view.width;
  const std::int64_t most = std::min(sums.depth, most_depth);
  const std::int64_t step = panel_columns + pack_width;
  Array room(Shape{most * step + (in_place ? 0 : sums.rows * panel_columns)});
  Real *const numbers = room.mutable_data(), *const apart = numbers + most * step;
  const BfloatRoom right(panel_size(most));
  Columns columns(view, image, sums.channels);
  for (std::int64_t panel = first_panel; panel < last_panel; ++panel) {
    const std::int64_t pixel = panel * panel_columns, count = std::min(panel_columns, view.pixels() - pixel);
    Real* const to = in_place ? sums.result + pixel : apart;
    const std::int64_t to_step = in_place ? sums.plane : panel_columns;
    for (std::int64_t o = 0; o < sums.rows; ++o) std::fill_n(to + o * to_step, count, sums.bias ? sums.bias[o] : 0);
    columns.choose(pixel, count);
    for (std::int64_t k = 0; k < sums.depth; k += most) {
      const std::int64_t depth = std::min(most, sums.depth - k);
      columns.write(k, depth, numbers, step);
      unit.pack_right({numbers, step}, depth, count, 1, right.data());
      unit.multiply({.a = sums.weights + k,
                     .a_step = left_step(sums.depth),
                     .b = right.data(),
                     .depth = depth,
                     .rows = sums.rows,
                     .columns = count,
                     .c = to,
                     .c_step = to_step,
                     .keep = 1});
    }
    for (std::int64_t i = 0; i < (in_place ? 0 : count); ++i) {
      const std::int64_t p = pixel + i;
      Real* const at = sums.result + p / view.width * sums.row + p % view.width * sums.step;
      for (std::int64_t o = 0; o < sums.rows; ++o) at[o * sums.plane] = apart[o * panel_columns + i];
    }
  }
}

}  // namespace

Array detail::bfloat_conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias,
                               const BfloatUnit& unit) {
  Array y(sizes.result_shape());
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t depth = sizes.in * h.kernel * w.kernel, size = left_size(sizes.out, depth);
  const Window window = seen_by_results(sizes);
  const std::vector<std::int64_t> taps = taps_of(sizes, window.row());
  const View view{taps, h.step() * window.row(), w.step(), h.out, w.out};
  const BfloatRoom weights(sizes.groups * size);
  for (std::int64_t g = 0; g < sizes.groups; ++g) {
    unit.pack_left({kernel + g * sizes.out * depth, depth}, sizes.out, depth, weights.data() + g * size);
  }
  Real* const out = y.mutable_data();
  each_conv_job(sizes, view.panels(), [&](std::int64_t b, std::int64_t g, std::int64_t first, std::int64_t last) {
    const BfloatWork work(unit);
    Array room(Shape{window.size()});
    const Plane plane = window.of(image + sizes.image_at(b, g), room.mutable_data());
    sum_pixels(unit, view,
               {.weights = weights.data() + g * size,
                .rows = sizes.out,
                .depth = depth,
                .channels = sizes.in,
                .bias = bias ? bias + g * sizes.out : nullptr,
                .result = out + sizes.result_at(b, g),
                .plane = view.pixels(),
                .row = w.out,
                .step = 1},
               plane, first, last);
  });
  return y;
}

Array detail::bfloat_conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias,
                                     const BfloatUnit& unit) {
  Array x(sizes.image_shape());
  const ConvAxis &h = sizes.h, &w = sizes.w;
  Real* const out = x.mutable_data();
  each_phase(sizes, [&](const Phase& down, const Phase& across) {
    const SeenResults seen = seen_by_image(sizes, down, across);
    const View view{seen.taps, seen.row, 1, down.count, across.count};
    const auto count = static_cast<std::int64_t>(seen.taps.size());
    const std::int64_t depth = sizes.out * count, size = left_size(sizes.in, depth);
    const BfloatRoom weights(sizes.groups * size);
    Array turned(Shape{sizes.in, depth});
    for (std::int64_t g = 0; g < sizes.groups; ++g) {
      Real* to = turned.mutable_data();
      for (std::int64_t c = 0; c < sizes.in; ++c) {
        for (std::int64_t o = 0; o < sizes.out; ++o) {
          const Real* from = kernel + sizes.kernel_at(g, o, c);
          for (const std::int64_t place : seen.numbers) *to++ = from[place];
        }
      }
      unit.pack_left({turned.data(), depth}, sizes.in, depth, weights.data() + g * size);
    }
    each_conv_job(sizes, view.panels(), [&](std::int64_t b, std::int64_t g, std::int64_t first, std::int64_t last) {
      const BfloatWork work(unit);
      Array room(Shape{seen.window.size()});
      const Plane plane = seen.window.of(result + sizes.result_at(b, g), room.mutable_data());
      sum_pixels(unit, view,
                 {.weights = weights.data() + g * size,
                  .rows = sizes.in,
                  .depth = depth,
                  .channels = sizes.out,
                  .bias = bias ? bias + g * sizes.in : nullptr,
                  .result = out + sizes.image_at(b, g) + down.first * w.in + across.first,
                  .plane = h.in * w.in,
                  .row = std::min(h.stride, h.in) * w.in,
                  .step = std::min(w.stride, w.in)},
                 plane, first, last);
    });
  });
  return x;
}

Array detail::bfloat_conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result,
                                      const BfloatUnit& unit) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t columns = sizes.in * h.kernel * w.kernel, size = sizes.groups * sizes.out * columns;
  const std::int64_t panels = (columns + panel_columns - 1) / panel_columns;
  const Window window = seen_by_results(sizes);
  const std::vector<std::int64_t> taps = taps_of(sizes, window.row());
  const View view{taps, h.step() * window.row(), w.step(), h.out, w.out};
  // Blocks of images have sums of their own, as many as memory allows; for few of them threads divide the columns, too.
  constexpr std::int64_t most_blocks = 16, most_numbers = 1 << 20;
  const std::int64_t blocks = std::clamp<std::int64_t>(most_numbers / size, 1, std::min(sizes.batch, most_blocks));
  const std::int64_t parts = blocks * sizes.groups >= most_blocks ? 1 : std::min(panels, most_blocks);
  const std::int64_t most = std::min(view.pixels(), most_depth), step = most + pack_width;
  Array all(Shape{blocks, size}, Real(0));  // (blocks, groups, out, columns)
  Real* const sums = all.mutable_data();
  parallel_for(blocks * parts * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    const BfloatWork work(unit);
    Array room(Shape{window.size() + panel_columns * step});
    Real *const numbers = room.mutable_data(), *const copied = numbers + panel_columns * step;
    const BfloatRoom left(left_size(sizes.out, most)), right(panel_size(most));
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t g = job % sizes.groups, part = job / sizes.groups % parts, block = job / sizes.groups / parts;
      for (std::int64_t b = sizes.batch * block / blocks; b < sizes.batch * (block + 1) / blocks; ++b) {
        Columns seen(view, window.of(image + sizes.image_at(b, g), copied), sizes.in);
        const Real* y = result + sizes.result_at(b, g);
        for (std::int64_t pixel = 0; pixel < view.pixels(); pixel += most) {
          const std::int64_t depth = std::min(most, view.pixels() - pixel);
          unit.pack_left({y + pixel, view.pixels()}, sizes.out, depth, left.data());
          seen.choose(pixel, depth);
          for (std::int64_t panel = panels * part / parts; panel < panels * (part + 1) / parts; ++panel) {
            const std::int64_t first = panel * panel_columns, count = std::min(panel_columns, columns - first);
            seen.write(first, count, numbers, step);
            unit.pack_right({numbers, step, true}, depth, count, 1, right.data());
            unit.multiply({.a = left.data(),
                           .a_step = left_step(depth),
                           .b = right.data(),
                           .depth = depth,
                           .rows = sizes.out,
                           .columns = count,
                           .c = sums + block * size + g * sizes.out * columns + first,
                           .c_step = columns,
                           .keep = 1});
          }
        }
      }
    }
  });
  Array gradient(sizes.kernel_shape());
  Real* const out = gradient.mutable_data();
  parallel_for(size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    std::copy(sums + begin, sums + end, out + begin);
    for (std::int64_t block = 1; block < blocks; ++block) {
      for (std::int64_t i = begin; i < end; ++i) out[i] += sums[block * size + i];
    }
  });
  return gradient;
}

}  // namespace xgrad
