// Convolutions as products with patches that are nowhere in memory as a matrix: pixels of results are columns of the
// right factor, whose rows are parts of planes as they are. In the gradient to the kernel, planes are the rows of the
// left factor.
#include "conv_bfloat16.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "../../../core/runtime/parallel.h"
#include "conv_planes.h"

namespace xgrad {
namespace {

using namespace detail;

// Pixels of a panel: whole blocks of AMX, and of registers.
constexpr std::int64_t panel_pixels = 192;
// The sums of three parts start anew from zero after this depth, and stay as exact as those of float.
constexpr std::int64_t most_depth = 512;

class Zeros : public BfloatRoom {
 public:
  explicit Zeros(std::int64_t count) : BfloatRoom(count) { std::fill_n(data(), count, Bfloat16(0)); }
};

// Results that see the same places of the kernel. They are summed with `line` pixels a row; where they are written,
// rows are `row` numbers apart and pixels `step`.
struct Results {
  const Taps &rows, &columns;
  std::int64_t height, width, line;
  std::int64_t first, row, step;

  std::int64_t pixels() const { return (height - 1) * line + width; }
  // Panels, and those of a band of some bands.
  std::int64_t panels() const { return (pixels() + panel_pixels - 1) / panel_pixels; }
  std::pair<std::int64_t, std::int64_t> band(std::int64_t n, std::int64_t bands) const {
    return {panels() * n / bands, panels() * (n + 1) / bands};
  }
};

// The rows of an image's lines that a band of all results sees.
std::pair<std::int64_t, std::int64_t> rows_seen(const std::vector<Results>& results, std::int64_t band,
                                                std::int64_t bands) {
  std::int64_t top = 0, bottom = 0;
  for (const Results& part : results) {
    const auto [first, last] = part.band(band, bands);
    if (first == last || part.rows.empty()) continue;
    const auto [least, most] = std::ranges::minmax(part.rows, {}, &Tap::shift);
    const std::int64_t begin = first * panel_pixels / part.line + least.shift;
    top = bottom == 0 ? begin : std::min(top, begin);
    bottom = std::max(bottom, (std::min(last * panel_pixels, part.pixels()) - 1) / part.line + most.shift + 1);
  }
  return {top, bottom};
}

// Those of channel o of the results for channel c of the image, in group g, begin at g group + o result + c channel,
// with `row` numbers a row.
struct Weights {
  const Real* data;
  std::int64_t group, result, channel, row;
};

// Sums over the channels of an image and the places of the kernel: first of 32 channels, which fill a tile, at all
// places.
class PatchSums {
 public:
  PatchSums(const Planes& planes, const Results& results, std::int64_t groups, std::int64_t channels,
            const Weights& weights)
      : planes_(planes),
        results_(results),
        channels_(channels),
        depth_(2 * planes.count() * std::ssize(results.rows) * std::ssize(results.columns)),
        row_(in_rows(depth_ + tile_depth).step),  // the last weights are packed as a whole tile
        part_(groups * whole_lines(channels) * row_),
        weights_(planes.rounding().parts * part_) {
    std::vector<Place> places;
    for (const Tap& i : results.rows) {
      for (const Tap& j : results.columns) places.push_back({i.number * weights.row + j.number, planes.at(i, j)});
    }
    for (std::int64_t first = 0; first < planes.count(); first += tile_lines) {
      for (const Place& place : places) {
        for (std::int64_t n = first; n < std::min(first + tile_lines, planes.count()); ++n) {
          rows_.push_back(place.at + n * planes.plane());
        }
      }
    }
    parallel_for(groups * channels, 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t g = n / channels, o = n % channels;
        pack(places, weights.data + g * weights.group + o * weights.result, weights.channel, weights_of(g) + o * row_);
      }
    });
  }

  const Results& results() const { return results_; }

  // Writes a panel of group g to planes `plane` apart. `image` is where the planes would begin if they had all rows.
  // `room` has as many numbers as a panel.
  void write(std::int64_t g, std::int64_t panel, const Bfloat16* image, const Real* bias, Real* room, Real* to,
             std::int64_t plane) const {
    const auto& [unit, parts] = planes_.rounding();
    const std::int64_t most = parts == 3 ? most_depth : std::max<std::int64_t>(depth_, 1);
    const std::int64_t first = panel * panel_pixels, count = std::min(panel_pixels, results_.pixels() - first);
    const bool in_place = results_.step == 1 && results_.row == results_.line;
    for (std::int64_t k = 0; k == 0 || k < depth_; k += most) {
      unit->multiply({.a = {weights_of(g) + k, layout()},
                      .b = {image + planes_.width() * first, planes_.layout(), rows_.data() + k / 2},
                      .rows = channels_,
                      .columns = count,
                      .depth = std::min(most, depth_ - k),
                      .c = in_place ? to + results_.first + first : room,
                      .c_step = in_place ? plane : panel_pixels,
                      .keep = k == 0 ? Real(0) : Real(1),
                      .row_bias = k == 0 ? bias : nullptr,
                      .parts = parts});
    }
    if (!in_place) scatter(room, first, count, to, plane);
  }

