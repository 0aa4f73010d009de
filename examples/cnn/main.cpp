// A convolutional network that says what a picture shows: features of 3 x 3 pixels, features of features, the strongest
// of every four, and two linear layers. On drawn shapes, or on files such as those of Fashion-MNIST or CIFAR-10.
//
//   examples/run cnn [--data FOLDER | --fashion-mnist] [--epochs N] [--batch N] [--lr RATE] [--seed N] [--out FOLDER]
#include <iostream>

#include <CLI/CLI.hpp>

#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

struct Config {
  std::string data;
  kit::ClassifierOptions training{.epochs = 8, .batch = 64, .lr = 2e-3};
};

/// (B, C, H, W) -> (B, classes)
struct Cnn : nn::Module {
  nn::Conv2d conv1, conv2;
  nn::Linear hidden, head;
  nn::Dropout dropout{at("dropout"), 0.25};

  Cnn(At here, const Shape& images, std::int64_t classes)
      : Module(std::move(here)),
        conv1(at("conv1"), images[1], 32, 3),
        conv2(at("conv2"), 32, 64, 3),
        hidden(at("hidden"), 64 * ((images[2] - 4) / 2) * ((images[3] - 4) / 2), 128),
        head(at("head"), 128, classes) {}

  Tensor operator()(const Tensor& x) const {
    const Tensor edges = relu(conv1(x));            // (B, 32, H - 2, W - 2)
    const Tensor parts = relu(conv2(edges));        // (B, 64, H - 4, W - 4)
    const Tensor strongest = max_pool2d(parts, 2);  // (B, 64, (H - 4) / 2, (W - 4) / 2)
    const Tensor all = dropout(flatten(strongest, 1));
    return head(dropout(relu(hidden(all))));
  }
};

void run(const Config& config, kit::Example& example) {
  const kit::ImageData data = kit::image_data(config.data, example.seed);
  const Cnn model(nn::root, data.train.shape(), std::ssize(data.train.classes()));
  std::cout << model << data.train.size() << " pictures to train, " << data.test.size() << " to test\n";
  kit::train_classifier(
      model, [&](const Tensor& images) { return model(images); }, data, config.training, example);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("A convolutional network that says what a picture shows.", "cnn");
  Config config;
  kit::add_classifier_options(app, config.data, config.training);
  return kit::run_example(app, argc, argv, [&](kit::Example& example) { run(config, example); });
} catch (...) {
  return kit::report_error();
}
