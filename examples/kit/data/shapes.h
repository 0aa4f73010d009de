// Pictures of shapes, drawn: labelled pictures to learn from where there is no file of them.
#pragma once

#include <array>
#include <cstdint>

#include <xgrad/core/array/random.h>
#include <xgrad/kit/data/images.h>

namespace xgrad::kit {

/// The shapes, in the order of the labels.
inline constexpr std::array<const char*, 10> shape_classes{"disc", "ring",  "square",  "frame",    "triangle",
                                                           "star", "cross", "stripes", "checkers", "crescent"};

struct ShapesOptions {
  std::int64_t count = 1000;  ///< pictures
  std::int64_t size = 28;     ///< rows and columns of each, 8 or more
  std::int64_t channels = 1;  ///< 1: grey; 3: in colour
  double noise = 0.1;         ///< standard deviation of the noise on every value, where 1 is full light
};
/// Pictures (N, C, size, size) of one shape each, bright on a darker ground, its class, place, size, angle and light at
/// random. Picture i depends on the key, the options but `count`, and i. Throws ValueError for options out of their
/// range.
ImageSet draw_shapes(const RandomKey& key, const ShapesOptions& options = {});

}  // namespace xgrad::kit
