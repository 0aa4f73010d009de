// Every shape is a rule for which points of the plane are inside; a pixel is the mean of nine points in it.
#include <xgrad/kit/data/shapes.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include <xgrad/core/base/error.h>
#include <xgrad/core/runtime/parallel.h>

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

/// The greatest distance from the origin that a point of a shape has: a corner of the square.
constexpr double farthest = 1.14;

/// Whether (u, v) is inside of the shape of a class.
bool inside(std::size_t shape, double u, double v) {
  constexpr double side = 0.8;
  const double radius = std::sqrt(u * u + v * v);
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
      return radius <= 1 && (u - 0.5) * (u - 0.5) + v * v >= 0.64;
  }
}

/// Draws picture i into `pixels` and returns its label.
std::int64_t draw(const RandomKey& key, std::int64_t i, const ShapesOptions& options, std::span<std::uint8_t> pixels) {
  constexpr std::size_t count = 16;  // random numbers that are not noise, or room for them
  const std::int64_t S = options.size;
  std::vector<std::uint32_t> words(count + pixels.size());
  random_words(key, static_cast<std::uint64_t>(i) * words.size(), words);
  auto word = words.begin();
  const auto uniform = [&](double low, double high) { return low + (high - low) * (*word++ + 0.5) / 0x1p32; };
  const auto shape = static_cast<std::size_t>(uniform(0, shape_classes.size()));
  const double size = static_cast<double>(S), radius = uniform(0.22, 0.42) * size, angle = uniform(0, 2 * pi);
  const double way = size / 2 - radius, x0 = size / 2 + uniform(-way, way), y0 = size / 2 + uniform(-way, way);
  const double cosine = std::cos(angle) / radius, sine = std::sin(angle) / radius;

  std::vector<double> covered;  // the share of each pixel that is inside
  for (std::int64_t y = 0; y < S; ++y) {
    for (std::int64_t x = 0; x < S; ++x) {
      const double right = static_cast<double>(x) + 0.5 - x0, down = static_cast<double>(y) + 0.5 - y0;
      const bool near = std::hypot(right, down) < farthest * radius + 1;
      int points = 0;
      for (int point = 0; near && point < 9; ++point) {
        const double u = right + (point % 3 - 1) / 3.0, v = down + (point / 3 - 1) / 3.0;
        points += inside(shape, cosine * u + sine * v, cosine * v - sine * u) ? 1 : 0;
      }
      covered.push_back(points / 9.0);
    }
  }
  std::array<double, 3> ground{}, light{};
  for (std::size_t c = 0; c < 3; ++c) {
    ground[c] = uniform(0, 0.35);
    light[c] = uniform(0.55, 1);
  }
  word = words.begin() + count;
  for (std::size_t at = 0; at < pixels.size(); ++at, ++word) {
    const std::size_t c = at / covered.size();
    const double clean = ground[c] + covered[at % covered.size()] * (light[c] - ground[c]);
    const double value = clean + options.noise * normal_quantile((*word + 0.5) / 0x1p32);
    pixels[at] = static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
  }
  return static_cast<std::int64_t>(shape);
}

}  // namespace

ImageSet draw_shapes(const RandomKey& key, const ShapesOptions& options) {
  constexpr const char* op = "draw_shapes";
  const auto [N, S, C, noise] = options;
  if (N < 0 || N > 100'000'000) fail<ValueError>(op, "count must be in [0, 1e8], got ", N);
  if (S < 8 || S > 1024) fail<ValueError>(op, "size must be in [8, 1024], got ", S);
  if (C != 1 && C != 3) fail<ValueError>(op, "channels must be 1 or 3, got ", C);
  if (!(noise >= 0 && noise <= 1)) fail<ValueError>(op, "noise must be in [0, 1], got ", noise);

  const auto bytes = static_cast<std::size_t>(C * S * S);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(N) * bytes);
  Index labels(Shape{N});
  std::int64_t* label = labels.mutable_data();
  parallel_for(N, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      label[i] = draw(key, i, options, std::span(pixels).subspan(static_cast<std::size_t>(i) * bytes, bytes));
    }
  });
  return {Shape{N, C, S, S}, std::move(pixels), std::move(labels), {shape_classes.begin(), shape_classes.end()}};
}

}  // namespace xgrad::kit
