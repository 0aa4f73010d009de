// The gradient of a convolution to its kernel. As in conv.cpp sums stay in registers, but pixels and channels change
// places: sums run over pixels, for some channels of the image and of the results at a tap of the kernel.
#include <algorithm>
#include <vector>

#include "../../../core/runtime/parallel.h"
#include "../products/packing.h"
#include "../registers/multiply_add.h"
#include "conv.h"
#include "conv_window.h"

namespace xgrad {
namespace {

// What some rows of results see of an image at a tap: the pixel of row i and column j sees in channel c the element at
// data + c plane + i h_stride + j w_stride.
struct SeenRows {
  const Real* data = nullptr;
  std::int64_t plane, h_stride, w_stride, height, width;
};

// sums_co += image_c(i, j) y_ijo over all pixels for `rows` channels of the image, with y of (height, width,
// tile_columns). The sum is formed separately: a sum over many pixels is a sum of partial sums.
template <int rows, int packs>
void add_channels(const SeenRows& given, const Real* y, Real* sums) {
  const SeenRows image = given;  // that no store to `sums` can change
  Pack sum[rows][packs];
  const Real* at = image.data;
  for (std::int64_t i = 0; i < image.height; ++i, at += image.h_stride, y += image.width * tile_columns) {
    multiply_add_block(sum, {at, image.plane, image.w_stride}, y, tile_columns, image.width);
  }
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) {
      Real* const to = sums + i * tile_columns + j * pack_width;
      (Pack::load(to) + sum[i][j]).store(to);
    }
  }
}

constexpr auto channels_one_pack = by_rows_at_once<tile_rows>([](auto rows) { return add_channels<rows, 1>; });
constexpr auto channels_two_packs = by_rows_at_once<tile_rows>([](auto rows) { return add_channels<rows, 2>; });

// The same for all channels of the image and `columns` of the results, in parts of about equal size.
void add_tap(SeenRows image, std::int64_t channels, std::int64_t columns, const Real* y, Real* sums) {
  const auto& of_rows = columns <= pack_width ? channels_one_pack : channels_two_packs;
  const std::int64_t parts = (channels + tile_rows - 1) / tile_rows;
  for (std::int64_t part = 0, c = 0; part < parts; ++part) {
    const std::int64_t count = channels * (part + 1) / parts - c;
    of_rows[static_cast<std::size_t>(count - 1)](image, y, sums + c * tile_columns);
    image.data += count * image.plane;
    c += count;
  }
}

// The pixels of the results of all images, cut into parts: some rows, or a part of one.
struct Parts {
  static constexpr std::int64_t most_pixels = 512;
  std::int64_t width, height;     // of a part, at most
  std::int64_t in_row, in_image;  // how many

  explicit Parts(const ConvSizes& sizes)
      : width(std::min(sizes.w.out, most_pixels)),
        height(std::clamp<std::int64_t>(most_pixels / sizes.w.out, 1, sizes.h.out)),
        in_row((sizes.w.out + width - 1) / width),
        in_image((sizes.h.out + height - 1) / height * in_row) {}
};

// The sums of all channels of a group are (panels, taps, in, tile_columns). Adds the products of some pixels at the
// taps from `first` to before `last`; `seen` is what they see at the start of the window, `result` where they begin.
struct GroupSums {
  const ConvSizes& sizes;
  const std::vector<std::int64_t>& offsets;  // of the taps
  std::int64_t first, last;

  void add(const SeenRows& seen, const Real* result, Real* transposed, Real* sums) const {
    for (std::int64_t o = 0; o < sizes.out; o += tile_columns, sums += sizes.seen() * tile_columns) {
      const std::int64_t columns = std::min(tile_columns, sizes.out - o);
      pack_transposed(result + o * sizes.pixels(), sizes.pixels(), columns, seen.height * seen.width, transposed,
                      tile_columns, tile_columns);
      for (std::int64_t tap = first; tap < last; ++tap) {
        SeenRows at_tap = seen;
        at_tap.data += offsets[static_cast<std::size_t>(tap)];
        add_tap(at_tap, sizes.in, columns, transposed, sums + tap * sizes.in * tile_columns);
      }
    }
  }
};

