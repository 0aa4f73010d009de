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

void write_row(const Sums& sums, const Real* from, std::int64_t count, Real* to) {
  if (sums.step == 1) {
    each_pack(count, [&](std::int64_t p, auto part) { part.store(part.load(from + p), to + p); });
  } else {
    for (std::int64_t p = 0; p < count; ++p) to[p * sums.step] = from[p];
  }
}

// Of so few channels of the result most of a pack would be empty: pixels take their place in the registers.
constexpr std::int64_t few_channels = pack_width * 3 / 4;

template <int rows>
constexpr int packs_beside = rows <= rows_in_registers<8>   ? 8
                             : rows <= rows_in_registers<4> ? 4
                                                            : 2;

// `rows` channels at `count` positions, which lie side by side from `at` on, to the rows of `room`.
template <int rows, int packs>
void sum_few(const Sums& given, const Real* at, std::int64_t count, Real* room, std::int64_t room_step) {
  const Sums sums = given;
  constexpr std::int64_t width = packs * pack_width;
  for (; count >= width; count -= width, at += width, room += width) {
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
      for (int j = 0; j < packs; ++j) sum[i][j].store(room + i * room_step + j * pack_width);
    }
  }
  if constexpr (packs > 1) {
    sum_few<rows, packs / 2>(sums, at, count, room, room_step);
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
      part.store(sum, room + i * room_step);
    }
  }
}

template <int rows, int packs>
struct SumFew {
  static constexpr auto function = sum_few<rows, packs_beside<rows>>;
};
using FewFunction = void (*)(const Sums&, const Real*, std::int64_t, Real*, std::int64_t);
constexpr auto sum_few_rows = table<FewFunction, SumFew, 1>(std::make_integer_sequence<int, few_channels>());

// Where rows of results see rows of the image, what lies between the ends of these is summed, too, and not written.
void sum_few_channels(const Sums& sums) {
  constexpr std::int64_t together = 1024;
  const bool in_rows = sums.h_step == sums.image.row && sums.image.row > 0;
  const std::int64_t tall = in_rows ? std::clamp<std::int64_t>(together / sums.image.row, 1, sums.height) : 1;
  const std::int64_t most = (tall - 1) * sums.image.row + sums.width;
  Array room(Shape{sums.columns, most});
  for (std::int64_t i = 0; i < sums.height; i += tall) {
    const std::int64_t rows = std::min(tall, sums.height - i);
    const std::int64_t count = (rows - 1) * sums.image.row + sums.width;
    const auto sum_rows = sum_few_rows[static_cast<std::size_t>(sums.columns - 1)];
    sum_rows(sums, sums.image.data + i * sums.h_step, count, room.mutable_data(), most);
    for (std::int64_t o = 0; o < sums.columns; ++o) {
      for (std::int64_t n = 0; n < rows; ++n) {
        write_row(sums, room.data() + o * most + n * sums.image.row, sums.width,
                  sums.result + o * sums.plane + (i + n) * sums.row);
      }
    }
  }
}

void sum_image(const Sums& sums) {
  if (sums.columns <= few_channels && sums.w_step == 1) return sum_few_channels(sums);
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
        write_row(sums, channels.data() + o * transposed_row, count, to);
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
  if (sizes.in * sizes.out <= few || (rounding.parts > 1 && std::min(sizes.in, sizes.out) < few)) return false;
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

// Some pixels of results, rows of `width`, and what they see in a row of the kernel.
struct SeenRow {
  const Plane& image;
  const Real* at;  // what the first pixel sees at the first place
  std::int64_t channels, h_step, w_step, tap_step;
  std::int64_t height, width;
  std::int64_t first, last;  // places
  Real* sums;                // (places, channels, tile_columns)

  const Real* image_at(std::int64_t tap, std::int64_t c) const { return at + tap * tap_step + c * image.plane; }
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

// sum_co += image_c(tap + i h_step + j w_step) y_ijo over all pixels, with y of (height, width, tile_columns), for `rows`
// channels of the image. Each such sum is formed separately: a sum over many pixels is a sum of partial sums.
template <int rows, int packs>
void sum_channels(const SeenRow& given, std::int64_t tap, std::int64_t c, const Real* y) {
  const SeenRow seen = given;
  Pack sum[rows][packs];
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j] = Pack();
  }
  const Real* at = seen.image_at(tap, c);
  for (std::int64_t i = 0; i < seen.height; ++i, at += seen.h_step, y += seen.width * tile_columns) {
    multiply_add_block(sum, {at, seen.image.plane, seen.w_step}, y, tile_columns, seen.width);
  }
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) {
      Real* const to = seen.sums_at(tap, c + i) + j * pack_width;
      (Pack::load(to) + sum[i][j]).store(to);
    }
  }
}

template <int rows, int packs>
struct SumChannels {
  static constexpr auto function = sum_channels<rows, packs>;
};
using ChannelFunction = void (*)(const SeenRow&, std::int64_t, std::int64_t, const Real*);
constexpr auto channels_one_pack = table<ChannelFunction, SumChannels, 1>(all_rows);
constexpr auto channels_two_packs = table<ChannelFunction, SumChannels, 2>(all_rows);

void add_channels(const SeenRow& seen, std::int64_t columns, const Real* y) {
  const auto& of_rows = columns <= pack_width ? channels_one_pack : channels_two_packs;
  for (std::int64_t tap = seen.first; tap < seen.last; ++tap) {
    each_part(0, seen.channels, tile_rows, [&](std::int64_t c, std::int64_t last) {
      of_rows[static_cast<std::size_t>(last - c - 1)](seen, tap, c, y);
    });
  }
}

// Some channels of results, in planes.
struct ResultRows {
  const Real* data;
  std::int64_t plane, row;
};

