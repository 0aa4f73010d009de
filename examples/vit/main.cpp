// A vision transformer that classifies pictures: patches of the picture are the words that it reads. At the end, the
// attention of its class token. The training is that of cnn, ../cnn/training.h.
//
//   examples/run vit [--data FOLDER | --fashion-mnist] [--epochs N] [--batch N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

#include "../cnn/training.h"

namespace {

using namespace xgrad;

// Pictures as they are: a transformer of this size needs more epochs than these to learn that shifts do not matter.
const kit::ClassifierOptions defaults{.epochs = 7, .lr = 2e-3};

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

/// The weight of each patch in the class token (Abnar, Zuidema, "Quantifying Attention Flow in Transformers",
/// 2020): attention, averaged over heads, and the residual connection are one step each, and steps are multiplied.
/// (B, rows of patches, columns of patches), the largest of each picture 1.
Tensor rollout(const nn::VisionTransformer& model, const Tensor& images) {
  nn::AttentionRecorder recorder;
  (void)model(images);  // for what the recorder sees
  Tensor steps;         // (B, N, N)
  for (const auto& record : recorder.records()) {
    const Tensor attention = mean(record.weights, 1);
    const Tensor step = (attention + eye(attention.dim(1))) / 2;
    steps = steps.defined() ? matmul(step, steps) : step;
  }
  const Tensor patches = steps[{_, 0, slice(1, none)}];  // (B, N - 1)
  const auto& [image, patch] = std::pair(model.options.image, model.options.patch);
  return reshape(patches / max(patches, Axes{1}, {.keepdim = true}),
                 {-1, image.height / patch.height, image.width / patch.width});
}

void run(const kit::ClassifierOptions& config, kit::Example& example) {
  const kit::ImageData data = kit::image_data(config.data, example.seed);
  const nn::VisionTransformer model(nn::root, options_for(data.train));
  std::cout << model.num_parameters() << " parameters, " << data.train.size() << " pictures to train, "
            << data.test.size() << " to test\n";
  cnn::train(model, data, config, example);
  const Size2d& patch = model.options.patch;
  cnn::draw_attention(
      example.out / "attention.svg",
      str("Images, and what the class token attends to after ", config.epochs, " epochs"), model, data, rollout,
      {.caption = "weight of a patch, relative to the greatest weight",
       .lines_caption = str("lines separate patches of ", patch.height, " x ", patch.width, " pixels")});
}

}  // namespace

int main(int argc, char** argv) {
  return cnn::main(argc, argv, "vit", "A vision transformer that classifies pictures.", defaults, run);
}
