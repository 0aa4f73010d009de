// Loops over rows of pixels.
#include <xgrad/kit/data/augment.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

void require_images(const char* op, const Array& images) {
  if (images.rank() != 4) fail<ShapeError>(op, "needs pictures (B, C, H, W), got ", images.shape());
}

}  // namespace

Array random_crop(const Array& images, std::int64_t padding, const RandomKey& key) {
  require_images("random_crop", images);
  const std::int64_t B = images.dim(0), C = images.dim(1), H = images.dim(2), W = images.dim(3);
  if (padding < 0 || padding >= H || padding >= W) {
    fail<ValueError>("random_crop", "padding must be in [0, ", std::min(H, W), "), got ", padding);
  }
  const Index shifts = random_integers(-padding, padding + 1, {B, 2}, key);
  Array cropped(images.shape(), 0);
  Real* to = cropped.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t down = shifts.data()[2 * b], right = shifts.data()[2 * b + 1];
    const std::int64_t first = std::max<std::int64_t>(0, -right), last = std::min(W, W - right);
    for (std::int64_t c = 0; c < C; ++c) {
      const Real* picture = images.data() + (b * C + c) * H * W;
      for (std::int64_t y = 0; y < H; ++y, to += W) {
        if (y + down < 0 || y + down >= H) continue;
        const Real* row = picture + (y + down) * W;
        std::copy(row + first + right, row + last + right, to + first);
      }
    }
  }
  return cropped;
}

Array random_horizontal_flip(const Array& images, double p, const RandomKey& key) {
  require_images("random_horizontal_flip", images);
  if (!(p >= 0 && p <= 1)) fail<ValueError>("random_horizontal_flip", "p must be in [0, 1], got ", p);
  const std::int64_t B = images.dim(0), rows = images.dim(1) * images.dim(2), W = images.dim(3);
  const Array drawn = random_uniform({B}, key);
  Array flipped = images;
  Real* row = flipped.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t y = 0; y < rows; ++y, row += W) {
      if (drawn.data()[b] < p) std::reverse(row, row + W);
    }
  }
  return flipped;
}

ChannelStatistics channel_statistics(const ImageSet& set) {
  if (set.size() == 0) fail<ValueError>("channel_statistics", "needs at least one picture");
  const std::int64_t C = set.shape()[1], pixels = set.shape()[2] * set.shape()[3];
  ChannelStatistics statistics;
  for (std::int64_t c = 0; c < C; ++c) {
    std::array<std::int64_t, 256> counts{};
    for (std::int64_t i = 0; i < set.size(); ++i) {
      for (const std::uint8_t byte :
           set.pixels(i).subspan(static_cast<std::size_t>(c * pixels), static_cast<std::size_t>(pixels))) {
        ++counts[byte];
      }
    }
    const auto total = static_cast<double>(set.size() * pixels);
    double mean = 0, variance = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      mean += static_cast<double>(counts[byte]) / total * static_cast<double>(byte) / 255;
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const double away = static_cast<double>(byte) / 255 - mean;
      variance += static_cast<double>(counts[byte]) / total * away * away;
    }
    statistics.mean.push_back(mean);
    statistics.deviation.push_back(std::sqrt(variance));
  }
  return statistics;
}

Array standardized(const Array& images, const ChannelStatistics& statistics) {
  constexpr const char* op = "standardized";
  require_images(op, images);
  const std::int64_t B = images.dim(0), C = images.dim(1), pixels = images.dim(2) * images.dim(3);
  if (std::ssize(statistics.mean) != C || std::ssize(statistics.deviation) != C) {
    fail<ShapeError>(op, statistics.mean.size(), " means and ", statistics.deviation.size(),
                     " deviations for pictures ", images.shape());
  }
  for (const double deviation : statistics.deviation) {
    if (!(deviation > 0)) fail<ValueError>(op, "a deviation must be above 0, got ", deviation);
  }
  Array result(images.shape());
  const Real* from = images.data();
  Real* to = result.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::size_t c = 0; c < statistics.mean.size(); ++c, from += pixels) {
      const auto mean = static_cast<Real>(statistics.mean[c]), scale = static_cast<Real>(1 / statistics.deviation[c]);
      to = std::transform(from, from + pixels, to, [&](Real x) { return (x - mean) * scale; });
    }
  }
  return result;
}

}  // namespace xgrad::kit
