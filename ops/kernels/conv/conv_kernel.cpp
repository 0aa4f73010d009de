// The gradient of a convolution to its kernel. As in conv.cpp sums stay in registers, but pixels and channels change
// places: sums run over pixels, for some channels of the image and of the results at a place of the kernel.
#include <algorithm>
#include <array>
#include <utility>

#include "../../../core/runtime/parallel.h"
#include "../products/packing.h"
#include "../registers/multiply_add.h"
#include "conv.h"
#include "conv_tiles.h"
#include "conv_window.h"

namespace xgrad {
namespace {

// Some pixels of results, rows of `width`, and what they see in a row of the kernel.
struct InputRow {
  const Plane& image;
  const Real* at;  // what the first pixel sees at the first tap
  std::int64_t channels, h_stride, w_stride, tap_stride;
  std::int64_t height, width;
  std::int64_t first, last;  // taps
  Real* sums;                // (taps, channels, tile_columns)

  const Real* image_at(std::int64_t tap, std::int64_t c) const { return at + tap * tap_stride + c * image.plane; }
  Real* sums_at(std::int64_t tap, std::int64_t c) const { return sums + (tap * channels + c) * tile_columns; }
};

// Calls f(begin, end) for parts of about equal size of [first, last), of at most `most`.
template <class F>
void each_part(std::int64_t first, std::int64_t last, std::int64_t most, const F& f) {
  const std::int64_t count = last - first, parts = (count + most - 1) / most;
  for (std::int64_t part = 0; part < parts; ++part) {
    f(first + count * part / parts, first + count * (part + 1) / parts);
  }
}

// sum_co += image_c(tap + i h_stride + j w_stride) y_ijo over all pixels, with y of (height, width, tile_columns), for
// `rows` channels of the image. Each such sum is formed separately: a sum over many pixels is a sum of partial sums.
template <int rows, int packs>
void sum_channels(const InputRow& given, std::int64_t tap, std::int64_t c, const Real* y) {
  const InputRow input = given;
  Pack sum[rows][packs];
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j] = Pack();
  }
  const Real* at = input.image_at(tap, c);
  for (std::int64_t i = 0; i < input.height; ++i, at += input.h_stride, y += input.width * tile_columns) {
    multiply_add_block(sum, {at, input.image.plane, input.w_stride}, y, tile_columns, input.width);
  }
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) {
      Real* const to = input.sums_at(tap, c + i) + j * pack_width;
      (Pack::load(to) + sum[i][j]).store(to);
    }
  }
}

template <int rows, int packs>
struct SumChannels {
  static constexpr auto function = sum_channels<rows, packs>;
};
using ChannelFunction = void (*)(const InputRow&, std::int64_t, std::int64_t, const Real*);
constexpr auto channels_one_pack = table<ChannelFunction, SumChannels, 1>(all_rows);
constexpr auto channels_two_packs = table<ChannelFunction, SumChannels, 2>(all_rows);

void add_channels(const InputRow& input, std::int64_t columns, const Real* y) {
  const auto& of_rows = columns <= pack_width ? channels_one_pack : channels_two_packs;
  for (std::int64_t tap = input.first; tap < input.last; ++tap) {
    each_part(0, input.channels, tile_rows, [&](std::int64_t c, std::int64_t last) {
      of_rows[static_cast<std::size_t>(last - c - 1)](input, tap, c, y);
    });
  }
}

// Some channels of results, in planes.
struct ResultRows {
  const Real* data;
  std::int64_t plane, row;
};

// The same for `rows` channels of the results and `taps` taps, of one channel of the image. Sums over neighbouring
// pixels are added up at the end: of few channels most of a register would be empty.
template <int taps, int rows>
void sum_products(const InputRow& given, std::int64_t tap, std::int64_t c, const ResultRows& results, std::int64_t o) {
  const InputRow input = given;
  Pack sum[rows][taps];
  const Real *at = input.image_at(tap, c), *y = results.data + o * results.plane;
  for (std::int64_t i = 0; i < input.height; ++i, at += input.h_stride, y += results.row) {
    each_pack(input.width, [&](std::int64_t j, auto part) {
      Pack image[taps];
      XGRAD_UNROLL
      for (int k = 0; k < taps; ++k) image[k] = part.load(at + k * input.tap_stride + j);
      XGRAD_UNROLL
      for (int r = 0; r < rows; ++r) {
        const Pack result = part.load(y + r * results.plane + j);
        XGRAD_UNROLL
        for (int k = 0; k < taps; ++k) sum[r][k] = multiply_add(result, image[k], sum[r][k]);
      }
    });
  }
  XGRAD_UNROLL
  for (int k = 0; k < taps; ++k) {
    XGRAD_UNROLL
    for (int r = 0; r < rows; ++r) input.sums_at(tap + k, c)[o + r] += sum_of(sum[r][k]);
  }
}