// Adds up the sums of blocks (blocks, groups, panels, taps, in, tile_columns).
void add_blocks(const ConvSizes& sizes, std::int64_t blocks, const Real* sums, Real* gradient) {
  const std::int64_t taps = sizes.taps(), panels = panels_of(sizes.out), panel_size = sizes.seen() * tile_columns;
  parallel_for(sizes.groups * sizes.out, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      const std::int64_t g = o / sizes.out, own = o % sizes.out;
      const Real* from = sums + (g * panels + own / tile_columns) * panel_size + own % tile_columns;
      for (std::int64_t block = 0; block < blocks; ++block, from += sizes.groups * panels * panel_size) {
        for (std::int64_t c = 0; c < sizes.in; ++c) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            gradient[(o * sizes.in + c) * taps + tap] += from[(tap * sizes.in + c) * tile_columns];
          }
        }
      }
    }
  });
}

// Whether tiles of sums would be mostly empty and their columns are few, or the window is too sparse to be copied.
bool suits_columns(const ConvSizes& sizes) {
  return sizes.in == 1 || sizes.in * sizes.out <= 4 * pack_width || results_see_far(sizes);
}

}  // namespace

Array conv_kernel_rows(const ConvSizes& sizes, const Real* image, const Real* result) {
  Array gradient(sizes.kernel_shape(), Real(0));
  if (gradient.size() == 0 || sizes.batch == 0 || sizes.pixels() == 0) return gradient;
  if (suits_columns(sizes)) return detail::conv_kernel_rows_by_columns(sizes, image, result);
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const Window window = input_window(sizes);
  const std::vector<std::int64_t> offsets = taps_of(sizes, window.row());
  const Parts parts(sizes);
  // Blocks of parts have their own sums, as many as memory allows; threads also divide the taps.
  constexpr std::int64_t most_blocks = 16, most_elements = 1 << 20;
  const std::int64_t count = sizes.batch * parts.in_image, taps = sizes.taps();
  const std::int64_t group_size = panels_of(sizes.out) * sizes.seen() * tile_columns;
  const std::int64_t blocks =
      std::clamp<std::int64_t>(most_elements / (sizes.groups * group_size), 1, std::min(count, most_blocks));
  const std::int64_t splits = splits_of(blocks * sizes.groups, taps);
  Array sums(Shape{blocks * sizes.groups, group_size}, Real(0));
  Real* const to = sums.mutable_data();
  parallel_for(blocks * sizes.groups * splits, 1, [&](std::int64_t begin, std::int64_t end) {
    Array copy(Shape{window.size()}), transposed(Shape{parts.height * parts.width * tile_columns});
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t split = job % splits, block_group = job / splits;
      const std::int64_t g = block_group % sizes.groups, block = block_group / sizes.groups;
      const GroupSums of_group{sizes, offsets, taps * split / splits, taps * (split + 1) / splits};
      ImageView view{};
      for (std::int64_t part = count * block / blocks, before = -1; part < count * (block + 1) / blocks; ++part) {
        const std::int64_t b = part / parts.in_image, i = part % parts.in_image / parts.in_row * parts.height,
                           j = part % parts.in_row * parts.width;
        if (b != before) view = window.of(image + sizes.image_at(b, g), copy.mutable_data());
        before = b;
        of_group.add({.data = view.data + i * h.step() * view.row + j * w.step(),
                      .plane = view.plane,
                      .h_stride = h.step() * view.row,
                      .w_stride = w.step(),
                      .height = std::min(parts.height, h.out - i),
                      .width = std::min(parts.width, w.out - j)},
                     result + sizes.result_at(b, g) + i * w.out + j, transposed.mutable_data(),
                     to + block_group * group_size);
      }
    }
  });
  add_blocks(sizes, blocks, sums.data(), gradient.mutable_data());
  return gradient;
}

}  // namespace xgrad
