// Transforms of pictures for a model: resizing, random changes for training (augmentation), and normalization to mean 0
// and deviation 1.
//
//     const kit::Transform training = kit::compose({
//         kit::resize_shorter(36), kit::random_crop(32), kit::random_horizontal_flip(), kit::normalize(statistics)});
//     const Array batch = training(images);  // (B, C, H, W); or one picture (C, H, W)
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/data/images.h>
#include <xgrad/ops/layers/size2d.h>

namespace xgrad::kit {

/// A function of pictures (B, C, H, W), each of which is treated by itself, or of one (C, H, W). Throws ShapeError for
/// another shape. Random numbers come from this thread's generator, which for a sample of a DataLoader depends on seed,
/// epoch and the sample's number alone.
using Transform = std::function<Array(const Array& pictures)>;

/// One after the other. Throws ValueError for an empty function.
Transform compose(std::vector<Transform> transforms);

/// Pictures of this size: bilinear, and where they become smaller the mean of the pixels that fall on one, as
/// interpolate(x, {.size = size, .mode = Interpolation::bilinear, .antialias = true}), which is torchvision's default.
/// Throws ValueError unless both sides are at least 1.
Transform resize(const Size2d& size);
/// The same, the shorter side `side` long and the other as much longer as it was, rounded down.
Transform resize_shorter(std::int64_t side);

/// The middle of pictures, so large: from row (H - h) / 2 and column (W - w) / 2 on, a half rounded to the even number,
/// as torchvision does. Throws ValueError unless both sides are at least 1; the transform ShapeError for pictures that
/// are smaller.
Transform center_crop(const Size2d& size);

struct RandomCropOptions {
  std::int64_t padding = 0;  ///< rows and columns of zeros on every side of the picture that is cut from
};
/// A part of each picture, so large, cut out at a random place. Throws ValueError unless both sides are at least 1 and
/// the padding at least 0; the transform ShapeError for pictures that are smaller even with their padding.
Transform random_crop(const Size2d& size, const RandomCropOptions& options = {});
/// The same in the size that pictures have: they are shifted by up to `padding` pixels either way.
Transform random_shift(std::int64_t padding);

/// Each picture with probability p exchanged left for right. Throws ValueError unless 0 <= p <= 1.
Transform random_horizontal_flip(double p = 0.5);

/// (x - least) / (greatest - least): numbers from 0 to 255, say, become those from 0 to 1. Throws ValueError unless
/// least < greatest.
Transform rescale(double least, double greatest);

/// Mean and standard deviation of the values of each channel, where 1 is full light.
struct ChannelStatistics {
  std::vector<double> mean;
  std::vector<double> deviation;
};
/// Those of all pictures of a set. Throws ValueError for a set without pictures.
ChannelStatistics channel_statistics(const ImageSet& set);

/// (x - mean) / deviation for each channel. Throws ShapeError unless there are as many means as deviations, ValueError
/// for a deviation that is not above 0; the transform ShapeError for pictures with another number of channels.
Transform normalize(const ChannelStatistics& statistics);

}  // namespace xgrad::kit