constexpr int most_products = registers == 32 ? 4 : 3;  // of each side
template <int taps, int rows>
struct SumProducts {
  static constexpr auto function = sum_products<taps, rows>;
};
using ProductFunction = void (*)(const InputRow&, std::int64_t, std::int64_t, const ResultRows&, std::int64_t);
// products_of[rows - 1][taps - 1]
constexpr auto products_of = []<int... rows>(std::integer_sequence<int, rows...>) {
  constexpr auto taps = std::make_integer_sequence<int, most_products>();
  return std::array{table<ProductFunction, SumProducts, rows + 1>(taps)...};
}
(std::make_integer_sequence<int, most_products>());

void add_products(const InputRow& input, std::int64_t columns, const ResultRows& results) {
  for (std::int64_t c = 0; c < input.channels; ++c) {
    each_part(input.first, input.last, most_products, [&](std::int64_t tap, std::int64_t last_tap) {
      each_part(0, columns, most_products, [&](std::int64_t o, std::int64_t last) {
        const auto& of_rows = products_of[static_cast<std::size_t>(last - o - 1)];
        of_rows[static_cast<std::size_t>(last_tap - tap - 1)](input, tap, c, results, o);
      });
    });
  }
}

// Of `count` rows, which see rows first, first + step, ... of an image: those that see no zeros above or below it, from
// the first up to the end.
std::pair<std::int64_t, std::int64_t> rows_with_input(const Plane& image, std::int64_t first, std::int64_t step,
                                                      std::int64_t count) {
  const auto before = [&](std::int64_t row, std::int64_t least) {
    return std::clamp((row - first + step - 1) / step, least, count);
  };
  const std::int64_t begin = before(image.top, 0);
  return {begin, before(image.bottom, begin)};
}

}  // namespace

