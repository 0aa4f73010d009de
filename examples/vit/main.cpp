// A vision transformer that says what a picture shows: patches of the picture are the words that it reads. At the end,
// what its class token has looked at.
//
//   examples/run vit [--data FOLDER | --fashion-mnist] [--epochs N] [--batch N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <CLI/CLI.hpp>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

struct Config {
  std::string data;
  // Pictures as they are: a transformer of this size needs more epochs than these to learn what a shift leaves the
  // same.
  kit::ClassifierOptions training{.epochs = 7, .batch = 64, .lr = 2e-3, .crop = 0, .flip = 0};
};

nn::VisionTransformerOptions options_for(const kit::ImageSet& set) {
  return {.image = {set.shape()[2], set.shape()[3]},
          .patch = 4,
          .channels = set.shape()[1],
          .dim = 64,
          .heads = 4,
          .layers = 4,
          .mlp = 128,
          .classes = std::ssize(set.classes())};
}

/// How much each patch has had a say in the class token (Abnar, Zuidema, "Quantifying Attention Flow in Transformers",
/// 2020): attention, averaged over heads, and the residual connection are one step each, and steps are multiplied.
/// (B, 1, rows of patches, columns of patches), the largest of each picture 1.
Tensor rollout(const nn::VisionTransformer& model, const Tensor& images) {
  nn::AttentionRecorder recorder;
  model(images);
  Tensor steps;  // (B, N, N)
  for (const auto& record : recorder.records()) {
    const Tensor attention = mean(record.weights, 1);
    const Tensor step = (attention + eye(attention.dim(1))) / 2;
    steps = steps.defined() ? matmul(step, steps) : step;
  }
  const Tensor patches = steps[{_, 0, slice(1, none)}];  // (B, N - 1)
  const auto& [image, patch] = std::pair(model.options.image, model.options.patch);
  return reshape(patches / max(patches, {.axis = 1, .keepdim = true}),
                 {-1, 1, image.height / patch.height, image.width / patch.width});
}

/// Pictures, each beside itself as far as it was looked at.
void draw_attention(const std::filesystem::path& path, const nn::VisionTransformer& model, const kit::ImageData& data) {
  const NoGrad no_graph;
  const nn::Eval no_dropout(model);
  const kit::ImageBatch batch = data.test.batch(arange(16));
  const Tensor images = batch.images;
  const Tensor looked = rollout(model, kit::normalize(kit::channel_statistics(data.train))(batch.images));
  const Tensor light =
      interpolate(looked, {.size = Size2d{images.dim(2), images.dim(3)}, .mode = Interpolation::bilinear});
  kit::save_text(path,
                 kit::looked_at_svg("Pictures, and what the class token looked at", data.test, batch, images * light));
}

void run(const Config& config, kit::Example& example) {
  const kit::ImageData data = kit::image_data(config.data, example.seed);
  const nn::VisionTransformer model(nn::root, options_for(data.train));
  std::cout << model.num_parameters() << " parameters, " << data.train.size() << " pictures to train, "
            << data.test.size() << " to test\n";
  kit::train_classifier(
      model, [&](const Tensor& images) { return model(images); }, data, config.training, example);
  draw_attention(example.out / "attention.svg", model, data);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("A vision transformer that says what a picture shows.", "vit");
  Config config;
  kit::add_classifier_options(app, config.data, config.training);
  return kit::run_example(app, argc, argv, [&](kit::Example& example) { run(config, example); });
} catch (...) {
  return kit::report_error();
}
