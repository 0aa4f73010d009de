// The windows of images that a convolution sees, and the tiles of sums that it keeps in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../../core/runtime/parallel.h"
#include "../registers/multiply_add.h"
#include "conv_sizes.h"

namespace xgrad::inline XGRAD_SIMD {

inline constexpr int tile_packs = 2;                             ///< channels of the result, in packs
inline constexpr int tile_rows = rows_in_registers<tile_packs>;  ///< pixels; or channels of the image
inline constexpr std::int64_t tile_columns = tile_packs * pack_width;

inline std::int64_t panels_of(std::int64_t channels) { return (channels + tile_columns - 1) / tile_columns; }

/// Some channels of one image: channel c's row i begins at data + c plane + i row.
struct ImageView {
  const Real* data;
  std::int64_t plane, row;
  std::int64_t rows, top, bottom;  ///< rows in all; those before `top` and from `bottom` on are zeros
};

/// A part of images, `from` ... `from` + size along each axis, which may reach beyond them into zeros.
struct Window {
  std::int64_t channels, h_in, w_in;  // of the images
  std::int64_t h_from, h_size, w_from, w_size;

  // Neighbouring channels whose distance is a power of two would displace one another in the first-level cache.
  static bool displaces(std::int64_t plane) { return plane % static_cast<std::int64_t>(2048 / sizeof(Real)) == 0; }
  bool in_place() const {
    return h_from >= 0 && w_from >= 0 && h_from + h_size <= h_in && w_from + w_size <= w_in &&
           (!displaces(h_in * w_in) || channels == 1);
  }
  std::int64_t plane() const { return h_size * w_size + (displaces(h_size * w_size) ? pack_width : 0); }
  // The stride of the rows that of() returns.
  std::int64_t row() const { return in_place() ? w_in : w_size; }
  // Of the copy.
  std::int64_t size() const { return in_place() ? 0 : channels * plane(); }

  // The part of this image, copied to `buffer` if it cannot be used in place.
  ImageView of(const Real* image, Real* buffer) const {
    if (in_place()) return {image + h_from * w_in + w_from, h_in * w_in, w_in, h_size, 0, h_size};
    const std::int64_t left = std::clamp<std::int64_t>(-w_from, 0, w_size),
                       right = std::clamp<std::int64_t>(w_in - w_from, left, w_size),
                       top = std::clamp<std::int64_t>(-h_from, 0, h_size),
                       bottom = std::clamp<std::int64_t>(h_in - h_from, top, h_size);
    const auto zeros = [](Real* to, std::int64_t count) {
      each_pack(count, [&](std::int64_t j, auto part) { part.store(Pack(), to + j); });
    };
    for (std::int64_t c = 0; c < channels; ++c) {
      Real* to = buffer + c * plane();
      zeros(to, top * w_size);
      for (std::int64_t i = top; i < bottom; ++i) {
        Real* const row = to + i * w_size;
        const Real* const from = image + (c * h_in + h_from + i) * w_in + w_from;
        zeros(row, left);
        each_pack(right - left,
                  [&](std::int64_t j, auto part) { part.store(part.load(from + left + j), row + left + j); });
        zeros(row + right, w_size - right);
      }
      zeros(to + bottom * w_size, (h_size - bottom) * w_size);
    }
    return {buffer, plane(), w_size, h_size, top, bottom};
  }
};

/// The window of the images of a group that the results of a convolution see.
inline Window input_window(const ConvSizes& sizes) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  return {.channels = sizes.in,
          .h_in = h.in,
          .w_in = w.in,
          .h_from = -h.padding,
          .h_size = (h.out - 1) * h.stride + (h.kernel - 1) * h.dilation + 1,
          .w_from = -w.padding,
          .w_size = (w.out - 1) * w.stride + (w.kernel - 1) * w.dilation + 1};
}

/// The offset of each tap of the kernel in images with this row stride.
inline std::vector<std::int64_t> taps_of(const ConvSizes& sizes, std::int64_t row) {
  std::vector<std::int64_t> taps;
  for (std::int64_t i = 0; i < sizes.h.kernel; ++i) {
    for (std::int64_t j = 0; j < sizes.w.kernel; ++j) taps.push_back(i * sizes.h.dilation * row + j * sizes.w.dilation);
  }
  return taps;
}

// A copied window holds the zeros between and around the numbers that are seen. Where these are most of it, and many,
// only columns are copied.
inline bool mostly_zeros(const ConvSizes& sizes, std::int64_t channels, double h_size, double w_size) {
  constexpr double few = 1 << 16;
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const auto product = [](auto... factors) { return (static_cast<double>(factors) * ...); };
  const double given = product(sizes.in, h.in, w.in) + product(sizes.out, h.out, w.out) +
                       product(sizes.in, sizes.out, h.kernel, w.kernel);
  return product(channels, h_size, w_size) > 4 * given + few;
}