 private:
  struct Place {
    std::int64_t number, at;  // in the kernel; where the planes begin that are seen there
  };

  Bfloat16* weights_of(std::int64_t g) const { return weights_.data() + g * whole_lines(channels_) * row_; }
  BfloatLayout layout() const { return {row_, tile_depth, tile_lines * row_, part_}; }

  // The weights of a channel of the results, those of the image's channels `step` apart.
  void pack(const std::vector<Place>& places, const Real* from, std::int64_t step, Bfloat16* to) const {
    const Rounding& rounding = planes_.rounding();
    const auto count = std::ssize(places);
    for (auto place = places.begin(), last = place; place != places.end(); place = last) {  // of neighbours at once
      last = std::adjacent_find(place, places.end(), [](Place a, Place b) { return b.number != a.number + 1; });
      if (last != places.end()) ++last;
      const auto pack_channels = [&](std::int64_t first, std::int64_t some, std::int64_t width) {
        if (some == 0) return;
        rounding.unit->pack({.from = {from + first * step + place->number, step, true},
                             .lines = last - place,
                             .depth = some,
                             .to = to + count * first + (place - places.begin()) * width,
                             .layout = {width, count * tile_depth, tile_lines * width, part_},
                             .parts = rounding.parts,
                             .whole = false});
      };
      const std::int64_t whole = planes_.channels() / tile_depth * tile_depth;
      pack_channels(0, whole, tile_depth);
      pack_channels(whole, planes_.channels() - whole, 2 * planes_.count() - whole);
    }
  }
  void scatter(const Real* from, std::int64_t first, std::int64_t count, Real* to, std::int64_t plane) const {
    for (std::int64_t p = first, in_row = 0; p < first + count; p += in_row) {
      const std::int64_t i = p / results_.line, j = p % results_.line;
      in_row = std::min(results_.line - j, first + count - p);
      for (std::int64_t o = 0; o < channels_; ++o) {
        const Real* const sums = from + o * panel_pixels + p - first;
        Real* const at = to + o * plane + results_.first + i * results_.row + j * results_.step;
        for (std::int64_t n = 0; n < std::min(in_row, results_.width - j); ++n) at[n * results_.step] = sums[n];
      }
    }
  }

  const Planes& planes_;
  Results results_;
  std::int64_t channels_, depth_;
  std::int64_t row_, part_;  // sizes of a channel's weights and of a part of all
  BfloatRoom weights_;
  std::vector<std::int64_t> rows_{};  // of the right factor
};

// Channels of a group, in planes of this size.
struct Side {
  std::int64_t channels, plane;
};

// A single row as a single column, for whose places in the kernel no copies of planes are needed.
ConvSizes upright(ConvSizes sizes) {
  if (sizes.h.in == 1 && sizes.h.kernel == 1 && sizes.h.out == 1 && sizes.w.step() == 1) std::swap(sizes.h, sizes.w);
  return sizes;
}

