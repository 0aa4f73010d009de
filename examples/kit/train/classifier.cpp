// The accuracy of a classifier, and its confusions.
#include <xgrad/kit/train/classifier.h>

#include <algorithm>
#include <numeric>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

namespace xgrad::kit {
namespace {

// The wrong guesses that the model was surest of.
void draw_mistakes(const std::filesystem::path& path, const ImageSet& set, const Answers& found) {
  const std::int64_t classes = found.probabilities.dim(1);
  const auto sureness = [&](std::int64_t i) {
    return found.probabilities.data()[i * classes + found.guesses.data()[i]];
  };
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    if (found.guesses.data()[i] != set.labels().data()[i]) wrong.push_back(i);
  }
  std::ranges::stable_sort(wrong, std::greater(), sureness);
  if (wrong.size() > 24) wrong.resize(24);
  if (wrong.empty()) return;
  PictureGrid grid{.title = "The mistakes it was surest of: guessed, not what it is",
                   .images = set.batch(Index(wrong)).images,
                   .columns = 6,
                   .width = 116};
  for (const std::int64_t i : wrong) {
    const auto name = [&](const Index& of) { return set.classes()[static_cast<std::size_t>(of.data()[i])]; };
    grid.captions.push_back(str(name(found.guesses), ", not ", name(set.labels())));
  }
  save(path, picture_grid_svg(grid));
}

}  // namespace

Transform augmentation(const ChannelStatistics& statistics, const ClassifierOptions& options) {
  std::vector<Transform> steps{random_horizontal_flip(options.flip), normalize(statistics)};
  if (options.crop > 0) steps.insert(steps.begin(), random_shift(options.crop));
  return compose(std::move(steps));
}

std::pair<Tensor, Index> TrainingPictures::batch(const Index& rows) const {
  const auto [images, labels] = set.batch(rows);
  return {transform(images), labels};
}

Answers answers(const nn::Module& module, const Classifier& model, const ImageSet& set,
                const ChannelStatistics& statistics) {
  if (set.size() == 0) fail<ValueError>("answers", "there are no pictures");
  const NoGrad no_graph;
  const nn::Eval no_dropout(module);
  DataLoader batches{TrainingPictures{set, normalize(statistics)}, {.batch_size = 250}};
  Tensors parts;
  double loss = 0;
  for (const auto& [images, labels] : batches) {
    const Tensor logits = model(images);
    loss += static_cast<double>(cross_entropy(logits, labels).item()) * static_cast<double>(labels.size());
    parts.push_back(softmax(logits));
  }
  const Tensor probabilities = concat(parts, 0);
  const Index guesses = argmax(probabilities, 1);
  const auto right = std::transform_reduce(guesses.begin(), guesses.end(), set.labels().begin(), std::int64_t{0},
                                           std::plus(), std::equal_to());
  const auto count = static_cast<double>(set.size());
  return {.probabilities = probabilities.value(),
          .guesses = guesses,
          .loss = loss / count,
          .accuracy = static_cast<double>(right) / count};
}

void draw_answers(const std::filesystem::path& folder, const ImageSet& set, const Answers& found) {
  draw_mistakes(folder / "mistakes.svg", set, found);
  const auto classes = static_cast<std::int64_t>(set.classes().size());
  save(
      folder / "confusion.svg",
      confusion_svg("Predicted classes", confusion_matrix(set.labels(), found.guesses, classes), set.classes()));
}

void add_classifier_options(Options& options, ClassifierOptions& config) {
  options.text("--data", config.data,
               "folder with IDX files, or with a folder of pictures for each class; drawn shapes without");
  options.integer("--epochs", config.epochs, "times that every picture is seen", 1, 10'000);
  options.integer("--batch", config.batch, "pictures in a step", 1, 10'000);
  options.real("--lr", config.lr, "largest learning rate", 1e-9, 10);
  options.integer("--crop", config.crop, "pictures are shifted by up to so many pixels", 0, 1000);
  options.real("--flip", config.flip, "probability that left and right change places", 0, 1);
}

std::string attended_to_svg(const std::string& title, const ImageSet& set, const ImageBatch& pictures,
                          PictureOverlay overlay) {
  PictureGrid grid{.title = title, .images = pictures.images, .overlay = std::move(overlay), .columns = 4};
  for (const std::int64_t label : pictures.labels) {
    grid.captions.push_back(set.classes()[static_cast<std::size_t>(label)]);
  }
  return picture_grid_svg(grid);
}

ImageData image_data(const std::filesystem::path& folder, Seed seed) {
  if (!folder.empty()) return read_image_folder(folder);
  return {.train = draw_shapes({.seed = seed, .draw = 1}, {.count = 6000}),
          .test = draw_shapes({.seed = seed, .draw = 2}, {.count = 1000})};
}

}  // namespace xgrad::kit
