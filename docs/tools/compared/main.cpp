// The pictures of docs/inside/compared.md that are ours: the GPT, ResNet and U-Net that compare_pictures.py draws with other
// tools, with default options. Prints how many seconds each picture takes with the run that it shows, the
// least of five.
//
//   docs/tools/run compared
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

namespace {

struct Channels {
  std::int64_t in = 1, out = 1;
};

struct DoubleConv : nn::Layer<DoubleConv, Channels> {
  using Layer::Layer;
  const std::int64_t in = options.in, out = options.out;
  nn::Sequential net{at("net"),
                     {nn::make<nn::Conv2d>(in, out, 3, {.padding = 1}), nn::make<nn::BatchNorm2d>(out), relu,
                      nn::make<nn::Conv2d>(out, out, 3, {.padding = 1}), nn::make<nn::BatchNorm2d>(out), relu}};
  Tensor forward(const Tensor& x) const { return net(x); }
};

// That of examples/unet.
struct UNet : nn::Layer<UNet> {
  using Layer::Layer;
  DoubleConv down1{at("down1"), {1, 16}};
  DoubleConv down2{at("down2"), {16, 32}};
  DoubleConv bottom{at("bottom"), {32, 64}};
  nn::ConvTranspose2d up2{at("up2"), 64, 32, 2, {.stride = 2}};
  DoubleConv conv2{at("conv2"), {64, 32}};
  nn::ConvTranspose2d up1{at("up1"), 32, 16, 2, {.stride = 2}};
  DoubleConv conv1{at("conv1"), {32, 16}};
  nn::Conv2d head{at("head"), 16, 4, 1};

  Tensor forward(const Tensor& picture) const {
    const Tensor skip1 = down1(picture);
    const Tensor skip2 = down2(max_pool2d(skip1, 2));
    Tensor x = bottom(max_pool2d(skip2, 2));
    x = conv2(concat({skip2, up2(x)}, 1));
    x = conv1(concat({skip1, up1(x)}, 1));
    return head(x);
  }
};

template <class Model, class Input>
void draw(kit::Example& example, const std::string& name, const std::string& title, const Model& model,
          const Input& input) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    save_graph(example.out / (name + "_xgrad.svg"), {model(input).named("logits")}, {.title = title});
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  example.result.add(name + "_seconds", least);
}

}  // namespace

int main(int argc, char** argv) {
  return kit::main(argc, argv, "compared", "Pictures of a GPT, a ResNet and a U-Net.", [](kit::Example& example) {
    const nn::Gpt gpt{nn::root, {.vocabulary = 100, .context = 16, .dim = 32, .heads = 4, .layers = 12}};
    draw(example, "gpt", "A GPT of 12 layers", gpt, Index({1, 16}, std::int64_t{1}));
    const nn::ResNet resnet{nn::root, {.classes = 10}};
    draw(example, "resnet", "ResNet-18", resnet, zeros({1, 3, 64, 64}).named("image"));
    const UNet unet{nn::root};
    draw(example, "unet", "A U-Net", unet, zeros({1, 1, 32, 32}).named("picture"));
  });
}
