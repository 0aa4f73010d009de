// A tile of results, some neighbouring pixels of some channels, stays in registers while its sums run over the kernel's
// places and the image's channels. The numbers of the image are read in place, one by one; the kernel is copied once,
// so that the channels of a result lie side by side (as in Zhang, Franchetti, Low, "High Performance Zero-Memory
// Overhead Direct Convolutions", 2018, with images in the usual order). The gradient to the image is such a sum too,
// one for each place within a stride. In the gradient to the kernel, pixels and channels change places.
#include "conv.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "../../../core/runtime/parallel.h"
#include "../products/packing.h"
#include "../registers/multiply_add.h"
#include "../registers/transpose.h"
#include "conv_bfloat16.h"
#include "conv_far.h"
#include "conv_window.h"

namespace xgrad {
namespace {

constexpr int tile_packs = 2;                             // channels of the result, in packs
constexpr int tile_rows = rows_in_registers<tile_packs>;  // pixels; or channels of the image
constexpr std::int64_t tile_columns = tile_packs * pack_width;

std::int64_t panels_of(std::int64_t channels) { return (channels + tile_columns - 1) / tile_columns; }

// ---- Sums over kernel places and channels ----

// result(i, j) of channel o = bias_o + sum over taps t and channels c of image_c(i h_step + j w_step + taps_t) w_tco.
struct Sums {
  Plane image;
  std::int64_t channels;  // of the image
  std::span<const std::int64_t> taps;
  std::int64_t h_step, w_step;
  const Real* weights;  // (taps, channels, tile_columns)
  const Real* bias;     // (tile_columns) or nullptr

  Real* result;
  std::int64_t columns;  // channels of the result, at most tile_columns
  std::int64_t height, width;
  std::int64_t plane, row, step;  // between channels, rows and pixels of the result
};

constexpr std::int64_t transposed_row = (tile_rows + pack_width - 1) / pack_width * pack_width;

// `rows` pixels from `at` on, of packs * pack_width channels, to the rows of `room`.
template <int rows, int packs>
void sum_pixels(const Sums& given, const Real* at, Real* room) {
  const Sums sums = given;  // that no store to `room` can change
  Pack sum[rows][packs];
  XGRAD_UNROLL
  for (int j = 0; j < packs; ++j) {
    const Pack bias = sums.bias ? Pack::load(sums.bias + j * pack_width) : Pack();
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) sum[i][j] = bias;
  }
  const Real* weights = sums.weights;
  for (const std::int64_t tap : sums.taps) {
    multiply_add_block(sum, {at + tap, sums.w_step, sums.image.plane}, weights, tile_columns, sums.channels);
    weights += sums.channels * tile_columns;
  }
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j].store(room + i * tile_columns + j * pack_width);
  }
}

template <class Function, template <int, int> class Make, int packs, int... i>
constexpr std::array<Function, sizeof...(i)> table(std::integer_sequence<int, i...>) {
  return {Make<i + 1, packs>::function...};
}

template <int rows, int packs>
struct SumPixels {
  static constexpr auto function = sum_pixels<rows, packs>;
};
using SumFunction = void (*)(const Sums&, const Real*, Real*);
constexpr auto all_rows = std::make_integer_sequence<int, tile_rows>();
constexpr auto sum_one_pack = table<SumFunction, SumPixels, 1>(all_rows);
constexpr auto sum_two_packs = table<SumFunction, SumPixels, 2>(all_rows);

// The sums of row i, without the taps that see the zeros above or below the image.
Sums row_of(Sums sums, std::int64_t i) {
  const Plane& image = sums.image;
  if (image.top == 0 && image.bottom == image.rows) return sums;
  const auto zeros = [&](std::int64_t tap) {
    const std::int64_t seen = (i * sums.h_step + tap) / image.row;
    return seen < image.top || seen >= image.bottom;
  };
  const auto first = std::ranges::find_if_not(sums.taps, zeros);
  const auto last = std::find_if(first, sums.taps.end(), zeros);
  sums.weights += (first - sums.taps.begin()) * sums.channels * tile_columns;
  sums.taps = {first, last};
  return sums;
}

