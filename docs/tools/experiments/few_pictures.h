// A convolutional network and a vision transformer that learn from the first pictures of a set.
#pragma once

#include <cstdint>

#include <xgrad/kit/train/classifier.h>
#include <xgrad/xgrad.h>

namespace few_pictures {

using namespace xgrad;

struct Sizes {
  Shape images;  // (N, C, H, W)
  std::int64_t classes;
};

inline Sizes sizes_of(const kit::ImageData& data) { return {data.train.shape(), std::ssize(data.train.classes())}; }

/// The network of examples/cnn without dropout: (B, C, H, W) -> (B, classes).
struct Cnn : nn::Layer<Cnn, Sizes> {
  using Layer::Layer;
  const std::int64_t height = (options.images[2] - 4) / 2, width = (options.images[3] - 4) / 2;
  nn::Conv2d conv1{at("conv1"), options.images[1], 32, 3};
  nn::Conv2d conv2{at("conv2"), 32, 64, 3};
  nn::Linear hidden{at("hidden"), 64 * height* width, 128};
  nn::Linear head{at("head"), 128, options.classes};

  Tensor forward(const Tensor& x) const {
    const Tensor parts = max_pool2d(relu(conv2(relu(conv1(x)))), 2);
    return head(relu(hidden(flatten(parts, 1))));
  }
};

/// The transformer of examples/vit.
inline nn::VisionTransformerOptions transformer_options(const Sizes& sizes) {
  return {.image = {sizes.images[2], sizes.images[3]},
          .patch = 4,
          .channels = sizes.images[1],
          .dim = 64,
          .heads = 4,
          .layers = 4,
          .mlp = 128,
          .classes = sizes.classes};
}

struct Training {
  std::int64_t steps = 1000;
  std::int64_t batch = 64;
  double learning_rate = 1e-3;
};

/// The part of the test pictures that a model knows after training on the first `count` pictures.
template <class Model>
double accuracy(const Model& model, const Training& training, const kit::ImageData& data, std::int64_t count,
                Seed seed) {
  const kit::ChannelStatistics statistics = kit::channel_statistics(data.train);
  const kit::Transform transform = kit::normalize(statistics);
  const Tensors parameters = model.parameters();
  optim::Adam adam{parameters, {.lr = training.learning_rate}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = training.steps})};
  for (std::int64_t step = 0; step < training.steps; ++step) {
    const Index rows = randint(0, count, {training.batch}, {.seed = seed, .draw = step});
    const auto [images, labels] = data.train.batch(rows);
    adam.step(grad(cross_entropy(model(transform(images)), labels), parameters));
    scheduler.step();
  }
  return kit::answers(model, [&](const Tensor& images) { return model(images); }, data.test, statistics).accuracy;
}

}  // namespace few_pictures
