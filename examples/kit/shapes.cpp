// Every shape is a rule for which points of the plane are inside; a pixel is as bright as nine points in it say.
#include <xgrad/kit/shapes.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <xgrad/core/error.h>

namespace xgrad::kit {
namespace {

constexpr double pi = std::numbers::pi;

/// The distance of a point from the origin by its greater coordinate.
double greater(double u, double v) { return std::max(std::abs(u), std::abs(v)); }

/// Whether a point is inside of a triangle with its corners at distance 1.
bool in_triangle(double u, double v) {
  for (const double angle : {pi / 6, 5 * pi / 6, 3 * pi / 2}) {
    if (u * std::cos(angle) + v * std::sin(angle) > 0.5) return false;
  }
  return true;
}

/// Whether a point is inside of a star of five points: ten edges, each from a corner at distance 1 to one at 0.4.
bool in_star(double u, double v) {
  const double sector = std::remainder(std::atan2(v, u), 2 * pi / 5), radius = std::hypot(u, v);
  const double x = radius * std::cos(sector), y = radius * std::abs(std::sin(sector));
  const double inner_x = 0.4 * std::cos(pi / 5), inner_y = 0.4 * std::sin(pi / 5);
  return (inner_x - 1) * y - inner_y * (x - 1) >= 0;
}

/// Whether (u, v) is inside of the shape of a class, all of which lies at most 1 or so from the origin.
bool inside(std::size_t shape, double u, double v) {
  constexpr double side = 0.8;
  const double radius = std::hypot(u, v);
  const auto band = [](double x, int bands) { return static_cast<int>((x + side) / (2 * side) * bands); };
  switch (shape) {
    case 0:
      return radius <= 1;
    case 1:
      return radius <= 1 && radius >= 0.6;
    case 2:
      return greater(u, v) <= side;
    case 3:
      return greater(u, v) <= side && greater(u, v) >= 0.5;
    case 4:
      return in_triangle(u, v);
    case 5:
      return in_star(u, v);
    case 6:
      return greater(u, v) <= 1 && std::min(std::abs(u), std::abs(v)) <= 0.25;
    case 7:
      return greater(u, v) <= side && band(u, 5) % 2 == 0;
    case 8:
      return greater(u, v) <= side && (band(u, 3) + band(v, 3)) % 2 == 0;
    default:
      return radius <= 1 && std::hypot(u - 0.5, v) >= 0.8;
  }
}

}  // namespace

ImageSet draw_shapes(const RandomKey& key, const ShapesOptions& options) {
  constexpr const char* op = "draw_shapes";
  const auto [N, S, C, noise] = options;
  if (N < 0 || N > 100'000'000) fail<ValueError>(op, "count must be in [0, 1e8], got ", N);
  if (S < 8 || S > 1024) fail<ValueError>(op, "size must be in [8, 1024], got ", S);
  if (C != 1 && C != 3) fail<ValueError>(op, "channels must be 1 or 3, got ", C);
  if (!(noise >= 0 && noise <= 1)) fail<ValueError>(op, "noise must be in [0, 1], got ", noise);

  const std::int64_t bytes = C * S * S, settings = 16;
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(N * bytes));
  std::vector<std::int64_t> labels(static_cast<std::size_t>(N));
  std::vector<std::uint32_t> words(static_cast<std::size_t>(settings + bytes));
  std::vector<double> covered(static_cast<std::size_t>(S * S));
  auto out = pixels.begin();
  for (std::int64_t i = 0; i < N; ++i) {
    random_words(key, static_cast<std::uint64_t>(i) * words.size(), words);
    auto word = words.begin();
    const auto uniform = [&](double low, double high) { return low + (high - low) * (*word++ + 0.5) / 0x1p32; };
    const auto shape = static_cast<std::size_t>(uniform(0, shape_classes.size()));
    labels[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(shape);
    const double size = static_cast<double>(S), radius = uniform(0.22, 0.42) * size, angle = uniform(0, 2 * pi);
    const double way = size / 2 - radius, x0 = size / 2 + uniform(-way, way), y0 = size / 2 + uniform(-way, way);
    const double cosine = std::cos(angle) / radius, sine = std::sin(angle) / radius;

    for (std::int64_t y = 0; y < S; ++y) {
      for (std::int64_t x = 0; x < S; ++x) {
        int points = 0;
        for (int point = 0; point < 9; ++point) {
          const double right = static_cast<double>(x) + (point % 3 + 0.5) / 3 - x0;
          const double down = static_cast<double>(y) + (point / 3 + 0.5) / 3 - y0;
          points += inside(shape, cosine * right + sine * down, cosine * down - sine * right) ? 1 : 0;
        }
        covered[static_cast<std::size_t>(y * S + x)] = points / 9.0;
      }
    }
    std::array<double, 3> ground{}, light{};
    for (std::size_t c = 0; c < 3; ++c) {
      ground[c] = uniform(0, 0.35);
      light[c] = uniform(0.55, 1);
    }
    word = words.begin() + settings;
    for (std::size_t c = 0; c < static_cast<std::size_t>(C); ++c) {
      for (const double share : covered) {
        const double value =
            ground[c] + share * (light[c] - ground[c]) + noise * normal_quantile((*word++ + 0.5) / 0x1p32);
        *out++ = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
      }
    }
  }
  return {Shape{N, C, S, S}, std::move(pixels), Index(labels), {shape_classes.begin(), shape_classes.end()}};
}

}  // namespace xgrad::kit
