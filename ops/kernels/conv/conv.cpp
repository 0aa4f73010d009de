// A tile of results, some neighbouring pixels of some channels, stays in registers while its sums run over the kernel's
// places and the image's channels. The numbers of the image are read in place, one by one; the kernel is copied once,
// so that the channels of a result lie side by side (as in Zhang, Franchetti, Low, "High Performance Zero-Memory
// Overhead Direct Convolutions", 2018, with images in the usual order). The gradient to the image is such a sum too,
// one for each pixel within a stride.
#include "conv.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../registers/multiply_add.h"
#include "../registers/transpose.h"
#include "conv_window.h"

namespace xgrad {
namespace {

// result(i, j) of channel o = bias_o + sum over taps t and channels c of image_c(i h_stride + j w_stride + t) w_tco.
struct Sums {
  std::int64_t channels;  // of the image
  std::span<const std::int64_t> taps;
  std::int64_t h_stride, w_stride;
  std::int64_t height, width;             // of the result
  std::int64_t plane, row, pixel_stride;  // between channels, rows and pixels of the result

  // Of each panel of each group of each image:
  ImageView image{};
  const Real* weights = nullptr;  // (taps, channels, tile_columns)
  const Real* bias = nullptr;     // (tile_columns) or nullptr
  Real* result = nullptr;
  std::int64_t columns = 0;  // channels of the result, at most tile_columns
};

constexpr std::int64_t transposed_row = (tile_rows + pack_width - 1) / pack_width * pack_width;

// `rows` pixels from `at` on, of packs * pack_width channels, to the rows of `buffer`.
template <int rows, int packs>
void sum_pixels(const Sums& given, const Real* at, Real* buffer) {
  const Sums sums = given;  // that no store to `buffer` can change
  Pack sum[rows][packs];
  XGRAD_UNROLL
  for (int j = 0; j < packs; ++j) {
    const Pack bias = sums.bias ? Pack::load(sums.bias + j * pack_width) : Pack();
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) sum[i][j] = bias;
  }
  const Real* weights = sums.weights;
  for (const std::int64_t tap : sums.taps) {
    multiply_add_block(sum, {at + tap, sums.w_stride, sums.image.plane}, weights, tile_columns, sums.channels);
    weights += sums.channels * tile_columns;
  }
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j].store(buffer + i * tile_columns + j * pack_width);
  }
}

constexpr auto sum_one_pack = by_rows_at_once<tile_rows>([](auto rows) { return sum_pixels<rows, 1>; });
constexpr auto sum_two_packs = by_rows_at_once<tile_rows>([](auto rows) { return sum_pixels<rows, 2>; });

// The sums of row i, without the taps that see the zeros above or below the image.
Sums row_of(Sums sums, std::int64_t i) {
  const ImageView& image = sums.image;
  if (image.top == 0 && image.bottom == image.rows) return sums;
  const auto zeros = [&](std::int64_t tap) {
    const std::int64_t reached = (i * sums.h_stride + tap) / image.row;
    return reached < image.top || reached >= image.bottom;
  };
  const auto first = std::ranges::find_if_not(sums.taps, zeros);
  const auto last = std::find_if(first, sums.taps.end(), zeros);
  sums.weights += (first - sums.taps.begin()) * sums.channels * tile_columns;
  sums.taps = {first, last};
  return sums;
}

void write_row(const Sums& sums, const Real* from, std::int64_t count, Real* to) {
  if (sums.pixel_stride == 1) {
    each_pack(count, [&](std::int64_t p, auto part) { part.store(part.load(from + p), to + p); });
  } else {
    for (std::int64_t p = 0; p < count; ++p) to[p * sums.pixel_stride] = from[p];
  }
}

// Of few channels of the result most of a pack would be empty: pixels take their place in the registers.
constexpr std::int64_t few_channels = pack_width * 3 / 4;

template <int rows>
constexpr int packs_across = rows <= rows_in_registers<8>   ? 8
                             : rows <= rows_in_registers<4> ? 4
                                                            : 2;

