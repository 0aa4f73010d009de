// Training a model that says which of some classes a picture shows, and seeing what it has learnt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <xgrad/kit/data/images.h>
#include <xgrad/kit/data/transforms.h>
#include <xgrad/nn/module.h>

namespace CLI {
class App;
}

namespace xgrad::kit {

struct Example;

/// From pictures (B, C, H, W) to logits (B, classes).
using Classifier = std::function<Tensor(const Tensor& images)>;

struct ClassifierOptions {
  std::int64_t epochs = 10;
  std::int64_t batch = 64;
  double lr = 1e-3;            ///< AdamW's at most: up in a line during `warmup`, then half a cosine down to 0
  double warmup = 0.05;        ///< share of all steps
  double weight_decay = 0.05;  ///< of the weights with two axes or more
  double label_smoothing = 0.1;
  double max_norm = 1;    ///< of all gradients together
  std::int64_t crop = 2;  ///< pictures are shifted by up to so many pixels
  double flip = 0.5;      ///< probability that left and right change places
};

/// Declares --data, --epochs, --batch, --lr, --crop and --flip.
void add_classifier_options(CLI::App& app, std::string& data, ClassifierOptions& options);

/// What a model answers for the pictures of a set.
struct Answers {
  Array probabilities;  ///< (N, classes)
  Index guesses;        ///< (N): the most probable class
  double loss = 0;      ///< mean cross-entropy
  double accuracy = 0;  ///< share of right guesses
};

/// Asks a model, which uses the module, about all pictures of a set, some at a time, without dropout and without a
/// graph. Throws what the model throws.
Answers answers(const nn::Module& module, const Classifier& model, const ImageSet& set,
                const ChannelStatistics& statistics);

/// Trains the module's parameters, as `model` uses them, on cross-entropy, and asks about the test pictures after each
/// epoch. Into the example's folder: loss.csv, loss.svg, accuracy.svg, confusion.svg, and in mistakes.svg the pictures
/// whose wrong guess the model is surest of; to its result line: loss and accuracy. Throws ValueError for fewer
/// pictures than a batch, what the model throws and what writing files does.
Answers train_classifier(const nn::Module& module, const Classifier& model, const ImageData& data,
                         const ClassifierOptions& options, Example& example);

/// Pictures of a set, each beside `looked`, itself as far as a model looked at it, of the same shape (SVG). Throws as
/// stack() and picture_grid_svg().
std::string looked_at_svg(const std::string& title, const ImageSet& set, const ImageBatch& pictures,
                          const Tensor& looked);

/// What --data gives, a folder with pictures, or, of an empty path, shapes that are drawn for the purpose, 6000 to
/// train and 1000 to test.
ImageData image_data(const std::filesystem::path& folder, std::uint64_t seed);

}  // namespace xgrad::kit