// The same for one channel on either side, whose neighbouring pixels are contiguous: pixels take the place of channels
// in the registers.
void sum_plane(const Sums& sums) {
  for (std::int64_t i = 0; i < sums.height; ++i) {
    const Sums row = row_of(sums, i);
    const Real* const at = sums.image.data + i * sums.h_step;
    Real* const to = sums.result + i * sums.row;
    each_pack(sums.width, [&](std::int64_t j, auto part) {
      Pack sum(sums.bias ? sums.bias[0] : 0);
      const Real* weight = row.weights;
      for (const std::int64_t tap : row.taps) {
        sum = multiply_add(*weight, part.load(at + tap + j), sum);
        weight += tile_columns;
      }
      part.store(sum, to + j);
    });
  }
}

void sum_image(const Sums& sums) {
  if (sums.channels == 1 && sums.columns == 1 && sums.w_step == 1 && sums.step == 1) return sum_plane(sums);
  const auto& of_rows = sums.columns <= pack_width ? sum_one_pack : sum_two_packs;
  const std::int64_t tiles = (sums.width + tile_rows - 1) / tile_rows;
  // Rows are pixels, then channels.
  alignas(64) std::array<Real, static_cast<std::size_t>(tile_columns * transposed_row)> pixels{}, channels;
  for (std::int64_t i = 0; i < sums.height; ++i) {
    const Sums row = row_of(sums, i);
    for (std::int64_t t = 0, j = 0; t < tiles; ++t) {
      const std::int64_t count = sums.width * (t + 1) / tiles - j;  // tiles of about equal width
      of_rows[static_cast<std::size_t>(count - 1)](row, sums.image.data + i * sums.h_step + j * sums.w_step,
                                                   pixels.data());
      for (std::int64_t o = 0; o < sums.columns; o += pack_width) {
        for (std::int64_t p = 0; p < count; p += pack_width) {
          transpose_tile(channels.data() + o * transposed_row + p, transposed_row, pixels.data() + p * tile_columns + o,
                         tile_columns);
        }
      }
      Real* to = sums.result + i * sums.row + j * sums.step;
      for (std::int64_t o = 0; o < sums.columns; ++o, to += sums.plane) {
        const Real* from = channels.data() + o * transposed_row;
        if (sums.step == 1) {
          each_pack(count, [&](std::int64_t p, auto part) { part.store(part.load(from + p), to + p); });
        } else {
          for (std::int64_t p = 0; p < count; ++p) to[p * sums.step] = from[p];
        }
      }
      j += count;
    }
  }
}

// The bias of each panel of channels, filled up with zeros; nothing without a bias.
Array packed_bias(const Real* bias, std::int64_t groups, std::int64_t channels) {
  const std::int64_t width = panels_of(channels) * tile_columns;
  Array packed(Shape{bias ? groups * width : 0}, Real(0));
  for (std::int64_t g = 0; bias && g < groups; ++g) {
    std::copy_n(bias + g * channels, channels, packed.mutable_data() + g * width);
  }
  return packed;
}

// Whether the factors of a convolution, of these shapes, are rounded to bfloat16 parts.
bool rounds(const Rounding& rounding, const ConvSizes& sizes, const Real* a, const Shape& a_shape, const Real* b,
            const Shape& b_shape) {
  constexpr std::int64_t few = 16;  // half of the channels that a tile holds
  const bool depthwise = sizes.in == 1 && sizes.out == 1;
  if (depthwise || (rounding.parts > 1 && std::min(sizes.in, sizes.out) < few)) return false;
  const std::int64_t pixels = sizes.h.out * sizes.w.out;
  const auto planes = [](const Real* x, const Shape& shape) -> detail::BfloatMatrix {
    const std::int64_t plane = shape[2] * shape[3];
    return {x, shape[0] * shape[1], plane, plane};
  };
  return detail::rounds(rounding, sizes.out, sizes.batch * pixels, sizes.in * sizes.h.kernel * sizes.w.kernel,
                        planes(a, a_shape), planes(b, b_shape));
}

}  // namespace