// Writes results to images `to`, of images `from`.
void write_results(const ConvSizes& sizes, const Rounding& rounding, const SeenLines& down, const SeenLines& across,
                   const std::vector<Results>& results, const Weights& weights, const Real* bias, const Real* from,
                   Side seen, Real* to, Side written) {
  // Bands of a few rows and more, whose planes stay in a near cache. For few images threads share them out.
  constexpr std::int64_t near = 1 << 17, few = 4;
  const std::int64_t size = down.count() * across.count() * down.size * across.size * seen.channels;
  const std::int64_t most = std::max<std::int64_t>(results.front().height / few, 1);
  const std::int64_t bands = std::min(std::max(size / near + 1, shares_of(sizes.batch * sizes.groups, most)), most);
  std::int64_t rows = 0;
  for (std::int64_t band = 0; band < bands; ++band) {
    const auto [top, bottom] = rows_seen(results, band, bands);
    rows = std::max(rows, bottom - top);
  }
  const Planes planes(rounding, BfloatSide::right, seen.channels, down, across, rows);
  std::deque<PatchSums> sums;
  for (const Results& part : results) sums.emplace_back(planes, part, sizes.groups, written.channels, weights);

  struct Work {
    BfloatWork work;
    Zeros image;
    Array room;
  };
  const auto make_work = [&] {
    return Work{BfloatWork(*rounding.unit), Zeros(planes.size()), Array(Shape{written.channels, panel_pixels})};
  };
  each_conv_job(sizes, bands, make_work, [&](Work& work, auto b, auto g, std::int64_t first, std::int64_t last) {
    const std::int64_t group = b * sizes.groups + g;
    for (std::int64_t band = first; band < last; ++band) {
      const auto [top, bottom] = rows_seen(results, band, bands);
      planes.fill(from + group * seen.channels * seen.plane, top, bottom, work.image.data());
      const Bfloat16* const image = work.image.data() - top * planes.row() * planes.width();
      for (const PatchSums& part : sums) {
        const auto [begin, end] = part.results().band(band, bands);
        for (std::int64_t panel = begin; panel < end; ++panel) {
          part.write(g, panel, image, bias ? bias + g * written.channels : nullptr, work.room.mutable_data(),
                     to + group * written.channels * written.plane, written.plane);
        }
      }
    }
  });
}

}  // namespace

bool detail::bfloat_conv_pays(const Rounding& rounding, const ConvSizes& sizes, const Real* a, const Shape& a_shape,
                              const Real* b, const Shape& b_shape) {
  constexpr std::int64_t few = 16;  // half of the channels that a tile holds
  if (sizes.in * sizes.out <= few || (rounding.parts > 1 && std::min(sizes.in, sizes.out) < few)) return false;
  const std::int64_t pixels = sizes.h.out * sizes.w.out;
  const auto planes = [](const Real* x, const Shape& shape) -> BfloatMatrix {
    const std::int64_t plane = shape[2] * shape[3];
    return {x, shape[0] * shape[1], plane, plane};
  };
  return rounds(rounding, sizes.out, sizes.batch * pixels, sizes.in * sizes.h.kernel * sizes.w.kernel,
                        planes(a, a_shape), planes(b, b_shape));
}

Array detail::bfloat_conv_rows(const ConvSizes& given, const Real* image, const Real* kernel, const Real* bias,
                               const Rounding& rounding) {
  Array y(given.result_shape());
  const ConvSizes sizes = upright(given);
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const SeenImage seen(sizes);
  const Weights weights{kernel, sizes.kernel_at(1, 0), sizes.kernel_at(0, 1), sizes.kernel_at(0, 0, 1), w.kernel};
  write_results(sizes, rounding, seen.down, seen.across, {{seen.rows, seen.columns, h.out, w.out, w.out, 0, w.out, 1}},
                weights, bias, image, {sizes.in, h.in * w.in}, y.mutable_data(), {sizes.out, h.out * w.out});
  return y;
}

Array detail::bfloat_conv_image_rows(const ConvSizes& given, const Real* result, const Real* kernel, const Real* bias,
                                     const Rounding& rounding) {
  Array x(given.image_shape());
  const ConvSizes sizes = upright(given);
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const SeenByImage seen(sizes);
  const Weights weights{kernel, sizes.kernel_at(1, 0), sizes.kernel_at(0, 0, 1), sizes.kernel_at(0, 1), w.kernel};
  std::vector<Results> results;
  std::int64_t row = 0;
  for (const auto& [height, rows] : seen.rows) {
    std::int64_t first = row++ * w.in;
    for (const auto& [width, columns] : seen.columns) {
      results.push_back({rows, columns, height, width, seen.across.size, first++, std::min(h.stride, h.in) * w.in,
                         std::min(w.stride, w.in)});
    }
  }
  write_results(sizes, rounding, seen.down, seen.across, results, weights, bias, result, {sizes.out, h.out * w.out},
                x.mutable_data(), {sizes.in, h.in * w.in});
  return x;
}