/// Whether the window that results see in images, or images in results, is too sparse to be copied.
inline bool results_see_far(const ConvSizes& sizes) {
  const Window window = input_window(sizes);
  return !window.in_place() &&
         mostly_zeros(sizes, sizes.in, static_cast<double>(window.h_size), static_cast<double>(window.w_size));
}
inline bool images_see_far(const ConvSizes& sizes) {
  const auto most = [](const ConvAxis& axis) {
    const double all = static_cast<double>(axis.dilation * (axis.kernel - 1)) + static_cast<double>(axis.in - 1);
    return all / static_cast<double>(axis.stride) + 1;
  };
  return mostly_zeros(sizes, sizes.out, most(sizes.h), most(sizes.w));
}

/// The positions on the other side that one class of pixels along an axis sees.
struct Phase {
  std::int64_t first, count;           // the first pixel, and how many there are
  std::vector<std::int64_t> taps{};    // of the kernel that reach them
  std::vector<std::int64_t> shifts{};  // of the position that each tap sees from the first pixel
  std::int64_t from = 0, size = 0;     // of all positions that are seen
};

/// The image's pixels that are `first` modulo the stride, as they see the results of a convolution.
inline Phase phase_of(const ConvAxis& axis, std::int64_t first) {
  Phase phase{.first = first, .count = (axis.in - first - 1) / axis.stride + 1};
  for (std::int64_t k = 0; k < axis.kernel; ++k) {
    const std::int64_t way = first + axis.padding - axis.dilation * k;
    if (way % axis.stride != 0) continue;
    phase.taps.push_back(k);
    phase.shifts.push_back(way / axis.stride);
  }
  if (!phase.taps.empty() && phase.count > 0) {
    const auto [least, most] = std::minmax_element(phase.shifts.begin(), phase.shifts.end());
    phase.from = *least;
    phase.size = *most - *least + phase.count;
  }
  return phase;
}

/// Calls f(down, across) for all pixels of an image, those together that are equal modulo the strides.
void each_phase(const ConvSizes& sizes, const auto& f) {
  const ConvAxis &h = sizes.h, &w = sizes.w;
  for (std::int64_t row = 0; row < std::min(h.stride, h.in); ++row) {
    const Phase down = phase_of(h, row);
    for (std::int64_t column = 0; column < std::min(w.stride, w.in); ++column) f(down, phase_of(w, column));
  }
}

/// The results of a convolution that the pixels of two phases of an image see.
struct OutputTaps {
  Window window;
  std::vector<std::int64_t> taps{};     // the offsets of the taps that reach them, from the start of the window
  std::vector<std::int64_t> indices{};  // the numbers of these taps in the kernel
};

inline OutputTaps output_taps(const ConvSizes& sizes, const Phase& down, const Phase& across) {
  const Window window{.channels = sizes.out,
                      .h_in = sizes.h.out,
                      .w_in = sizes.w.out,
                      .h_from = down.from,
                      .h_size = down.size,
                      .w_from = across.from,
                      .w_size = across.size};
  OutputTaps reached{.window = window};
  for (std::size_t i = 0; i < down.taps.size(); ++i) {
    for (std::size_t j = 0; j < across.taps.size(); ++j) {
      reached.taps.push_back((down.shifts[i] - down.from) * window.row() + across.shifts[j] - across.from);
      reached.indices.push_back(down.taps[i] * sizes.w.kernel + across.taps[j]);
    }
  }
  return reached;
}

/// The number of parts that each of `jobs` is split into, so that there is work for all threads.
inline std::int64_t splits_of(std::int64_t jobs, std::int64_t most) {
  constexpr std::int64_t enough = 16;
  return threads() == 1 ? 1 : std::min(most, (enough + jobs - 1) / jobs);
}

/// Calls f(buffer, image, group, first, last) for all images and groups and all of `panels`, which are split for few
/// images and groups. make_buffer() returns the buffer of neighbouring jobs.
template <class MakeBuffer, class F>
void each_conv_job(const ConvSizes& sizes, std::int64_t panels, const MakeBuffer& make_buffer, const F& f) {
  constexpr std::int64_t most_buffers = 32;
  const std::int64_t images = sizes.batch * sizes.groups, parts = splits_of(images, panels);
  parallel_for(images * parts, (images * parts + most_buffers - 1) / most_buffers,
               [&](std::int64_t begin, std::int64_t end) {
                 auto buffer = make_buffer();
                 for (std::int64_t job = begin; job < end; ++job) {
                   const std::int64_t part = job % parts, image_group = job / parts;
                   f(buffer, image_group / sizes.groups, image_group % sizes.groups, panels * part / parts,
                     panels * (part + 1) / parts);
                 }
               });
}

}  // namespace xgrad::inline XGRAD_SIMD
