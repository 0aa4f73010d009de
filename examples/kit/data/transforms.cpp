// Pictures as tensors.
#include <xgrad/kit/data/transforms.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/error.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/compare.h>
#include <xgrad/ops/network/interpolate.h>
#include <xgrad/ops/shape/join.h>
#include <xgrad/ops/shape/shape.h>
#include <xgrad/ops/shape/slice.h>

namespace xgrad::kit {
namespace {

/// `f`, a function of a batch, for one picture, too. Throws ShapeError for anything but pictures.
template <class F>
Transform of_batches(const char* op, F f) {
  return [=](const Array& pictures) -> Array {
    if (pictures.rank() == 4) return f(pictures);
    if (pictures.rank() != 3) {
      fail<ShapeError>(op, "needs pictures (B, C, H, W) or one (C, H, W), got ", pictures.shape());
    }
    const Array changed = f(pictures.reshaped({1, pictures.dim(0), pictures.dim(1), pictures.dim(2)}));
    return changed.reshaped({changed.dim(1), changed.dim(2), changed.dim(3)});
  };
}

void check_size(const char* op, const Size2d& size) {
  if (size.height < 1 || size.width < 1) {
    fail<ValueError>(op, "sides must be at least 1, got ", size.height, " x ", size.width);
  }
}

}  // namespace

Transform compose(std::vector<Transform> transforms) {
  for (const Transform& transform : transforms) xgrad::detail::refuse_empty("compose", transform);
  return [transforms = std::move(transforms)](const Array& pictures) {
    Array changed = pictures;
    for (const Transform& transform : transforms) changed = transform(changed);
    return changed;
  };
}

Transform resize_shorter(std::int64_t side) {
  check_size("resize_shorter", {side, side});
  return of_batches("resize_shorter", [=](const Array& pictures) {
    const std::int64_t H = pictures.dim(2), W = pictures.dim(3), shorter = std::max<std::int64_t>(1, std::min(H, W));
    const Size2d size{side * H / shorter, side * W / shorter};
    return interpolate(pictures, {.size = size, .mode = Interpolation::bilinear, .antialias = true}).value();
  });
}

Transform center_crop(const Size2d& size) {
  constexpr const char* op = "center_crop";
  check_size(op, size);
  return of_batches(op, [=](const Array& pictures) {
    if (size.height > pictures.dim(2) || size.width > pictures.dim(3)) {
      fail<ShapeError>(op, "no ", size.height, " x ", size.width, " in pictures ", pictures.shape());
    }
    const auto first = [](std::int64_t all, std::int64_t part) {
      const std::int64_t half = (all - part) / 2;  // with a half more, the even one of both is nearer
      return (all - part) % 2 == 0 ? half : half + half % 2;
    };
    const std::int64_t top = first(pictures.dim(2), size.height), left = first(pictures.dim(3), size.width);
    return Array(pictures[{_, _, slice(top, top + size.height), slice(left, left + size.width)}]);
  });
}

Transform random_shift(std::int64_t padding) {
  constexpr const char* op = "random_shift";
  if (padding < 0) fail<ValueError>(op, "padding must be at least 0, got ", padding);
  return of_batches(op, [=](const Array& pictures) {
    const std::int64_t B = pictures.dim(0), H = pictures.dim(2), W = pictures.dim(3);
    const Index drawn = randint(0, 2 * padding + 1, {B, 2});
    if (B == 0) return pictures;
    const Tensor around = pad(pictures, {{0, 0}, {0, 0}, {padding, padding}, {padding, padding}});
    Tensors shifted;
    for (std::int64_t b = 0; b < B; ++b) {
      const std::int64_t top = drawn.at({b, 0}), left = drawn.at({b, 1});
      shifted.push_back(around[{b, _, slice(top, top + H), slice(left, left + W)}]);
    }
    return stack(shifted).value();
  });
}

Transform random_horizontal_flip(double p) {
  constexpr const char* op = "random_horizontal_flip";
  if (!(p >= 0 && p <= 1)) fail<ValueError>(op, "p must be in [0, 1], got ", p);
  return of_batches(op, [=](const Array& pictures) {
    const Tensor drawn = random_uniform({pictures.dim(0), 1, 1, 1}, next_random_key());
    return where(drawn < p, flip(pictures, {3}), pictures).value();
  });
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
    statistics.standard_deviation.push_back(std::sqrt(variance));
  }
  return statistics;
}

Transform normalize(const ChannelStatistics& statistics) {
  constexpr const char* op = "normalize";
  if (statistics.mean.size() != statistics.standard_deviation.size()) {
    fail<ShapeError>(op, statistics.mean.size(), " means and ", statistics.standard_deviation.size(), " deviations");
  }
  for (const double sigma : statistics.standard_deviation) {
    if (!(sigma > 0)) fail<ValueError>(op, "a deviation must be above 0, got ", sigma);
  }
  const std::int64_t C = std::ssize(statistics.mean);
  std::vector<double> inverse;
  for (const double sigma : statistics.standard_deviation) inverse.push_back(1 / sigma);
  const Tensor mean = Array({C, 1, 1}, statistics.mean), scale = Array({C, 1, 1}, inverse);
  return of_batches(op, [=](const Array& pictures) {
    if (C != pictures.dim(1)) {
      fail<ShapeError>(op, C, " means for pictures ", pictures.shape());
    }
    return ((Tensor(pictures) - mean) * scale).value();
  });
}

}  // namespace xgrad::kit
