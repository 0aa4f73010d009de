// Convolutions as products with the columns of an image, the patch of each pixel of the result. Columns exist only as
// packed tiles, of some pixels at a time. Pixels are the columns of results, so that these are written where they belong.
#include "conv_bfloat16.h"

#include <algorithm>
#include <vector>

#include "../../../core/runtime/parallel.h"
#include "conv_window.h"

namespace xgrad {
namespace {

using namespace detail;

// Pixels that are packed at a time: whole blocks of AMX, and of registers.
constexpr std::int64_t pixels_together = 96;
// Columns of this depth are packed at a time.
constexpr std::int64_t most_depth = 512;

// What the pixels of some images see: pixel (i, j), of each channel, the places taps + i h_step + j w_step.
class View {
 public:
  View(const Window& window, const std::vector<std::int64_t>& taps, std::int64_t h_step, std::int64_t w_step,
       std::int64_t height, std::int64_t width)
      : width_(width) {
    rows_.reserve(static_cast<std::size_t>(window.channels) * taps.size());
    for (std::int64_t c = 0; c < window.channels; ++c) {
      for (const std::int64_t tap : taps) rows_.push_back(c * window.channel() + tap);
    }
    pixels_.reserve(static_cast<std::size_t>(height * width));
    for (std::int64_t i = 0; i < height; ++i) {
      for (std::int64_t j = 0; j < width; ++j) pixels_.push_back(static_cast<std::int32_t>(i * h_step + j * w_step));
    }
  }

  std::int64_t width() const { return width_; }
  std::int64_t pixels() const { return static_cast<std::int64_t>(pixels_.size()); }
  std::int64_t panels() const { return (pixels() + pixels_together - 1) / pixels_together; }
  // The columns of an image from this row and pixel on.
  BfloatPixels columns(const Plane& image, std::int64_t row, std::int64_t pixel) const {
    return {image.data, rows_.data() + row, pixels_.data() + pixel};
  }

 private:
  std::int64_t width_;
  std::vector<std::int64_t> rows_;  // where each row of the columns begins: those of a channel together
  std::vector<std::int32_t> pixels_;
};

// A packed left factor, (rows, depth) for each group.
class Weights {
 public:
  Weights(const Rounding& rounding, std::int64_t groups, std::int64_t rows, std::int64_t depth)
      : rounding_(rounding), rows_(rows), depth_(depth), room_(groups * size()) {}

  void pack(std::int64_t group, const Real* numbers) const {
    rounding_.unit->pack({.from = {numbers, depth_},
                          .lines = rows_,
                          .depth = depth_,
                          .to = room_.data() + group * size(),
                          .layout = layout(),
                          .parts = rounding_.parts});
  }
  // From this place of the depth on, a multiple of tile_depth.
  BfloatFactor from(std::int64_t group, std::int64_t k) const {
    return {room_.data() + group * size() + k / tile_depth * layout().along, layout()};
  }
  const Rounding& rounding() const { return rounding_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t depth() const { return depth_; }

 private:
  BfloatLayout layout() const { return in_tiles(depth_, rounding_.parts); }
  std::int64_t size() const { return tiles_size(rows_, depth_, rounding_.parts); }

  Rounding rounding_;
  std::int64_t rows_, depth_;
  BfloatRoom room_;
};

// result(p) of channel o = bias_o + sum over the depth of w_ok times the columns of pixel p.
struct PixelSums {
  std::int64_t group;
  const Real* bias;  // one number a channel of the result, or nullptr

