// Transforms of images for a model: resizing, random changes for training (augmentation), and normalisation to mean 0
// and standard deviation 1.
//
//     const kit::Transform training = kit::compose({
//         kit::resize_shorter(36), kit::center_crop(32), kit::random_horizontal_flip(), kit::normalize(statistics)});
//     const Array batch = training(images);  // (B, C, H, W); or one image (C, H, W)
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/data/images.h>
#include <xgrad/ops/network/size2d.h>

namespace xgrad::kit {

/// A function of images (B, C, H, W), which it transforms separately, or of one image (C, H, W). Throws ShapeError for
/// another shape. Random numbers come from the generator of the thread; for a sample of a DataLoader they depend only
/// on seed, epoch and number of the sample.
using Transform = std::function<Array(const Array& pictures)>;

/// Applies the transforms one after the other. Throws ValueError for an empty function.
Transform compose(std::vector<Transform> transforms);

/// Resizes images: the shorter side becomes `side`, and the longer side is scaled by the same factor and rounded down.
/// Bilinear with antialiasing, torchvision's default: interpolate(x, {.size = size, .mode = Interpolation::bilinear,
/// .antialias = true}). Throws ValueError for a side below 1.
Transform resize_shorter(std::int64_t side);

/// Crops images to their centre of this size (h, w), from row (H - h) / 2 and column (W - w) / 2 on. Halves are rounded
/// to the even number, as in torchvision. Throws ValueError unless both sides are at least 1; the transform throws
/// ShapeError for smaller images.
Transform center_crop(const Size2d& size);

/// Shifts each image by up to `padding` pixels in each direction and fills with zeros. Throws ValueError for a negative
/// padding.
Transform random_shift(std::int64_t padding);

/// Flips each image horizontally with probability p. Throws ValueError unless 0 <= p <= 1.
Transform random_horizontal_flip(double p = 0.5);

/// Mean and standard deviation of the values of each channel, for values in [0, 1].
struct ChannelStatistics {
  std::vector<double> mean;
  std::vector<double> standard_deviation;
};
/// The statistics of all images of a set. Throws ValueError for a set without images.
ChannelStatistics channel_statistics(const ImageSet& set);

/// Computes (x - mean) / standard_deviation for each channel. Throws ShapeError unless there are as many means as
/// standard deviations, ValueError for a standard deviation that is not positive; the transform throws ShapeError for
/// another number of channels.
Transform normalize(const ChannelStatistics& statistics);

}  // namespace xgrad::kit
