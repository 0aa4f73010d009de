// A Swin transformer that classifies pictures: patches attend within windows, which the next block shifts, and four
// neighbours merge into one from stage to stage. At the end, the attention within each window. The training is that of
// cnn, ../cnn/training.h.
//
//   examples/run swin [--data FOLDER | --fashion-mnist] [--epochs N] [--batch N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

#include "../cnn/training.h"

namespace {

using namespace xgrad;

// Pictures as they are: a transformer of this size needs more epochs than these to learn that shifts do not matter.
const kit::ClassifierOptions defaults{.epochs = 12, .lr = 2e-3};

nn::SwinTransformerOptions options_for(const kit::ImageSet& set) {
  return {.patch = 2,
          .channels = set.shape()[1],
          .dim = 32,
          .depths = {2, 2},
          .heads = {2, 4},
          .window = 7,
          .mlp_ratio = 2,
          .classes = std::ssize(set.classes())};
}

/// How much the tokens of each window look at each of its tokens in the first block, where windows are not shifted: the
/// mean over heads and queries.      (B, rows of tokens, columns of tokens), the largest of each picture 1
Tensor looked_at(const nn::SwinTransformer& model, const Tensor& images) {
  nn::AttentionRecorder recorder;
  (void)model(images);                                         // for what the recorder sees
  const Tensor weights = recorder.records().front().weights;   // (B windows, H, M M, M M)
  const Tensor shares = unsqueeze(mean(weights, {1, 2}), -1);  // (B windows, M M, 1)
  const Size2d& patch = model.options.patch;
  const nn::WindowGrid grid(images.dim(2) / patch.height, images.dim(3) / patch.width, model.options.window, 0);
  const Tensor map = squeeze(grid.reverse(shares), {3});
  return map / max(map, {1, 2}, {.keepdim = true});
}

void run(const kit::ClassifierOptions& config, kit::Example& example) {
  const kit::ImageData data = kit::image_data(config.data, example.seed);
  const nn::SwinTransformer model(nn::root, options_for(data.train));
  std::cout << model.num_parameters() << " parameters, " << data.train.size() << " pictures to train, "
            << data.test.size() << " to test\n";
  cnn::train(model, data, config, example);
  const nn::SwinTransformerOptions& o = model.options;
  const std::int64_t height = o.patch.height * o.window.height, width = o.patch.width * o.window.width;
  cnn::draw_attention(
      example.out / "windows.svg", str("Images, and what each window attends to after ", config.epochs, " epochs"),
      model, data, looked_at,
      {.caption = "weight of a patch, relative to the greatest weight",
       .rows = data.test.shape()[2] / height,
       .columns = data.test.shape()[3] / width,
       .lines_caption = str("between windows of ", height, " x ", width, " pixels: no patch looks across them")});
}

}  // namespace

int main(int argc, char** argv) {
  return cnn::main(argc, argv, "swin", "A Swin transformer that classifies pictures.", defaults, run);
}