  Real* result;
  std::int64_t plane, row, step;  // between channels, rows and pixels of the result
};

void sum_pixels(const Weights& weights, const View& view, const PixelSums& sums, const Plane& image,
                std::int64_t first_panel, std::int64_t last_panel) {
  const auto& [unit, parts] = weights.rounding();
  const std::int64_t channels = weights.rows(), most = std::min(weights.depth(), most_depth);
  const bool in_place = sums.step == 1 && sums.row == view.width();
  Array room(Shape{in_place ? 0 : channels * pixels_together});
  Real* const apart = room.mutable_data();
  const BfloatTiles columns(weights.rounding(), pixels_together, most);
  for (std::int64_t panel = first_panel; panel < last_panel; ++panel) {
    const std::int64_t pixel = panel * pixels_together, count = std::min(pixels_together, view.pixels() - pixel);
    Real* const to = in_place ? sums.result + pixel : apart;
    const std::int64_t to_step = in_place ? sums.plane : pixels_together;
    for (std::int64_t o = 0; o < channels; ++o) std::fill_n(to + o * to_step, count, sums.bias ? sums.bias[o] : 0);
    for (std::int64_t k = 0; k < weights.depth(); k += most) {
      const std::int64_t depth = std::min(most, weights.depth() - k);
      const BfloatPixels seen = view.columns(image, k, pixel);
      unit->multiply({.a = weights.from(sums.group, k),
                      .b = columns.pack({.pixels = &seen, .side = BfloatSide::right, .lines = count, .depth = depth}),
                      .rows = channels,
                      .columns = count,
                      .depth = depth,
                      .c = to,
                      .c_step = to_step,
                      .keep = 1,
                      .parts = parts});
    }
    for (std::int64_t i = 0; i < (in_place ? 0 : count); ++i) {
      const std::int64_t p = pixel + i;
      Real* const at = sums.result + p / view.width() * sums.row + p % view.width() * sums.step;
      for (std::int64_t o = 0; o < channels; ++o) at[o * sums.plane] = apart[o * pixels_together + i];
    }
  }
}

}  // namespace

Array detail::bfloat_conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias,
                               const Rounding& rounding) {
  Array y(sizes.result_shape());
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t depth = sizes.in * h.kernel * w.kernel;
  const Window window = seen_by_results(sizes);
  const std::vector<std::int64_t> taps = taps_of(sizes, window.row());
  const View view(window, taps, h.step() * window.row(), w.step(), h.out, w.out);
  const Weights weights(rounding, sizes.groups, sizes.out, depth);
  for (std::int64_t g = 0; g < sizes.groups; ++g) weights.pack(g, kernel + g * sizes.out * depth);
  Real* const out = y.mutable_data();
  each_conv_job(sizes, view.panels(), [&](std::int64_t b, std::int64_t g, std::int64_t first, std::int64_t last) {
    const BfloatWork work(*rounding.unit);
    Array room(Shape{window.size()});
    const Plane plane = window.of(image + sizes.image_at(b, g), room.mutable_data());
    sum_pixels(weights, view,
               {.group = g,
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
                                     const Rounding& rounding) {
  Array x(sizes.image_shape());
  const ConvAxis &h = sizes.h, &w = sizes.w;
  Real* const out = x.mutable_data();
  each_phase(sizes, [&](const Phase& down, const Phase& across) {
    const SeenResults seen = seen_by_image(sizes, down, across);
    const View view(seen.window, seen.taps, seen.row, 1, down.count, across.count);
    const auto count = static_cast<std::int64_t>(seen.taps.size());
    const std::int64_t depth = sizes.out * count;
    const Weights weights(rounding, sizes.groups, sizes.in, depth);
    Array turned(Shape{sizes.in, depth});
    for (std::int64_t g = 0; g < sizes.groups; ++g) {
      Real* to = turned.mutable_data();
      for (std::int64_t c = 0; c < sizes.in; ++c) {
        for (std::int64_t o = 0; o < sizes.out; ++o) {
          const Real* from = kernel + sizes.kernel_at(g, o, c);
          for (const std::int64_t place : seen.numbers) *to++ = from[place];
        }
      }
      weights.pack(g, turned.data());
    }
    each_conv_job(sizes, view.panels(), [&](std::int64_t b, std::int64_t g, std::int64_t first, std::int64_t last) {
      const BfloatWork work(*rounding.unit);
      Array room(Shape{seen.window.size()});
      const Plane plane = seen.window.of(result + sizes.result_at(b, g), room.mutable_data());
      sum_pixels(weights, view,
                 {.group = g,
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
                                      const Rounding& rounding) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t columns = sizes.in * h.kernel * w.kernel, size = sizes.groups * sizes.out * columns;
  const Window window = seen_by_results(sizes);
  const std::vector<std::int64_t> taps = taps_of(sizes, window.row());
  const View view(window, taps, h.step() * window.row(), w.step(), h.out, w.out);
  // Blocks of images have sums of their own, as many as memory allows; for few of them threads divide the columns, too.
  constexpr std::int64_t most_blocks = 16, most_numbers = 1 << 20, columns_together = 32;
  const std::int64_t panels = (columns + columns_together - 1) / columns_together;
  const std::int64_t blocks = std::clamp<std::int64_t>(most_numbers / size, 1, std::min(sizes.batch, most_blocks));
  const std::int64_t shares = blocks * sizes.groups >= most_blocks ? 1 : std::min(panels, most_blocks);
  const std::int64_t most = std::min(view.pixels(), most_depth);
  Array all(Shape{blocks, size}, Real(0));  // (blocks, groups, out, columns)
  Real* const sums = all.mutable_data();
  parallel_for(blocks * shares * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    const BfloatWork work(*rounding.unit);
    Array room(Shape{window.size()});
    const std::int64_t most_columns = (panels / shares + 1) * columns_together;
    const BfloatTiles left(rounding, sizes.out, most), right(rounding, most_columns, most);
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t g = job % sizes.groups, share = job / sizes.groups % shares, block = job / sizes.groups / shares;
      const std::int64_t first = panels * share / shares * columns_together;
      const std::int64_t last = std::min(columns, panels * (share + 1) / shares * columns_together);
      for (std::int64_t b = sizes.batch * block / blocks; b < sizes.batch * (block + 1) / blocks; ++b) {
        const Plane plane = window.of(image + sizes.image_at(b, g), room.mutable_data());
        const Real* y = result + sizes.result_at(b, g);
        for (std::int64_t pixel = 0; pixel < view.pixels(); pixel += most) {
          const std::int64_t depth = std::min(most, view.pixels() - pixel);
          const BfloatPixels seen = view.columns(plane, first, pixel);
          const BfloatFactor packed_y =
              left.pack({.from = {y + pixel, view.pixels()}, .lines = sizes.out, .depth = depth});
          const BfloatFactor packed_columns = right.pack({.from = {.transposed = true},
                                                          .pixels = &seen,
                                                          .side = BfloatSide::right,
                                                          .lines = last - first,
                                                          .depth = depth});
          rounding.unit->multiply({.a = packed_y,
                                   .b = packed_columns,
                                   .rows = sizes.out,
                                   .columns = last - first,
                                   .depth = depth,
                                   .c = sums + block * size + g * sizes.out * columns + first,
                                   .c_step = columns,
                                   .keep = 1,
                                   .parts = rounding.parts});
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