Array conv_rows(const ConvSizes& sizes, const Real* image, const Real* kernel, const Real* bias,
                const Rounding& rounding) {
  Array y(sizes.result_shape());
  if (y.size() == 0) return y;
  if (results_see_far(sizes)) return detail::far_conv_rows(sizes, image, kernel, bias);
  if (rounds(rounding, sizes, image, sizes.image_shape(), kernel, sizes.kernel_shape())) {
    return detail::bfloat_conv_rows(sizes, image, kernel, bias, rounding);
  }
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t places = h.kernel * w.kernel, panels = panels_of(sizes.out);
  const Window window = seen_by_results(sizes);
  const std::vector<std::int64_t> taps = taps_of(sizes, window.row());
  const std::int64_t panel_size = places * sizes.in * tile_columns;
  Array packed(Shape{sizes.groups * panels * panel_size}, Real(0));
  Real* const weights = packed.mutable_data();
  parallel_for(sizes.groups * panels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t g = n / panels, first = n % panels * tile_columns;
      Real* to = weights + n * panel_size;
      for (std::int64_t o = first; o < std::min(first + tile_columns, sizes.out); ++o) {
        const Real* from = kernel + sizes.kernel_at(g, o);
        for (std::int64_t c = 0; c < sizes.in; ++c) {
          for (std::int64_t t = 0; t < places; ++t) {
            to[(t * sizes.in + c) * tile_columns + o - first] = from[c * places + t];
          }
        }
      }
    }
  });
  const Array biases = packed_bias(bias, sizes.groups, sizes.out);
  Real* const out = y.mutable_data();
  const auto make_room = [&] { return Array(Shape{window.size()}); };
  each_conv_job(sizes, panels, make_room, [&](Array& room, auto b, auto g, std::int64_t begin, std::int64_t end) {
    const Plane plane = window.of(image + sizes.image_at(b, g), room.mutable_data());
    for (std::int64_t panel = begin; panel < end; ++panel) {
      const std::int64_t first = panel * tile_columns;
      sum_image({.image = plane,
                 .channels = sizes.in,
                 .taps = taps,
                 .h_step = h.step() * plane.row,
                 .w_step = w.step(),
                 .weights = weights + (g * panels + panel) * panel_size,
                 .bias = bias ? biases.data() + g * panels * tile_columns + first : nullptr,
                 .result = out + sizes.result_at(b, g, first),
                 .columns = std::min(tile_columns, sizes.out - first),
                 .height = h.out,
                 .width = w.out,
                 .plane = h.out * w.out,
                 .row = w.out,
                 .step = 1});
    }
  });
  return y;
}

Array conv_image_rows(const ConvSizes& sizes, const Real* result, const Real* kernel, const Real* bias,
                      const Rounding& rounding) {
  Array x(sizes.image_shape());
  if (x.size() == 0) return x;
  if (images_see_far(sizes)) return detail::far_conv_image_rows(sizes, result, kernel, bias);
  if (rounds(rounding, sizes, result, sizes.result_shape(), kernel, sizes.kernel_shape())) {
    return detail::bfloat_conv_image_rows(sizes, result, kernel, bias, rounding);
  }
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t places = h.kernel * w.kernel, panels = panels_of(sizes.in);
  const Array biases = packed_bias(bias, sizes.groups, sizes.in);
  Real* const out = x.mutable_data();
  each_phase(sizes, [&](const Phase& down, const Phase& across) {
    const SeenResults seen = seen_by_image(sizes, down, across);
    const auto count = static_cast<std::int64_t>(seen.taps.size());
    const std::int64_t panel_size = count * sizes.out * tile_columns;
    Array packed(Shape{sizes.groups * panels * panel_size}, Real(0));
    Real* const weights = packed.mutable_data();
    parallel_for(sizes.groups * panels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t g = n / panels, first = n % panels * tile_columns;
        Real* to = weights + n * panel_size;
        for (std::int64_t t = 0; t < count; ++t) {
          const std::int64_t place = seen.numbers[static_cast<std::size_t>(t)];
          for (std::int64_t o = 0; o < sizes.out; ++o, to += tile_columns) {
            const Real* from = kernel + sizes.kernel_at(g, o) + place;
            for (std::int64_t c = first; c < std::min(first + tile_columns, sizes.in); ++c) {
              to[c - first] = from[c * places];
            }
          }
        }
      }
    });
    const auto make_room = [&] { return Array(Shape{seen.window.size()}); };
    each_conv_job(sizes, panels, make_room, [&](Array& room, auto b, auto g, std::int64_t begin, std::int64_t end) {
      const Plane plane = seen.window.of(result + sizes.result_at(b, g), room.mutable_data());
      for (std::int64_t panel = begin; panel < end; ++panel) {
        const std::int64_t first = panel * tile_columns;
        sum_image({.image = plane,
                   .channels = sizes.out,
                   .taps = seen.taps,
                   .h_step = plane.row,
                   .w_step = 1,
                   .weights = weights + (g * panels + panel) * panel_size,
                   .bias = bias ? biases.data() + g * panels * tile_columns + first : nullptr,
                   .result = out + sizes.image_at(b, g, first) + down.first * w.in + across.first,
                   .columns = std::min(tile_columns, sizes.in - first),
                   .height = down.count,
                   .width = across.count,
                   .plane = h.in * w.in,
                   .row = std::min(h.stride, h.in) * w.in,
                   .step = std::min(w.stride, w.in)});
      }
    });
  });
  return x;
}

