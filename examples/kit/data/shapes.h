// Drawn images of shapes: labelled images for programs that have no file of images.
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
  std::int64_t count = 1000;  ///< number of images
  std::int64_t size = 28;     ///< height and width, at least 8
  std::int64_t channels = 1;  ///< 1: grey; 3: colour
  double noise = 0.1;         ///< standard deviation of the noise of every value; white is 1
};
/// Images (N, C, size, size), each with one bright shape on a darker background. Class, position, size, angle and
/// brightness are random. Image i depends on the key, on i, and on the options except `count`. Throws ValueError for
/// options out of range.
ImageSet draw_shapes(const RandomKey& key, const ShapesOptions& options = {});

}  // namespace xgrad::kit