Array conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result) {
  Array gradient(sizes.kernel_shape(), Real(0));
  if (gradient.size() == 0 || sizes.batch == 0 || sizes.h.out * sizes.w.out == 0) return gradient;
  if (results_see_far(sizes)) return detail::conv_kernel_rows_by_columns(sizes, image, result);
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t taps = h.kernel * w.kernel, panels = panels_of(sizes.out);
  const Window window = input_window(sizes);
  // Blocks of images have their own sums, as many as memory allows; threads also divide the rows of the kernel.
  constexpr std::int64_t most_blocks = 16, most_elements = 1 << 20, most_pixels = 512;
  const std::int64_t size = sizes.groups * panels * taps * sizes.in * tile_columns;
  const std::int64_t blocks = std::clamp<std::int64_t>(most_elements / size, 1, std::min(sizes.batch, most_blocks));
  const std::int64_t splits = splits_of(blocks * sizes.groups, taps);
  // Pixels at a time: some rows, or a part of one.
  const std::int64_t width = std::min(w.out, most_pixels);
  const std::int64_t height = std::clamp<std::int64_t>(most_pixels / w.out, 1, h.out);
  const bool wide = w.out >= pack_width;
  const bool products = w.stride == 1 && (sizes.out <= pack_width * (wide ? 3 : 1) / 8 || (wide && sizes.in == 1));
  // The most partial sums in one chain of additions: longer chains would lose digits.
  constexpr std::int64_t most_parts = 256;
  const std::int64_t parts_of_image = (h.out + height - 1) / height * ((w.out + width - 1) / width);
  const bool chained = (sizes.batch + blocks - 1) / blocks * parts_of_image <= most_parts;
  // (blocks, groups, panels, taps, in, tile_columns)
  Array all(Shape{blocks, size}, Real(0)), all_of_parts(Shape{chained ? 0 : blocks * size}, Real(0));
  Real *const sums = all.mutable_data(), *const sums_of_parts = chained ? sums : all_of_parts.mutable_data();
  parallel_for(blocks * splits * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    Array buffer(Shape{window.size() + height * width * tile_columns});
    Real* const transposed = buffer.mutable_data();
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t g = job % sizes.groups, panel_job = job / sizes.groups, split = panel_job % splits,
                         block = panel_job / splits;
      const std::int64_t first_tap = taps * split / splits, last_tap = taps * (split + 1) / splits;
      for (std::int64_t b = sizes.batch * block / blocks; b < sizes.batch * (block + 1) / blocks; ++b) {
        const Plane plane = window.of(image + sizes.image_at(b, g), transposed + height * width * tile_columns);
        for (std::int64_t panel = 0; panel < panels; ++panel) {
          const std::int64_t first = panel * tile_columns, columns = std::min(tile_columns, sizes.out - first);
          const Real* y = result + sizes.result_at(b, g, first);
          const std::int64_t at_panel = block * size + (g * panels + panel) * taps * sizes.in * tile_columns;
          Real* const of_panel = sums_of_parts + at_panel;
          const std::int64_t pixels = h.out * w.out;
          std::int64_t parts = (b - sizes.batch * block / blocks) * parts_of_image;
          for (std::int64_t p = 0, some = 0; p < pixels; p += some) {
            const std::int64_t i = p / w.out, j = p % w.out;
            const std::int64_t rows = std::min(height, h.out - i), in_row = std::min(width, w.out - j);
            some = rows * in_row;
            if (!products) pack_transposed(y + p, pixels, columns, some, transposed, tile_columns, tile_columns);
            for (std::int64_t k = first_tap / w.kernel; k * w.kernel < last_tap; ++k) {
              const std::int64_t top = i * h.stride + k * h.dilation;  // the first row that is seen
              const auto [begin_row, end_row] = rows_with_input(plane, top, h.step(), rows);
              if (begin_row == end_row) continue;
              const InputRow input{.image = plane,
                                   .at = plane.data + (top + begin_row * h.step()) * plane.row + j * w.stride,
                                   .channels = sizes.in,
                                   .h_stride = h.step() * plane.row,
                                   .w_stride = w.step(),
                                   .tap_stride = w.dilation,
                                   .height = end_row - begin_row,
                                   .width = in_row,
                                   .first = std::max<std::int64_t>(first_tap - k * w.kernel, 0),
                                   .last = std::min(last_tap - k * w.kernel, w.kernel),
                                   .sums = of_panel + k * w.kernel * sizes.in * tile_columns};
              if (products) {
                add_products(input, columns, {y + p + begin_row * w.out, pixels, w.out});
              } else {
                add_channels(input, columns, transposed + begin_row * in_row * tile_columns);
              }
            }
            const bool last = p + some == pixels && b + 1 == sizes.batch * (block + 1) / blocks;
            if (chained || (++parts % most_parts != 0 && !last)) continue;
            for (std::int64_t i = first_tap * sizes.in * tile_columns; i < last_tap * sizes.in * tile_columns; ++i) {
              sums[at_panel + i] += std::exchange(of_panel[i], Real(0));
            }
          }
        }
      }
    }
  });
  Real* const out = gradient.mutable_data();
  parallel_for(sizes.groups * sizes.out, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      const std::int64_t g = o / sizes.out, own = o % sizes.out;
      const Real* from = sums + (g * panels + own / tile_columns) * taps * sizes.in * tile_columns + own % tile_columns;
      for (std::int64_t block = 0; block < blocks; ++block, from += size) {
        for (std::int64_t c = 0; c < sizes.in; ++c) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            out[(o * sizes.in + c) * taps + tap] += from[(tap * sizes.in + c) * tile_columns];
          }
        }
      }
    }
  });
  // Rows of zeros were skipped, which matters where gradients are infinite.
  return all_finite(out, gradient.size()) ? gradient : detail::conv_kernel_rows_by_columns(sizes, image, result);
}

}  // namespace xgrad