// ---- The gradient to the kernel ----

namespace {

// sum_co += image_c(tap + i h_step + j w_step) y_ijo over the pixels of some rows, for `rows` channels of the image. Each
// such sum is formed separately: a sum over many pixels is a sum of partial sums.
struct KernelSums {
  const Real* image;  // where the first pixel's first channel is
  std::int64_t plane, h_step, w_step;
  const Real* y;       // (height, width, tile_columns)
  std::int64_t y_row;  // between the rows of a plane
  std::int64_t height, width;
  Real* sums;  // (rows, tile_columns)
};

template <int rows, int packs>
void sum_channels(const KernelSums& given) {
  const KernelSums sums = given;
  Pack sum[rows][packs];
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j] = Pack();
  }
  const Real* y = sums.y;
  for (std::int64_t i = 0; i < sums.height; ++i) {
    multiply_add_block(sum, {sums.image + i * sums.h_step, sums.plane, sums.w_step}, y, tile_columns, sums.width);
    y += sums.width * tile_columns;
  }
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) {
      Real* const to = sums.sums + i * tile_columns + j * pack_width;
      (Pack::load(to) + sum[i][j]).store(to);
    }
  }
}

// The same for one channel of either side, of which y is a plane of rows y_row apart.
void sum_products(const KernelSums& sums) {
  Pack sum;
  for (std::int64_t i = 0; i < sums.height; ++i) {
    const Real *image = sums.image + i * sums.h_step, *y = sums.y + i * sums.y_row;
    each_pack(sums.width,
              [&](std::int64_t j, auto part) { sum = multiply_add(part.load(image + j), part.load(y + j), sum); });
  }
  sums.sums[0] += sum_of(sum);
}

// Of `count` rows, which see rows first, first + step, ... of an image: those that see no zeros above or below it, from
// the first to behind the last.
std::pair<std::int64_t, std::int64_t> rows_that_see(const Plane& image, std::int64_t first, std::int64_t step,
                                                    std::int64_t count) {
  const auto before = [&](std::int64_t row, std::int64_t least) {
    return std::clamp((row - first + step - 1) / step, least, count);
  };
  const std::int64_t begin = before(image.top, 0);
  return {begin, before(image.bottom, begin)};
}

template <int rows, int packs>
struct SumChannels {
  static constexpr auto function = sum_channels<rows, packs>;
};
using KernelFunction = void (*)(const KernelSums&);
constexpr auto kernel_one_pack = table<KernelFunction, SumChannels, 1>(all_rows);
constexpr auto kernel_two_packs = table<KernelFunction, SumChannels, 2>(all_rows);

}  // namespace