Array detail::bfloat_conv_kernel_rows(const ConvSizes& given, const Real* image, const Real* result,
                                      const Rounding& rounding) {
  const ConvSizes sizes = upright(given);
  const ConvAxis &h = sizes.h, &w = sizes.w;
  const BfloatUnit* const unit = rounding.unit;
  const int parts = rounding.parts;
  const std::int64_t pixels = h.out * w.out;
  const SeenImage seen(sizes);
  // Blocks of images have sums of their own, as many as memory allows; for few of them threads share out the kernel's
  // rows, too. Small images are summed together.
  constexpr std::int64_t most_blocks = 16, most_numbers = 1 << 20;
  const std::int64_t blocks =
      std::clamp<std::int64_t>(most_numbers / sizes.kernel_shape().numel(), 1, std::min(sizes.batch, most_blocks));
  const std::int64_t shares = shares_of(blocks * sizes.groups, h.kernel);
  const std::int64_t together = std::clamp<std::int64_t>(most_depth / pixels, 1, sizes.batch / blocks);
  // Bands of rows, whose planes stay in a near cache, of more than a few pixels.
  constexpr std::int64_t near = 1 << 19;
  const std::int64_t in_row = seen.down.count() * seen.across.count() * w.out * sizes.in;
  const std::int64_t tall = std::clamp(std::max(near / in_row, most_depth / w.out), std::int64_t{1}, h.out);
  const std::int64_t bands = (h.out + tall - 1) / tall, below = seen.down.size - h.out;
  const Planes planes(rounding, BfloatSide::left, sizes.in, seen.down, seen.across, tall + below, together);
  // Results are as far apart as what they see. They are packed as whole tiles, also the last ones.
  const std::int64_t room = whole_depth(together * planes.image()) + tile_depth;
  const BfloatLayout layout{tile_depth, tile_size, tile_lines * room, whole_lines(sizes.out) * room};
  // The kernel's columns have planes one after the other, so the sums of its rows are (kernel columns planes, out).
  const std::int64_t row = w.kernel * planes.count(), size = sizes.groups * h.kernel * row * sizes.out;
  Array all(Shape{blocks, size});
  Real* const sums = all.mutable_data();
  parallel_for(blocks * shares * sizes.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    const BfloatWork work(*unit);
    const Zeros x(planes.size()), y(parts * layout.part);
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t g = job % sizes.groups, rest = job / sizes.groups, share = rest % shares, block = rest / shares;
      const std::int64_t first = sizes.batch * block / blocks, last = sizes.batch * (block + 1) / blocks;
      for (std::int64_t part = first * bands; part < last * bands; part += together) {
        const std::int64_t b = part / bands, images = std::min(together, last - b);
        const std::int64_t top = h.out * (part % bands) / bands, bottom = h.out * (part % bands + 1) / bands;
        const std::int64_t some = (bottom - top) * w.out, depth = (images - 1) * planes.image() + some;
        if (images < together) std::fill_n(y.data(), parts * layout.part, Bfloat16(0));
        for (std::int64_t n = 0; n < images; ++n) {
          planes.fill(image + sizes.image_at(b + n, g), top, bottom + below, x.data() + n * planes.image());
          unit->pack({.from = {result + sizes.result_at(b + n, g) + top * w.out, pixels, true},
                      .side = BfloatSide::right,
                      .lines = sizes.out,
                      .depth = some,
                      .to = y.data() + n * planes.image() / 2 * tile_depth,
                      .layout = layout,
                      .parts = parts,
                      .ahead = 2 * tile_depth});
        }
        for (std::int64_t i = h.kernel * share / shares; i < h.kernel * (share + 1) / shares; ++i) {
          const std::int64_t at = planes.at(seen.rows[static_cast<std::size_t>(i)], {});
          for (std::int64_t k = 0; k < depth; k += most_depth) {
            unit->multiply({.a = {x.data() + at + k, planes.layout()},
                            .b = {y.data() + k / tile_depth * layout.along, layout},
                            .rows = row,
                            .columns = sizes.out,
                            .depth = std::min(most_depth, depth - k),
                            .c = sums + block * size + (g * h.kernel + i) * row * sizes.out,
                            .c_step = sizes.out,
                            .keep = part == first * bands && k == 0 ? Real(0) : Real(1),
                            .parts = parts});
          }
        }
      }
    }
  });
  parallel_for(size, 1 << 14, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = 1; block < blocks; ++block) {
      for (std::int64_t i = begin; i < end; ++i) sums[i] += sums[block * size + i];
    }
  });
  Array gradient(given.kernel_shape());
  Real* const out = gradient.mutable_data();
  parallel_for(sizes.groups * sizes.in, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t channel = begin; channel < end; ++channel) {
      const std::int64_t g = channel / sizes.in, c = channel % sizes.in;
      for (std::int64_t o = 0; o < sizes.out; ++o) {
        for (std::int64_t place = 0; place < h.kernel * w.kernel; ++place) {
          const std::int64_t plane = g * h.kernel * row + place * planes.count() + c;
          out[sizes.kernel_at(g, o, c) + place] = sums[plane * sizes.out + o];
        }
      }
    }
  });
  return gradient;
}

}  // namespace xgrad
