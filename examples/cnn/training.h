// How cnn, vit and swin learn: they differ by the model alone.
#pragma once

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

namespace cnn {

using namespace xgrad;

/// Trains a model, (B, C, H, W) -> (B, classes), by AdamW with a warm-up, half a cosine and smoothed labels. Draws the
/// answers for the test set, and adds "loss" and "accuracy" to the result.
template <class Model>
void train(const Model& model, const kit::ImageData& data, const kit::ClassifierOptions& config,
           kit::Example& example) {
  const kit::ChannelStatistics statistics = kit::channel_statistics(data.train);
  kit::DataLoader batches{kit::TrainingPictures{data.train, kit::augmentation(statistics, config)},
                          {.batch_size = config.batch, .shuffle = true, .drop_last = true, .seed = example.seed}};
  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
      model.parameters(), {{nn::without_weight_decay(model), {.lr = config.lr, .weight_decay = 0}}},
      {.lr = config.lr, .weight_decay = 0.05})};
  const std::int64_t steps = config.epochs * batches.size(), warmup = 1 + steps / 20;
  kit::Answers found;
  const auto validate = [&] {
    found = kit::answers(
        model, [&](const Tensor& images) { return model(images); }, data.test, statistics);
    return kit::Scores{{"test_loss", found.loss}, {"accuracy", found.accuracy}};
  };
  kit::Trainer trainer{
      model,
      adam,
      {.epochs = config.epochs,
       .schedule = optim::schedule::warmup(warmup, optim::schedule::cosine({.steps = 1 + steps - warmup})),
       .max_norm = 1,
       .validate = validate,
       .folder = example.out}};
  trainer.fit(batches, [&](const Tensor& images, const Index& labels) {
    return cross_entropy(model(images), labels, {.label_smoothing = 0.1});
  });
  kit::draw_answers(example.out, data.test, found);
  example.result.add("loss", found.loss).add("accuracy", found.accuracy);
}

/// Draws 16 test pictures, each beside itself under what a function of model and normalised pictures gives as the
/// model's attention: (B, rows, columns), at most 1.
template <class Model, class Attention>
void draw_attention(const std::filesystem::path& path, const std::string& title, const Model& model,
                    const kit::ImageData& data, const Attention& attention, kit::PictureOverlay overlay) {
  const NoGrad no_graph;
  const nn::Eval no_dropout(model);
  const kit::ImageBatch batch = data.test.batch(arange(16));
  overlay.shares = attention(model, kit::normalize(kit::channel_statistics(data.train))(batch.images)).value();
  kit::save(path, kit::attended_to_svg(title, data.test, batch, std::move(overlay)));
}

/// The main function of such a program, whose options have these defaults.
inline int main(int argc, char** argv, const char* name, const char* what, const kit::ClassifierOptions& defaults,
                void (*run)(const kit::ClassifierOptions&, kit::Example&)) {
  const auto options = [&](kit::Options& o, kit::ClassifierOptions& c) {
    c = defaults;
    kit::add_classifier_options(o, c);
  };
  return kit::main<kit::ClassifierOptions>(argc, argv, name, what, options, run);
}

}  // namespace cnn