Array conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result, const Rounding& rounding) {
  Array gradient(sizes.kernel_shape(), Real(0));
  if (gradient.size() == 0 || sizes.batch == 0 || sizes.h.out * sizes.w.out == 0) return gradient;
  if (results_see_far(sizes)) return detail::far_conv_kernel_rows(sizes, image, result);
  if (rounds(rounding, sizes, image, sizes.image_shape(), result, sizes.result_shape())) {
    return detail::bfloat_conv_kernel_rows(sizes, image, result, rounding);
  }
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const std::int64_t places = h.kernel * w.kernel, panels = panels_of(sizes.out);
  const Window window = seen_by_results(sizes);
  // Blocks of images have sums of their own, as many as memory allows; for few of them the threads divide the places of
  // the kernel as well.
  constexpr std::int64_t most_blocks = 16, most_numbers = 1 << 20, most_pixels = 1024;
  const std::int64_t size = sizes.groups * panels * places * sizes.in * tile_columns;
  const std::int64_t blocks = std::clamp<std::int64_t>(most_numbers / size, 1, std::min(sizes.batch, most_blocks));
  const std::int64_t parts = blocks * sizes.groups >= most_blocks ? 1 : std::min(places, most_blocks);
  // Pixels at a time: some rows, or a part of one.
  const std::int64_t width = std::min(w.out, most_pixels);
  const std::int64_t height = std::clamp<std::int64_t>(most_pixels / w.out, 1, h.out);
  const std::int64_t tiles = (sizes.in + tile_rows - 1) / tile_rows;
  const bool planes = sizes.in == 1 && sizes.out == 1 && w.stride == 1;
  Array all(Shape{blocks, size}, Real(0));  // (blocks, groups, panels, places, in, tile_columns)
  Real* const sums = all.mutable_data();
  parallel_for(blocks * parts * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    Array room(Shape{window.size() + height * width * tile_columns});
    Real* const turned = room.mutable_data();
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t g = job % sizes.groups, part = job / sizes.groups % parts, block = job / sizes.groups / parts;
      const std::int64_t first_place = places * part / parts, last_place = places * (part + 1) / parts;
      for (std::int64_t b = sizes.batch * block / blocks; b < sizes.batch * (block + 1) / blocks; ++b) {
        const Plane plane = window.of(image + sizes.image_at(b, g), turned + height * width * tile_columns);
        for (std::int64_t panel = 0; panel < panels; ++panel) {
          const std::int64_t first = panel * tile_columns, columns = std::min(tile_columns, sizes.out - first);
          const auto& of_rows = columns <= pack_width ? kernel_one_pack : kernel_two_packs;
          const Real* y = result + sizes.result_at(b, g, first);
          Real* const of_panel = sums + block * size + (g * panels + panel) * places * sizes.in * tile_columns;
          const std::int64_t pixels = h.out * w.out;
          for (std::int64_t p = 0, some = 0; p < pixels; p += some) {
            const std::int64_t i = p / w.out, j = p % w.out;
            const std::int64_t rows = std::min(height, h.out - i), in_row = std::min(width, w.out - j);
            some = rows * in_row;
            if (!planes) pack_transposed(y + p, pixels, columns, some, turned, tile_columns, tile_columns);
            for (std::int64_t place = first_place; place < last_place; ++place) {
              const std::int64_t seen = i * h.stride + place / w.kernel * h.dilation;  // by the first of the rows
              const auto [begin_row, end_row] = rows_that_see(plane, seen, h.step(), rows);
              if (begin_row == end_row) continue;
              const Real* at = plane.data + (seen + begin_row * h.step()) * plane.row + j * w.stride +
                               place % w.kernel * w.dilation;
              for (std::int64_t t = 0, c = 0; t < tiles; ++t) {
                const std::int64_t count = sizes.in * (t + 1) / tiles - c;
                const KernelSums of_tile{.image = at + c * plane.plane,
                                         .plane = plane.plane,
                                         .h_step = h.step() * plane.row,
                                         .w_step = w.step(),
                                         .y = planes ? y + p + begin_row * w.out
                                                     : turned + begin_row * in_row * tile_columns,
                                         .y_row = w.out,
                                         .height = end_row - begin_row,
                                         .width = in_row,
                                         .sums = of_panel + (place * sizes.in + c) * tile_columns};
                if (planes) {
                  sum_products(of_tile);
                } else {
                  of_rows[static_cast<std::size_t>(count - 1)](of_tile);
                }
                c += count;
              }
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
      const Real* from =
          sums + (g * panels + own / tile_columns) * places * sizes.in * tile_columns + own % tile_columns;
      for (std::int64_t block = 0; block < blocks; ++block, from += size) {
        for (std::int64_t c = 0; c < sizes.in; ++c) {
          for (std::int64_t place = 0; place < places; ++place) {
            out[(o * sizes.in + c) * places + place] += from[(place * sizes.in + c) * tile_columns];
          }
        }
      }
    }
  });
  return gradient;
}

}  // namespace xgrad
