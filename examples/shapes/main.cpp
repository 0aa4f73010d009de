// A convolutional network tells drawn shapes apart: crosses, stripes, checkers and crescents.
#include <array>
#include <iostream>
#include <numbers>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

const std::array<std::string, 4> names{"cross", "stripes", "checkers", "crescent"};
constexpr std::int64_t epochs = 12;

struct Cnn : nn::Layer<Cnn> {
  using Layer::Layer;
  nn::Conv2d conv1{at("conv1"), 1, 16, 3};
  nn::Conv2d conv2{at("conv2"), 16, 32, 3};
  nn::Linear hidden{at("hidden"), 32 * 2 * 2, 64};
  nn::Linear head{at("head"), 64, 4};

  Tensor forward(const Tensor& x) const {                    // (B, 1, 16, 16) -> (B, 4)
    const Tensor edges = max_pool2d(relu(conv1(x)), 2);      // (B, 16, 7, 7)
    const Tensor parts = max_pool2d(relu(conv2(edges)), 2);  // (B, 32, 2, 2)
    return head(relu(hidden(flatten(parts, 1))));
  }
};

Tensor uniform(std::int64_t n, double low, double high) { return low + (high - low) * rand({n, 1, 1}); }

// n pictures (n, 1, size, size): each shape has a size, a place, an angle and a brightness of its own.
kit::TensorDataset<Tensor, Index> draw_shapes(std::int64_t n, std::int64_t size = 16) {
  const Index label = randint(0, 4, {n});
  const Tensor radius = uniform(n, 0.22, 0.42);
  const Tensor angle = uniform(n, 0, 2 * std::numbers::pi);
  // A pixel is the mean of three points in each direction.
  const Tensor axis = (to_real(arange(3 * size)) + 0.5) / (3 * size);
  const Tensor x = (axis - radius - (1 - 2 * radius) * rand({n, 1, 1})) / radius;
  const Tensor y = (unsqueeze(axis, 1) - radius - (1 - 2 * radius) * rand({n, 1, 1})) / radius;
  const Tensor u = cos(angle) * x + sin(angle) * y;
  const Tensor v = cos(angle) * y - sin(angle) * x;

  const Tensor outer = maximum(abs(u), abs(v));
  const Tensor inner = minimum(abs(u), abs(v));
  const Mask cross = outer <= 1 && inner <= 0.25;
  const Mask stripes = outer <= 0.8 && remainder(floor((u + 0.8) / 0.32), 2) == 0;
  const Mask checkers = outer <= 0.8 && remainder(floor((u + 0.8) / 0.54) + floor((v + 0.8) / 0.54), 2) == 0;
  const Mask crescent = square(u) + square(v) <= 1 && square(u - 0.5) + square(v) >= 0.64;
  const Tensor shapes = stack({to_real(cross), to_real(stripes), to_real(checkers), to_real(crescent)}, 1);
  const Tensor shape = unsqueeze(flatten(shapes, 0, 1)[4 * arange(n) + label], 1);  // (n, 1, 3 size, 3 size)

  const Tensor ground = unsqueeze(uniform(n, 0, 0.35), 1);
  const Tensor light = unsqueeze(uniform(n, 0.55, 1), 1);
  const Tensor image = ground + (light - ground) * avg_pool2d(shape, 3);
  return kit::TensorDataset{clamp(image + 0.02 * randn(image.shape()), {.min = 0, .max = 1}), label};
}

int main() {
  manual_seed(1);
  const auto train_set = draw_shapes(5000);
  const auto [test_images, test_labels] = draw_shapes(500).batch(arange(500));
  kit::DataLoader loader{train_set, {.batch_size = 50, .shuffle = true}};
  const Cnn cnn{nn::root};
  optim::AdamW adam{cnn.parameters(), {.lr = 5e-3}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = epochs * loader.size()})};

  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    double total = 0;
    for (const auto& [images, labels] : loader) {
      const Tensor loss = cross_entropy(cnn(images), labels);
      adam.step(grad(loss, cnn.parameters()));
      scheduler.step();
      total += loss.item();
    }
    std::cout << "epoch " << epoch << "  loss " << kit::fixed(total / loader.size(), 4) << std::endl;
  }

  const NoGrad off;
  const Index guesses = argmax(cnn(test_images), 1);
  const double accuracy = mean(guesses == test_labels).item();

  // The first test pictures, with the network's predictions.
  kit::PictureGrid grid{.title = "Predictions for pictures that the network has not seen"};
  grid.images = test_images[slice(0, 32)].value();
  for (std::int64_t i = 0; i < 32; ++i) {
    const std::string& name = names[guesses.at({i})];
    grid.captions.push_back(guesses.at({i}) == test_labels.at({i}) ? name : "not " + name);
  }
  kit::save("shapes.svg", kit::picture_grid_svg(grid));
  std::cout << "result accuracy=" << kit::fixed(accuracy, 4) << "\n";
  return accuracy > 0.95 ? 0 : 1;
}
