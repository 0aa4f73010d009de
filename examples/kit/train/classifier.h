// Utilities for examples that classify pictures: batches, accuracy, and figures of the results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include <xgrad/core/array/random.h>
#include <xgrad/kit/data/images.h>
#include <xgrad/kit/data/transforms.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/nn/module.h>

namespace xgrad::kit {

struct ClassifierOptions {
  std::string data = {};  ///< as image_data takes it
  std::int64_t epochs = 10;
  std::int64_t batch = 64;
  double lr = 1e-3;       ///< at most
  std::int64_t crop = 0;  ///< pictures are shifted by up to so many pixels
  double flip = 0;        ///< probability that left and right change places
};

class Options;

/// Declares --data, --epochs, --batch, --lr, --crop and --flip.
void add_classifier_options(Options& options, ClassifierOptions& config);

/// The pictures of --data: those of a folder, or, with an empty path, drawn shapes, 6000 to train and 1000 to test.
ImageData image_data(const std::filesystem::path& folder, Seed seed);

/// The random changes of pictures that the options ask for, and then normalize().
Transform augmentation(const ChannelStatistics& statistics, const ClassifierOptions& options);

/// Pictures as a model learns from them: a data set for a DataLoader.
///
/// Threads: many may read from one object.
struct TrainingPictures {
  const ImageSet& set;
  Transform transform;

  std::int64_t size() const { return set.size(); }
  /// The pictures (B, C, H, W) and labels (B) with these numbers. Throws as ImageSet::batch and the transform.
  std::pair<Tensor, Index> batch(const Index& rows) const;
};

/// The answers of a model for the pictures of a set.
struct Answers {
  Array probabilities;  ///< (N, classes)
  Index guesses;        ///< (N): the most probable class
  double loss = 0;      ///< mean cross-entropy
  double accuracy = 0;  ///< share of right guesses
};

/// From pictures (B, C, H, W) to logits (B, classes).
using Classifier = std::function<Tensor(const Tensor& images)>;

/// Asks a model, which uses the module, about all pictures of a set, some at a time, without dropout and without a
/// graph. Throws ValueError for a set without pictures, and what the model throws.
Answers answers(const nn::Module& module, const Classifier& model, const ImageSet& set,
                const ChannelStatistics& statistics);

/// Draws confusion.svg, the confusion matrix, and mistakes.svg, the pictures with the most confident wrong guesses.
/// Throws IoError.
void draw_answers(const std::filesystem::path& folder, const ImageSet& set, const Answers& found);

/// Pictures of a set, each beside itself under an overlay of a model's attention (SVG). Throws as picture_grid_svg().
std::string attended_to_svg(const std::string& title, const ImageSet& set, const ImageBatch& pictures,
                          PictureOverlay overlay);

}  // namespace xgrad::kit
