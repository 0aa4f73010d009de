// A convolutional network that classifies pictures: features of 3 x 3 pixels, features of features, the strongest of
// every four, and two linear layers. On drawn shapes, on files such as those of Fashion-MNIST, or
// on your own pictures: PNG and JPEG files in a folder for each class, FOLDER/cat/1.png.
//
//   examples/run cnn [--data FOLDER | --fashion-mnist] [--epochs N] [--batch N] [--lr RATE] [--seed N] [--out FOLDER]
//   examples/run --ranks 2 cnn ...
#include <iostream>

#include <CLI/CLI.hpp>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/mpi/run_example.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

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

void run(const kit::ClassifierOptions& config, kit::Example& example, mpi::World& world) {
  const kit::ImageData data = kit::image_data(config.data, example.seed);
  const kit::ChannelStatistics statistics = kit::channel_statistics(data.train);
  const Cnn model{nn::root, {data.train.shape(), std::ssize(data.train.classes())}};
  std::cout << model << data.train.size() << " pictures to train, " << data.test.size() << " to test\n";
  kit::DataLoader batches{kit::TrainingPictures{data.train, kit::augmentation(statistics, config)},
                          {.batch_size = config.batch,
                           .shuffle = true,
                           .drop_last = true,
                           .seed = example.seed,
                           .rank = world.rank(),
                           .ranks = world.ranks()}};
  optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
      model.parameters(), {{nn::without_weight_decay(model), {.lr = config.lr, .weight_decay = 0}}},
      {.lr = config.lr, .weight_decay = 0.05})};
  mpi::DataParallel parallel{world, model, adam};
  const std::int64_t steps = config.epochs * batches.size(), warmup = 1 + steps / 20;
  kit::Answers found;
  kit::Trainer trainer{
      model,
      adam,
      {.epochs = config.epochs,
       .schedule = optim::schedule::warmup(warmup, optim::schedule::cosine({.steps = 1 + steps - warmup})),
       .max_norm = 1,
       .validate =
           [&] {
             found = kit::answers(model, data.test, statistics);
             return kit::Scores{{"test_loss", found.loss}, {"accuracy", found.accuracy}};
           },
       .folder = example.out,
       .parallel = &parallel}};
  trainer.fit(batches, [&](const Tensor& images, const Index& labels) {
    return cross_entropy(model(images), labels, {.label_smoothing = 0.1});
  });
  if (!world.first()) return;
  kit::draw_answers(example.out, data.test, found);
  example.result.add("loss", found.loss).add("accuracy", found.accuracy);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("A convolutional network that classifies pictures.", "cnn");
  kit::ClassifierOptions config = defaults;
  kit::add_classifier_options(app, config);
  return mpi::run_example(app, argc, argv,
                          [&](kit::Example& example, mpi::World& world) { run(config, example, world); });
} catch (...) {
  return kit::report_error();
}
