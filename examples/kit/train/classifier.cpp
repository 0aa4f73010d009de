// Training a model that says what a picture shows.
#include <xgrad/kit/train/classifier.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/xgrad.h>

namespace xgrad::kit {
namespace {

// Pictures as the model sees them in training.
Transform augmentation(const ChannelStatistics& statistics, const ClassifierOptions& options) {
  std::vector<Transform> steps{random_horizontal_flip(options.flip), normalize(statistics)};
  if (options.crop > 0) steps.insert(steps.begin(), random_shift(options.crop));
  return compose(std::move(steps));
}

void draw_curves(const std::filesystem::path& out, const Series& train, const Series& test, const Series& accuracy) {
  save_text(out / "loss.svg",
            line_plot({train, test}, {.title = "Loss", .x_label = "epoch", .y_label = "cross-entropy"}));
  save_text(out / "accuracy.svg",
            line_plot({accuracy}, {.title = "Test pictures", .x_label = "epoch", .y_label = "right guesses, %"}));
}

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
    grid.captions.push_back(cat(name(found.guesses), ", not ", name(set.labels())));
  }
  save_text(path, picture_grid_svg(grid));
}

}  // namespace

Answers answers(const nn::Module& module, const Classifier& model, const ImageSet& set,
                const ChannelStatistics& statistics) {
  const NoGrad no_graph;
  const nn::Eval no_dropout(module);
  const Transform normalized = normalize(statistics);
  constexpr std::int64_t at_a_time = 250;
  Tensors parts;
  double loss = 0;
  for (std::int64_t first = 0; first < set.size(); first += at_a_time) {
    const ImageBatch batch = set.batch(arange(first, std::min(first + at_a_time, set.size())));
    const Tensor logits = model(normalized(batch.images));
    loss += static_cast<double>(cross_entropy(logits, batch.labels).item()) * static_cast<double>(batch.labels.size());
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

Answers train_classifier(const nn::Module& module, const Classifier& model, const ImageData& data,
                         const ClassifierOptions& options, Example& example) {
  const std::int64_t count = data.train.size(), steps = count / options.batch, all = steps * options.epochs;
  if (steps == 0) fail<ValueError>("train_classifier", count, " pictures are fewer than a batch of ", options.batch);
  const ChannelStatistics statistics = channel_statistics(data.train);
  const Transform augmented = augmentation(statistics, options);
  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
      module.parameters(), {{nn::without_weight_decay(module), {.lr = options.lr, .weight_decay = 0}}},
      {.lr = options.lr, .weight_decay = options.weight_decay})};
  const Tensors parameters = adam.parameters();
  const auto warmup = std::clamp<std::int64_t>(std::llround(options.warmup * static_cast<double>(all)), 1, all);
  optim::Scheduler scheduler{
      adam,
      optim::schedule::warmup(warmup, optim::schedule::cosine({.steps = std::max<std::int64_t>(1, all - warmup)}))};
  CsvLogger log(example.out / "loss.csv", {"epoch", "train_loss", "test_loss", "test_accuracy"});
  Series train{.name = "training"}, test{.name = "test"}, accuracy{.name = "accuracy"};
  Answers found;
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    const Index order = random_permutation(count, next_random_key());
    ProgressBar bar({.total = steps, .title = cat("epoch ", epoch, "/", options.epochs)});
    double sum = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      const ImageBatch batch = data.train.batch(order[{slice(step * options.batch, (step + 1) * options.batch)}]);
      const Tensor logits = model(augmented(batch.images));
      const Tensor loss = cross_entropy(logits, batch.labels, {.label_smoothing = options.label_smoothing});
      adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, options.max_norm).gradients);
      scheduler.step();
      sum += static_cast<double>(loss.item());
      bar.update(step + 1, {{"loss", fixed(sum / static_cast<double>(step + 1), 3)}});
    }
    bar.finish();
    found = answers(module, model, data.test, statistics);
    train.y.push_back(sum / static_cast<double>(steps));
    test.y.push_back(found.loss);
    accuracy.y.push_back(100 * found.accuracy);
    log.row({epoch, train.y.back(), found.loss, found.accuracy});
    std::cout << "epoch " << epoch << ": training loss " << fixed(train.y.back(), 3) << ", test loss "
              << fixed(found.loss, 3) << ", accuracy " << fixed(100 * found.accuracy, 2) << " %" << std::endl;
  }
  draw_curves(example.out, train, test, accuracy);
  draw_mistakes(example.out / "mistakes.svg", data.test, found);
  const auto classes = static_cast<std::int64_t>(data.test.classes().size());
  save_text(example.out / "confusion.svg",
            confusion_svg("What was taken for what", confusion_matrix(data.test.labels(), found.guesses, classes),
                          data.test.classes()));
  example.result.add("loss", found.loss).add("accuracy", found.accuracy);
  return found;
}

void add_classifier_options(CLI::App& app, std::string& data, ClassifierOptions& options) {
  app.add_option("--data", data, "folder with IDX files or CIFAR-10's binary batches; drawn shapes without");
  add_number(app, "--epochs", options.epochs, "times that every picture is seen", 1, 10'000);
  add_number(app, "--batch", options.batch, "pictures in a step", 1, 10'000);
  add_number(app, "--lr", options.lr, "largest learning rate", 1e-9, 10);
  add_number(app, "--crop", options.crop, "pictures are shifted by up to so many pixels", 0, 1000);
  add_number(app, "--flip", options.flip, "probability that left and right change places", 0, 1);
}

std::string looked_at_svg(const std::string& title, const ImageSet& set, const ImageBatch& pictures,
                          const Tensor& looked) {
  const Tensor pairs = stack({pictures.images, looked}, 1);  // (B, 2, C, H, W)
  PictureGrid grid{.title = title, .images = flatten(pairs, 0, 1).value()};
  for (const std::int64_t label : pictures.labels) {
    grid.captions.push_back(set.classes()[static_cast<std::size_t>(label)]);
    grid.captions.push_back("looked at");
  }
  return picture_grid_svg(grid);
}

ImageData image_data(const std::filesystem::path& folder, std::uint64_t seed) {
  if (!folder.empty()) return read_image_folder(folder);
  return {.train = draw_shapes({.seed = seed, .draw = 1}, {.count = 6000}),
          .test = draw_shapes({.seed = seed, .draw = 2}, {.count = 1000})};
}

}  // namespace xgrad::kit
