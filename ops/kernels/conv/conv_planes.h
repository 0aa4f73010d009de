// Images in bfloat16 parts as convolutions multiply them. For each column of the kernel there is a copy with the
// positions that results see in it, as many in a row as there are results: so neighbouring results see neighbours, row
// after row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../bfloat16/bfloat16.h"
#include "conv_window.h"

namespace xgrad::inline XGRAD_SIMD {

/// What results see at one place of the kernel along an axis: positions shift, shift + 1, ... of a line.
struct Tap {
  std::int64_t number, line, shift;  ///< `number`: of the place in the kernel
};
using Taps = std::vector<Tap>;

/// Positions along an axis of images, which may lie beyond their ends: some lines of `size`, `step` apart in each.
struct SeenLines {
  std::int64_t in, step;
  std::int64_t size = 0;
  std::vector<std::int64_t> first{};  ///< position of each line

  std::int64_t count() const { return std::ssize(first); }
  std::int64_t at(std::int64_t line, std::int64_t i) const { return first[static_cast<std::size_t>(line)] + i * step; }
  /// The line that begins with this position.
  std::int64_t from(std::int64_t position) {
    const auto line = std::ranges::find(first, position) - first.begin();
    if (line == count()) first.push_back(position);
    return line;
  }
  /// From the first position of a line that is in the image to behind the last.
  std::pair<std::int64_t, std::int64_t> inside(std::int64_t line) const {
    const auto before = [&](std::int64_t end, std::int64_t least) {
      return std::clamp((end - at(line, 0) + step - 1) / step, least, size);
    };
    const std::int64_t begin = at(line, 0) >= 0 ? 0 : before(0, 0);
    return {begin, before(in, begin)};
  }
};

/// Some rows of the channels of images: a right factor whose rows are two channels, or a left one whose rows are one.
class Planes {
 public:
  Planes(const Rounding& rounding, detail::BfloatSide side, std::int64_t channels, SeenLines down, SeenLines across,
         std::int64_t rows, std::int64_t images = 1)
      : rounding_(rounding),
        side_(side),
        channels_(channels),
        down_(std::move(down)),
        across_(std::move(across)),
        image_(whole(rows * row(), 2)) {
    count_ = whole(pairs() ? (channels + 1) / 2 : channels, rounding.unit->whole_tiles ? detail::tile_lines : 1);
    plane_ = width() * (images * image_ + detail::tile_depth);  // a tile may begin at the last position
    if (plane_ % 1024 == 0) plane_ += detail::tile_depth;       // else they displace one another in the nearest cache
  }

  const Rounding& rounding() const { return rounding_; }
  std::int64_t channels() const { return channels_; }
  std::int64_t count() const { return count_; }  // of planes for each pair of lines
  // The distance of rows and images in positions, and of planes in numbers.
  std::int64_t row() const { return across_.size; }
  std::int64_t image() const { return image_; }
  std::int64_t plane() const { return plane_; }
  // In numbers: a position, and all planes.
  std::int64_t width() const { return pairs() ? 2 : 1; }
  std::int64_t size() const { return rounding_.parts * part(); }
  detail::BfloatLayout layout() const {
    const std::int64_t planes = detail::tile_lines * plane_, positions = detail::tile_depth;
    return {plane_, pairs() ? planes : positions, pairs() ? positions : planes, part()};
  }
  /// What the first result sees, in the first plane of its lines.
  std::int64_t at(const Tap& down, const Tap& across) const {
    return (down.line * across_.count() + across.line) * count_ * plane_ +
           width() * (down.shift * row() + across.shift);
  }

  /// Cuts the rows from `first` to before `last` to `room`, where there are zeros, or others of as many columns.
  void fill(const Real* image, std::int64_t first, std::int64_t last, Bfloat16* room) const {
    Array sorted(Shape{across_.step > 1 ? channels_ * across_.in : 0});
    for (std::int64_t i = 0; i < down_.count(); ++i) {
      const auto [top, bottom] = down_.inside(i);
      for (std::int64_t n = first, rows = 1; n < last; n += rows) {
        Bfloat16* const to = room + at({0, i, n - first}, {0, 0, 0});
        if (n < top || n >= bottom) {
          rows = 1;
          clear_row(to);
        } else {
          rows = in_one_piece() ? std::min(last, bottom) - n : 1;
          fill_rows({image + down_.at(i, n) * across_.in, down_.in * across_.in}, rows, sorted.mutable_data(), to);
        }
      }
    }
  }

 private:
  static std::int64_t whole(std::int64_t count, std::int64_t of) { return (count + of - 1) / of * of; }
  bool pairs() const { return side_ == detail::BfloatSide::right; }
  std::int64_t part() const { return down_.count() * across_.count() * count_ * plane_; }

