// A U-Net classifies each pixel of a noisy picture: ground, disc, square or triangle.
//
// Ronneberger, Fischer, Brox: U-Net: Convolutional Networks for Biomedical Image Segmentation, 2015. The same program
// in PyTorch stands beside it: pytorch.py.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <xgrad/kit/data/data.h>
#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

constexpr std::int64_t size = 32;   // pixels of a side
constexpr std::int64_t width = 16;  // channels of the first level
constexpr int epochs = 8;
const std::vector<std::string> classes{"ground", "disc", "square", "triangle"};

// Pictures (count, 1, size, size) with three shapes each, and the class of each pixel (count, size, size).
std::pair<Tensor, Index> draw_pictures(std::int64_t count) {
  const Tensor columns = to_real(arange(size)), rows = unsqueeze(columns, 1);
  Index labels({count, size, size}, 0);
  Tensor images = 0.3 * rand({count, 1, 1});
  for (std::int64_t label = 1; label < std::ssize(classes); ++label) {
    const Tensor radius = 4 + 3 * rand({count, 1, 1});
    const Tensor x = (columns - 5 - 22 * rand({count, 1, 1})) / radius;
    const Tensor y = (rows - 5 - 22 * rand({count, 1, 1})) / radius;
    const Mask inside = label == 1   ? x * x + y * y < 1
                        : label == 2 ? maximum(abs(x), abs(y)) < 0.85
                                     : y < 0.8 && y > 2 * abs(x) - 1.2;
    labels[inside] = label;
    images = where(inside, 0.5 + 0.5 * rand({count, 1, 1}), images);
  }
  return {unsqueeze(images + 0.1 * randn({count, size, size}), 1), labels};
}

struct Channels {
  std::int64_t in = 1, out = 1;
};

struct DoubleConv : nn::Layer<DoubleConv, Channels> {
  using Layer::Layer;
  const std::int64_t in = options.in, out = options.out;
  nn::Sequential net{
      at("net"),
      {nn::make<nn::Conv2d>(in, out, 3, nn::Conv2dOptions{.padding = 1}), nn::make<nn::BatchNorm2d>(out), relu,
       nn::make<nn::Conv2d>(out, out, 3, nn::Conv2dOptions{.padding = 1}), nn::make<nn::BatchNorm2d>(out), relu}};

  Tensor forward(const Tensor& x) const { return net(x); }
};

// Down to a quarter of the size and up again; each level up also sees the features of the same level down.
struct UNet : nn::Layer<UNet> {
  using Layer::Layer;
  DoubleConv down1{at("down1"), {1, width}};
  DoubleConv down2{at("down2"), {width, 2 * width}};
  DoubleConv bottom{at("bottom"), {2 * width, 4 * width}};
  nn::ConvTranspose2d up2{at("up2"), 4 * width, 2 * width, 2, {.stride = 2}};
  DoubleConv conv2{at("conv2"), {4 * width, 2 * width}};
  nn::ConvTranspose2d up1{at("up1"), 2 * width, width, 2, {.stride = 2}};
  DoubleConv conv1{at("conv1"), {2 * width, width}};
  nn::Conv2d head{at("head"), width, std::ssize(classes), 1};

  // (B, 1, size, size) -> (B, size, size, classes)
  Tensor forward(const Tensor& picture) const {
    const Tensor skip1 = down1(picture);
    const Tensor skip2 = down2(max_pool2d(skip1, 2));
    Tensor x = bottom(max_pool2d(skip2, 2));
    x = conv2(concat({skip2, up2(x)}, 1));
    x = conv1(concat({skip1, up1(x)}, 1));
    return movedim(head(x), 1, -1);
  }
};

struct Scores {
  Index guesses;
  double accuracy = 0, iou = 0;
};

// The share of pixels that are right, and intersection over union (Jaccard's index), the mean over the classes.
Scores evaluate(const UNet& model, const Tensor& images, const Index& labels) {
  const nn::Eval eval(model);
  const NoGrad off;
  const Index guesses = argmax(model(images), -1);
  double iou = 0;
  for (std::int64_t label = 0; label < std::ssize(classes); ++label) {
    const Mask guessed = guesses == label, truly = labels == label;
    iou += double(sum(guessed && truly).item()) / double(sum(guessed || truly).item());
  }
  return {guesses, mean(guesses == labels).item(), iou / std::ssize(classes)};
}

void save_picture(const Tensor& images, const Index& labels, const Index& guesses) {
  const Tensor colours = tensor({{0.1, 0.2, 0.3}, {0.9, 0.6, 0}, {0, 0.6, 0.5}, {0.8, 0.4, 0}});
  const Tensor seen = broadcast_to(clamp(images[{slice(0, 8)}], {.min = 0, .max = 1}), {8, 3, size, size});
  const auto coloured = [&](const Index& of) { return movedim(colours[of[{slice(0, 8)}]], -1, 1); };
  std::vector<std::string> captions;
  for (const char* row : {"picture", "truth", "U-Net"}) captions.insert(captions.end(), 8, row);
  kit::save("unet.svg", kit::picture_grid_svg({.title = "Predictions of a U-Net for pictures that it has not seen",
                                               .images = concat({seen, coloured(labels), coloured(guesses)}).value(),
                                               .captions = captions}));
}

int main() {
  manual_seed(1);
  const auto [images, labels] = draw_pictures(600);
  const auto [test_images, test_labels] = draw_pictures(200);
  kit::DataLoader loader{kit::TensorDataset{images, labels}, {.batch_size = 20, .shuffle = true}};

  const UNet model{nn::root};
  optim::Adam adam{model.parameters(), {.lr = 4e-3}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = epochs})};
  Scores scores;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    double total_loss = 0;
    for (const auto& [x, y] : loader) {
      const Tensor loss = cross_entropy(model(x), y);
      adam.step(grad(loss, model.parameters()));
      total_loss += loss.item();
    }
    scheduler.step();
    scores = evaluate(model, test_images, test_labels);
    std::cout << "epoch " << epoch << "  loss " << total_loss / loader.size() << "  pixels " << scores.accuracy
              << "  IoU " << scores.iou << std::endl;
  }

  save_picture(test_images, test_labels, scores.guesses);
  std::cout << "result accuracy=" << scores.accuracy << " iou=" << scores.iou << "\n";
  return scores.iou > 0.85 ? 0 : 1;
}