// `rows` channels at `count` positions, which lie side by side from `at` on, to the rows of `buffer`.
template <int rows, int packs>
void sum_few(const Sums& given, const Real* at, std::int64_t count, Real* buffer, std::int64_t buffer_stride) {
  const Sums sums = given;
  constexpr std::int64_t width = packs * pack_width;
  for (; count >= width; count -= width, at += width, buffer += width) {
    Pack sum[rows][packs];
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      XGRAD_UNROLL
      for (int j = 0; j < packs; ++j) sum[i][j] = Pack(sums.bias ? sums.bias[i] : 0);
    }
    const Real* weights = sums.weights;
    for (const std::int64_t tap : sums.taps) {
      multiply_add_block(sum, {weights, 1, tile_columns}, at + tap, sums.image.plane, sums.channels);
      weights += sums.channels * tile_columns;
    }
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      XGRAD_UNROLL
      for (int j = 0; j < packs; ++j) sum[i][j].store(buffer + i * buffer_stride + j * pack_width);
    }
  }
  if constexpr (packs > 1) {
    sum_few<rows, packs / 2>(sums, at, count, buffer, buffer_stride);
  } else if (count > 0) {
    const PartPack part{static_cast<std::size_t>(count)};
    for (int i = 0; i < rows; ++i) {
      Pack sum(sums.bias ? sums.bias[i] : 0);
      const Real* weight = sums.weights + i;
      for (const std::int64_t tap : sums.taps) {
        for (std::int64_t c = 0; c < sums.channels; ++c, weight += tile_columns) {
          sum = multiply_add(*weight, part.load(at + tap + c * sums.image.plane), sum);
        }
      }
      part.store(sum, buffer + i * buffer_stride);
    }
  }
}

constexpr auto sum_few_rows =
    by_rows_at_once<few_channels>([](auto rows) { return sum_few<rows, packs_across<rows>>; });

// Where rows of results see rows of the image, what lies between the ends of these is summed, too, and not written.
void sum_few_channels(const Sums& sums) {
  constexpr std::int64_t together = 1024;
  const bool in_rows = sums.h_stride == sums.image.row && sums.image.row > 0;
  const std::int64_t tall = in_rows ? std::clamp<std::int64_t>(together / sums.image.row, 1, sums.height) : 1;
  const std::int64_t most = (tall - 1) * sums.image.row + sums.width;
  Array buffer(Shape{sums.columns, most});
  for (std::int64_t i = 0; i < sums.height; i += tall) {
    const std::int64_t rows = std::min(tall, sums.height - i);
    const std::int64_t count = (rows - 1) * sums.image.row + sums.width;
    const auto sum_rows = sum_few_rows[static_cast<std::size_t>(sums.columns - 1)];
    sum_rows(sums, sums.image.data + i * sums.h_stride, count, buffer.mutable_data(), most);
    for (std::int64_t o = 0; o < sums.columns; ++o) {
      for (std::int64_t n = 0; n < rows; ++n) {
        write_row(sums, buffer.data() + o * most + n * sums.image.row, sums.width,
                  sums.result + o * sums.plane + (i + n) * sums.row);
      }
    }
  }
}

void sum_image(const Sums& sums) {
  XGRAD_ASSERT(sums.columns <= tile_columns);
  if (sums.columns <= few_channels && sums.w_stride == 1) return sum_few_channels(sums);
  const auto& of_rows = sums.columns <= pack_width ? sum_one_pack : sum_two_packs;
  const std::int64_t tiles = (sums.width + tile_rows - 1) / tile_rows;
  // Rows are pixels, then channels.
  alignas(64) std::array<Real, static_cast<std::size_t>(tile_columns * transposed_row)> pixels{}, channels;
  for (std::int64_t i = 0; i < sums.height; ++i) {
    const Sums row = row_of(sums, i);
    for (std::int64_t t = 0, j = 0; t < tiles; ++t) {
      const std::int64_t count = sums.width * (t + 1) / tiles - j;  // tiles of about equal width
      of_rows[static_cast<std::size_t>(count - 1)](row, sums.image.data + i * sums.h_stride + j * sums.w_stride,
                                                   pixels.data());
      for (std::int64_t o = 0; o < sums.columns; o += pack_width) {
        for (std::int64_t p = 0; p < count; p += pack_width) {
          transpose_tile(channels.data() + o * transposed_row + p, transposed_row, pixels.data() + p * tile_columns + o,
                         tile_columns);
        }
      }
      Real* to = sums.result + i * sums.row + j * sums.pixel_stride;
      for (std::int64_t o = 0; o < sums.columns; ++o, to += sums.plane) {
        write_row(sums, channels.data() + o * transposed_row, count, to);
      }
      j += count;
    }
  }
}