  void clear_row(Bfloat16* to) const {
    for (int part = 0; part < rounding_.parts; ++part, to += this->part()) {
      for (std::int64_t n = 0; n < across_.count() * count_; ++n) {
        std::fill_n(to + n * plane_, width() * row(), Bfloat16(0));
      }
    }
  }
  // Whether the rows of an image follow one another as those of planes do.
  bool in_one_piece() const {
    return down_.step == 1 && across_.step == 1 && across_.count() == 1 && across_.at(0, 0) == 0 && row() == across_.in;
  }
  // Rows of each channel; several if they are in one piece.
  void fill_rows(const Factor& channels, std::int64_t rows, Real* sorted, Bfloat16* to) const {
    const std::int64_t step = across_.step, whole_steps = across_.in / step, more = across_.in % step;
    if (step > 1) {  // what neighbours see is put side by side: of each channel the positions that are equal modulo step
      Real* own = sorted;
      for (std::int64_t phase = 0; phase < step; ++phase) {
        for (std::int64_t c = 0; c < channels_; ++c) {
          const Real* const from = channels.data + c * channels.stride + phase;
          const std::int64_t count = whole_steps + (phase < more ? 1 : 0);
          for (std::int64_t p = 0; p < count; ++p) *own++ = from[p * step];
        }
      }
    }
    for (std::int64_t j = 0; j < across_.count(); ++j) {
      const auto [left, right] = across_.inside(j);
      const std::int64_t count = rows * (right - left);
      if (count == 0) continue;
      Factor from{channels.data + across_.at(j, left), channels.stride};
      if (step > 1) {
        const std::int64_t phase = across_.at(j, left) % step;
        from.stride = whole_steps + (phase < more ? 1 : 0);
        from.data = sorted + channels_ * (phase * whole_steps + std::min(phase, more)) + across_.at(j, left) / step;
      }
      rounding_.unit->pack({.from = from,
                            .side = side_,
                            .lines = pairs() ? count : channels_,
                            .depth = pairs() ? channels_ : count,
                            .to = to + width() * left + at({}, {0, j, 0}),
                            .layout = layout(),
                            .parts = rounding_.parts,
                            .whole = false,
                            .ahead = step > 1 ? 0 : 2 * down_.step * across_.in});
    }
  }

  Rounding rounding_;
  detail::BfloatSide side_;
  std::int64_t channels_;
  SeenLines down_, across_;
  std::int64_t image_, count_, plane_;
};

/// What the results of a convolution see.
struct SeenImage {
  SeenLines down, across;
  Taps rows{}, columns{};

  explicit SeenImage(const ConvSizes& sizes)
      : down{sizes.h.in, sizes.h.step()}, across{sizes.w.in, sizes.w.step(), sizes.w.out} {
    const ConvAxis &h = sizes.h, &w = sizes.w;
    for (std::int64_t k = 0; k < h.kernel; ++k) {
      const std::int64_t position = h.dilation * k, shift = position / down.step;
      rows.push_back({k, down.from(position % down.step - h.padding), shift});
      down.size = std::max(down.size, shift + h.out);
    }
    for (std::int64_t k = 0; k < w.kernel; ++k) columns.push_back({k, across.from(w.dilation * k - w.padding), 0});
  }
};

/// What an image sees of the results of its convolution: each phase along an axis has taps of its own.
struct SeenByImage {
  struct Part {
    std::int64_t count;  ///< of positions of the image
    Taps taps;
  };
  SeenLines down, across;
  std::vector<Part> rows{}, columns{};

  explicit SeenByImage(const ConvSizes& sizes) : down{sizes.h.out, 1}, across{sizes.w.out, 1} {
    std::int64_t top = down.in;
    for (std::int64_t first = 0; first < std::min(sizes.h.stride, sizes.h.in); ++first) {
      const Phase phase = phase_of(sizes.h, first);
      Part& part = rows.emplace_back(Part{phase.count, {}});
      for (std::size_t k = 0; k < phase.taps.size(); ++k) {
        part.taps.push_back({phase.taps[k], 0, phase.shifts[k]});
        top = std::min(top, phase.shifts[k]);
      }
    }
    down.first = {top};
    for (Part& part : rows) {
      for (Tap& tap : part.taps) {
        tap.shift -= top;
        down.size = std::max(down.size, tap.shift + part.count);
      }
    }
    for (std::int64_t first = 0; first < std::min(sizes.w.stride, sizes.w.in); ++first) {
      const Phase phase = phase_of(sizes.w, first);
      Part& part = columns.emplace_back(Part{phase.count, {}});
      across.size = std::max(across.size, phase.count);
      for (std::size_t k = 0; k < phase.taps.size(); ++k) {
        part.taps.push_back({phase.taps[k], across.from(phase.shifts[k]), 0});
      }
    }
  }
};

}  // namespace xgrad::inline XGRAD_SIMD
