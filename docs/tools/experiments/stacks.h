// Stacks of blocks, plain and residual, the data that they are to learn, and their training.
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include <xgrad/xgrad.h>

namespace residual {

using namespace xgrad;

struct Config {
  // data: points on three arms of a spiral, the classes
  std::int64_t points = 1200;
  double turns = 2;
  double noise = 0.02;

  // model
  std::int64_t width = 32;                         // C
  std::vector<std::int64_t> depths{2, 8, 16, 32};  // blocks of two layers

  // training
  std::int64_t epochs = 150;
  std::int64_t batch = 100;
  double learning_rate = 0.01;
  std::int64_t seeds = 3;
};

constexpr std::int64_t arms = 3;

enum class Path { plain, residual };

// ---- Model ----------------------------------------------------------------------------------------------------------

/// f(x) = W_2 relu(norm(W_1 relu(norm(x)))), or x + f(x)      (He et al. 2016, "Identity Mappings")
struct BlockOptions {
  std::int64_t width;
  Path path;
};
struct Block : nn::Layer<Block, BlockOptions> {
  using Layer::Layer;
  nn::BatchNorm1d norm1{at("norm1"), options.width};
  nn::Linear fc1{at("fc1"), options.width, options.width};
  nn::BatchNorm1d norm2{at("norm2"), options.width};
  nn::Linear fc2{at("fc2"), options.width, options.width};

  Tensor forward(const Tensor& x) const {  // (B, C)
    const Tensor f = fc2(relu(norm2(fc1(relu(norm1(x))))));
    return options.path == Path::residual ? x + f : f;
  }
};

struct Classifier : nn::Module {
  nn::Linear in;
  nn::Stack<Block> blocks;
  nn::BatchNorm1d norm;
  nn::Linear out;

  Classifier(std::int64_t width, std::int64_t depth, Path path)
      : in(at("in"), 2, width),
        blocks(at("blocks"), depth, BlockOptions{width, path}),
        norm(at("norm"), width),
        out(at("out"), width, arms) {
    apply<nn::Linear>([](const nn::Linear& map) {
      nn::init::reset(map.weight, nn::init::kaiming_normal({.nonlinearity = nn::init::Nonlinearity::relu}));
    });
  }

  Tensor operator()(const Tensor& x) const { return out(relu(norm(blocks(in(x))))); }  // (B, 2) -> (B, arms)
};

// ---- Data -----------------------------------------------------------------------------------------------------------

struct Spiral {
  Array points;  // (N, 2)
  Index arm;     // (N)
};

inline Spiral spiral(const Config& config) {
  Spiral data{.points = Array(Shape{config.points, 2}), .arm = Index(Shape{config.points})};
  const Array noise = random_normal({config.points, 2}, {.seed = 7, .draw = 0});
  for (std::int64_t i = 0; i < config.points; ++i) {
    const std::int64_t arm = i % arms;
    const double way = static_cast<double>(i) / static_cast<double>(config.points);
    const double angle = 2 * std::numbers::pi * (config.turns * way + static_cast<double>(arm) / arms);
    data.arm.mutable_data()[i] = arm;
    data.points.mutable_data()[2 * i] = static_cast<Real>(way * std::cos(angle) + config.noise * noise.at({i, 0}));
    data.points.mutable_data()[2 * i + 1] = static_cast<Real>(way * std::sin(angle) + config.noise * noise.at({i, 1}));
  }
  return data;
}

// ---- Training -------------------------------------------------------------------------------------------------------

using AfterEpoch = std::function<void(double loss)>;

inline std::vector<double> train(const Config& config, const Spiral& data, std::int64_t depth, Path path, Seed seed,
                                 const AfterEpoch& after_epoch) {
  manual_seed(seed);
  const Classifier model(config.width, depth, path);
  const Tensors parameters = model.parameters();
  optim::SGD sgd(parameters, {.lr = config.learning_rate, .momentum = 0.9});
  std::vector<double> losses;
  for (std::int64_t epoch = 0; epoch < config.epochs; ++epoch) {
    const Index order = randperm(config.points, {.seed = seed, .draw = epoch});
    double total = 0;
    std::int64_t steps = 0;
    for (std::int64_t begin = 0; begin + config.batch <= config.points; begin += config.batch, ++steps) {
      const Index rows = order[{slice(begin, begin + config.batch)}];
      const Tensor loss =
          cross_entropy(model(index_select(Tensor(data.points), 0, rows)), index_select(data.arm, 0, rows));
      sgd.step(grad(loss, parameters));
      total += loss.item();
    }
    losses.push_back(total / static_cast<double>(steps));
    after_epoch(losses.back());
  }
  return losses;
}

/// The norm of the gradient of the lowest layer's weight before the first step.
inline double first_gradient(const Config& config, const Spiral& data, std::int64_t depth, Path path, Seed seed) {
  manual_seed(seed);
  const Classifier model(config.width, depth, path);
  const Tensor g = grad(cross_entropy(model(data.points), data.arm), {model.in.weight})[0];
  return std::sqrt(sum(g * g).item());
}

}  // namespace residual