// All sums of a convolution whose results have `channels` in each group. image_of(b, g) is where the image of a group
// begins, result_of(b, g, o) where the result of a channel does, weight(g, o, c, t) the weight of channel c at tap t.
template <class ImageOf, class ResultOf, class Weight>
void sum_images(const ConvSizes& sizes, const Window& window, const Sums& common, std::int64_t channels,
                const Real* bias, const ImageOf& image_of, const ResultOf& result_of, const Weight& weight) {
  const std::int64_t panels = panels_of(channels), taps = std::ssize(common.taps);
  const std::int64_t panel_size = taps * common.channels * tile_columns;
  Array packed(Shape{sizes.groups * panels * panel_size}, Real(0));
  Real* const weights = packed.mutable_data();
  parallel_for(sizes.groups * panels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t g = n / panels, first = n % panels * tile_columns;
      Real* const to = weights + n * panel_size;
      for (std::int64_t o = first; o < std::min(first + tile_columns, channels); ++o) {
        for (std::int64_t c = 0; c < common.channels; ++c) {
          for (std::int64_t t = 0; t < taps; ++t) {
            to[(t * common.channels + c) * tile_columns + o - first] = weight(g, o, c, t);
          }
        }
      }
    }
  });
  Array biases(Shape{bias ? sizes.groups * panels * tile_columns : 0}, Real(0));  // of each panel, filled up with zeros
  for (std::int64_t g = 0; bias && g < sizes.groups; ++g) {
    std::copy_n(bias + g * channels, channels, biases.mutable_data() + g * panels * tile_columns);
  }
  const auto make_buffer = [&] { return Array(Shape{window.size()}); };
  each_conv_job(sizes, panels, make_buffer, [&](Array& buffer, auto b, auto g, std::int64_t begin, std::int64_t end) {
    Sums sums = common;
    sums.image = window.of(image_of(b, g), buffer.mutable_data());
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const std::int64_t first = panel * tile_columns;
      sums.weights = weights + (g * panels + panel) * panel_size;
      sums.bias = bias ? biases.data() + g * panels * tile_columns + first : nullptr;
      sums.result = result_of(b, g, first);
      sums.columns = std::min(tile_columns, channels - first);
      sum_image(sums);
    }
  });
}

bool finite_kernel(const ConvSizes& sizes, const Real* kernel) {
  return all_finite(kernel, sizes.kernel_shape().numel());
}

}  // namespace

Array conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias) {
  Array y(sizes.result_shape());
  if (y.size() == 0) return y;
  if (results_see_far(sizes) || !finite_kernel(sizes, kernel)) {
    return detail::conv_rows_by_columns(sizes, image, kernel, bias);
  }
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const Window window = input_window(sizes);
  const std::vector<std::int64_t> taps = taps_of(sizes, window.row());
  Real* const out = y.mutable_data();
  sum_images(
      sizes, window,
      {.channels = sizes.in,
       .taps = taps,
       .h_stride = h.step() * window.row(),
       .w_stride = w.step(),
       .height = h.out,
       .width = w.out,
       .plane = h.out * w.out,
       .row = w.out,
       .pixel_stride = 1},
      sizes.out, bias, [&](auto b, auto g) { return image + sizes.image_at(b, g); },
      [&](auto b, auto g, auto o) { return out + sizes.result_at(b, g, o); },
      [&](auto g, auto o, auto c, auto t) { return kernel[sizes.kernel_at(g, o) + c * sizes.taps() + t]; });
  return y;
}

Array conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias) {
  Array x(sizes.image_shape());
  if (x.size() == 0) return x;
  if (images_see_far(sizes) || !finite_kernel(sizes, kernel)) {
    return detail::conv_image_rows_by_columns(sizes, result, kernel, bias);
  }
  const ConvAxis &h = sizes.h, &w = sizes.w;
  Real* const out = x.mutable_data();
  each_phase(sizes, [&](const Phase& down, const Phase& across) {
    const OutputTaps reached = output_taps(sizes, down, across);
    Real* const first = out + down.first * w.in + across.first;
    sum_images(
        sizes, reached.window,
        {.channels = sizes.out,
         .taps = reached.taps,
         .h_stride = reached.window.row(),
         .w_stride = 1,
         .height = down.count,
         .width = across.count,
         .plane = h.in * w.in,
         .row = std::min(h.stride, h.in) * w.in,
         .pixel_stride = std::min(w.stride, w.in)},
        sizes.in, bias, [&](auto b, auto g) { return result + sizes.result_at(b, g); },
        [&](auto b, auto g, auto c) { return first + sizes.image_at(b, g, c); },
        [&](auto g, auto c, auto o, auto t) {
          return kernel[sizes.kernel_at(g, o) + c * sizes.taps() + reached.indices[static_cast<std::size_t>(t)]];
        });
  });
  return x;
}

}  // namespace xgrad