// The same for `rows` channels of the results and `taps` places, of one channel of the image. Sums over neighbouring pixels
// are added up at the end: of few channels most of a register would be empty.
template <int taps, int rows>
void sum_products(const SeenRow& given, std::int64_t tap, std::int64_t c, const ResultRows& results, std::int64_t o) {
  const SeenRow seen = given;
  Pack sum[rows][taps];
  const Real *at = seen.image_at(tap, c), *y = results.data + o * results.plane;
  for (std::int64_t i = 0; i < seen.height; ++i, at += seen.h_step, y += results.row) {
    each_pack(seen.width, [&](std::int64_t j, auto part) {
      Pack image[taps];
      XGRAD_UNROLL
      for (int k = 0; k < taps; ++k) image[k] = part.load(at + k * seen.tap_step + j);
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
    for (int r = 0; r < rows; ++r) seen.sums_at(tap + k, c)[o + r] += sum_of(sum[r][k]);
  }
}

constexpr int most_products = registers == 32 ? 4 : 3;  // of each side
template <int taps, int rows>
struct SumProducts {
  static constexpr auto function = sum_products<taps, rows>;
};
using ProductFunction = void (*)(const SeenRow&, std::int64_t, std::int64_t, const ResultRows&, std::int64_t);
// products_of[rows - 1][taps - 1]
constexpr auto products_of = []<int... rows>(std::integer_sequence<int, rows...>) {
  constexpr auto taps = std::make_integer_sequence<int, most_products>();
  return std::array{table<ProductFunction, SumProducts, rows + 1>(taps)...};
}
(std::make_integer_sequence<int, most_products>());

void add_products(const SeenRow& seen, std::int64_t columns, const ResultRows& results) {
  for (std::int64_t c = 0; c < seen.channels; ++c) {
    each_part(seen.first, seen.last, most_products, [&](std::int64_t tap, std::int64_t last_tap) {
      each_part(0, columns, most_products, [&](std::int64_t o, std::int64_t last) {
        const auto& of_rows = products_of[static_cast<std::size_t>(last - o - 1)];
        of_rows[static_cast<std::size_t>(last_tap - tap - 1)](seen, tap, c, results, o);
      });
    });
  }
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
  // Blocks of images have sums of their own, as many as memory allows; for few of them the threads divide the rows of
  // the kernel as well.
  constexpr std::int64_t most_blocks = 16, most_numbers = 1 << 20, most_pixels = 1024;
  const std::int64_t size = sizes.groups * panels * places * sizes.in * tile_columns;
  const std::int64_t blocks = std::clamp<std::int64_t>(most_numbers / size, 1, std::min(sizes.batch, most_blocks));
  const std::int64_t shares = shares_of(blocks * sizes.groups, places);
  // Pixels at a time: some rows, or a part of one.
  const std::int64_t width = std::min(w.out, most_pixels);
  const std::int64_t height = std::clamp<std::int64_t>(most_pixels / w.out, 1, h.out);
  const bool wide = w.out >= pack_width;
  const bool products = w.stride == 1 && (sizes.out <= pack_width * (wide ? 3 : 1) / 8 || (wide && sizes.in == 1));
  Array all(Shape{blocks, size}, Real(0));  // (blocks, groups, panels, places, in, tile_columns)
  Real* const sums = all.mutable_data();
  parallel_for(blocks * shares * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    Array room(Shape{window.size() + height * width * tile_columns});
    Real* const turned = room.mutable_data();
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t g = job % sizes.groups, rest = job / sizes.groups, share = rest % shares, block = rest / shares;
      const std::int64_t first_place = places * share / shares, last_place = places * (share + 1) / shares;
      for (std::int64_t b = sizes.batch * block / blocks; b < sizes.batch * (block + 1) / blocks; ++b) {
        const Plane plane = window.of(image + sizes.image_at(b, g), turned + height * width * tile_columns);
        for (std::int64_t panel = 0; panel < panels; ++panel) {
          const std::int64_t first = panel * tile_columns, columns = std::min(tile_columns, sizes.out - first);
          const Real* y = result + sizes.result_at(b, g, first);
          Real* const of_panel = sums + block * size + (g * panels + panel) * places * sizes.in * tile_columns;
          const std::int64_t pixels = h.out * w.out;
          for (std::int64_t p = 0, some = 0; p < pixels; p += some) {
            const std::int64_t i = p / w.out, j = p % w.out;
            const std::int64_t rows = std::min(height, h.out - i), in_row = std::min(width, w.out - j);
            some = rows * in_row;
            if (!products) pack_transposed(y + p, pixels, columns, some, turned, tile_columns, tile_columns);
            for (std::int64_t k = first_place / w.kernel; k * w.kernel < last_place; ++k) {
              const std::int64_t top = i * h.stride + k * h.dilation;  // the first row that is seen
              const auto [begin_row, end_row] = rows_that_see(plane, top, h.step(), rows);
              if (begin_row == end_row) continue;
              const SeenRow seen{.image = plane,
                                 .at = plane.data + (top + begin_row * h.step()) * plane.row + j * w.stride,
                                 .channels = sizes.in,
                                 .h_step = h.step() * plane.row,
                                 .w_step = w.step(),
                                 .tap_step = w.dilation,
                                 .height = end_row - begin_row,
                                 .width = in_row,
                                 .first = std::max<std::int64_t>(first_place - k * w.kernel, 0),
                                 .last = std::min(last_place - k * w.kernel, w.kernel),
                                 .sums = of_panel + k * w.kernel * sizes.in * tile_columns};
              if (products) {
                add_products(seen, columns, {y + p + begin_row * w.out, pixels, w.out});
              } else {
                add_channels(seen, columns, turned + begin_row * in_row * tile_columns);
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
