// Transforms of pictures for a model: resizing, random changes for training (augmentation), and normalization to mean 0
// and deviation 1.
//
//     const kit::Transform training = kit::compose({
//         kit::resize_shorter(36), kit::center_crop(32), kit::random_horizontal_flip(), kit::normalize(statistics)});
//     const Array batch = training(images);  // (B, C, H, W); or one picture (C, H, W)
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/data/images.h>
#include <xgrad/ops/network/size2d.h>

namespace xgrad::kit {

/// A function of pictures (B, C, H, W), each of which is treated by itself, or of one (C, H, W). Throws ShapeError for
/// another shape. Random numbers come from this thread's generator, which for a sample of a DataLoader depends on seed,
/// epoch and the sample's number alone.
using Transform = std::function<Array(const Array& pictures)>;

/// One after the other. Throws ValueError for an empty function.
Transform compose(std::vector<Transform> transforms);

/// The shorter side `side` long and the other as much longer as it was, rounded down: bilinear, and where pictures
/// become smaller the mean of the pixels that fall on one, as interpolate(x, {.size = size, .mode =
/// Interpolation::bilinear, .antialias = true}), which is torchvision's default. Throws ValueError for less than 1.
Transform resize_shorter(std::int64_t side);

/// The middle of pictures, so large: from row (H - h) / 2 and column (W - w) / 2 on, a half rounded to the even number,
/// as torchvision does. Throws ValueError unless both sides are at least 1; the transform ShapeError for pictures that
/// are smaller.
Transform center_crop(const Size2d& size);

/// Each picture shifted by up to `padding` pixels either way, with zeros behind it. Throws ValueError for less than 0.
Transform random_shift(std::int64_t padding);

/// Each picture with probability p exchanged left for right. Throws ValueError unless 0 <= p <= 1.
Transform random_horizontal_flip(double p = 0.5);

/// Mean and standard deviation of the values of each channel, where 1 is full light.
struct ChannelStatistics {
  std::vector<double> mean;
  std::vector<double> standard_deviation;
};
/// Those of all pictures of a set. Throws ValueError for a set without pictures.
ChannelStatistics channel_statistics(const ImageSet& set);

/// (x - mean) / standard_deviation for each channel. Throws ShapeError unless there are as many means as deviations,
/// ValueError for a deviation that is not above 0; the transform ShapeError for another number of channels.
Transform normalize(const ChannelStatistics& statistics);

}  // namespace xgrad::kit
