// A convolutional network that classifies pictures: features of 3 x 3 pixels, features of features, the strongest of
// every four, and two linear layers. On drawn shapes, on files such as those of Fashion-MNIST, or
// on your own pictures: PNG and JPEG files in a folder for each class, FOLDER/cat/1.png.
//
//   examples/run cnn [--data FOLDER | --fashion-mnist] [--epochs N] [--batch N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

#include "training.h"

namespace {

using namespace xgrad;

const kit::ClassifierOptions defaults{.epochs = 8, .lr = 2e-3, .crop = 2, .flip = 0.5};

struct Sizes {
  Shape images;  // (N, C, H, W)
  std::int64_t classes = 0;
};

/// (B, C, H, W) -> (B, classes)
struct Cnn : nn::Layer<Cnn, Sizes> {
  using Layer::Layer;
  const std::int64_t height = (options.images[2] - 4) / 2, width = (options.images[3] - 4) / 2;
  nn::Conv2d conv1{at("conv1"), options.images[1], 32, 3};
  nn::Conv2d conv2{at("conv2"), 32, 64, 3};
  nn::Linear hidden{at("hidden"), 64 * height* width, 128};
  nn::Linear head{at("head"), 128, options.classes};
  nn::Dropout dropout{at("dropout"), 0.25};

  Tensor forward(const Tensor& x) const {
    const Tensor edges = relu(conv1(x));            // (B, 32, H - 2, W - 2)
    const Tensor parts = relu(conv2(edges));        // (B, 64, H - 4, W - 4)
    const Tensor strongest = max_pool2d(parts, 2);  // (B, 64, (H - 4) / 2, (W - 4) / 2)
    const Tensor all = dropout(flatten(strongest, 1));
    return head(dropout(relu(hidden(all))));
  }
};

void run(const kit::ClassifierOptions& config, kit::Example& example) {
  const kit::ImageData data = kit::image_data(config.data, example.seed);
  const Cnn model{nn::root, {data.train.shape(), std::ssize(data.train.classes())}};
  std::cout << model << data.train.size() << " pictures to train, " << data.test.size() << " to test\n";
  cnn::train(model, data, config, example);
}

}  // namespace

int main(int argc, char** argv) {
  return cnn::main(argc, argv, "cnn", "A convolutional network that classifies pictures.", defaults, run);
}
