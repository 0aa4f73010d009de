// Pictures changed at random while a model learns, and brought to mean 0 and deviation 1.
#pragma once

#include <cstdint>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/core/array/random.h>
#include <xgrad/kit/data/images.h>

namespace xgrad::kit {

/// Pictures (B, C, H, W), each cut at a random place out of itself with `padding` rows and columns of zeros on every
/// side: shifted by up to so many pixels either way. Throws ShapeError for another shape, ValueError unless the padding
/// is at least 0 and less than both sides.
Array random_crop(const Array& images, std::int64_t padding, const RandomKey& key);

/// Pictures (B, C, H, W), each with probability p exchanged left for right. Throws ShapeError for another shape,
/// ValueError unless 0 <= p <= 1.
Array random_horizontal_flip(const Array& images, double p, const RandomKey& key);

/// Mean and standard deviation of the values of each channel, where 1 is full light.
struct ChannelStatistics {
  std::vector<double> mean;
  std::vector<double> deviation;
};
/// Those of all pictures of a set. Throws ValueError for a set without pictures.
ChannelStatistics channel_statistics(const ImageSet& set);

/// (x - mean) / deviation for each channel of pictures (B, C, H, W). Throws ShapeError for another shape or number of
/// channels, ValueError for a deviation that is not above 0.
Array standardized(const Array& images, const ChannelStatistics& statistics);

}  // namespace xgrad::kit
