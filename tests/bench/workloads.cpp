// The workloads that engines are compared on, each written as a user would write it.
//
//   tests/bench/run W1 [threads] [steps]
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <xgrad/xgrad.h>

#include "models.h"

using namespace xgrad;
using namespace bench;

namespace {

// ---- W2, W3: GPT with a tied head; small (characters) and of some size (a vocabulary of 8192); `weights` to begin
// with

Workload w2(Data& data, const std::string& weights) {
  Workload w = gpt(data, "W2", {.batch = 12, .context = 64, .vocabulary = 65, .dim = 128, .heads = 4, .layers = 4,
                                .ffn = 512, .lr = 1e-3, .weights = weights});
  w.steps = 40;
  return w;
}

Workload w3(Data& data, const std::string& weights) {
  Workload w = gpt(data, "W3", {.batch = 4, .context = 256, .vocabulary = 8192, .dim = 512, .heads = 8, .layers = 6,
                                .ffn = 2048, .lr = 3e-4, .weights = weights});
  w.steps = 6;
  w.warm_up = 2;
  return w;
}

// ---- W4, W4b: a vision transformer on 28 x 28 pixels, with patches of 7 or 4

struct VisionTransformer : nn::Module {
  static constexpr std::int64_t side = 28, dim = 64;
  const std::int64_t patch;
  const std::int64_t patches = side / patch * (side / patch);
  nn::Linear embed;
  const Tensor cls, places;
  nn::Stack<Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;

  explicit VisionTransformer(std::int64_t patch)
      : patch(patch),
        embed(at("embed"), patch * patch, dim),
        cls(param("cls", {1, 1, dim}, nn::init::zeros())),
        places(param("places", {1, patches + 1, dim}, nn::init::normal({.std = 0.02}))),
        blocks(at("blocks"), 4, dim, 4, 4 * dim),
        norm(at("norm"), dim),
        head(at("head"), dim, 10) {}

  Tensor operator()(const Tensor& images) const {
    const std::int64_t B = images.dim(0), g = side / patch;
    const Tensor pixels = permute(reshape(images, {B, g, patch, g, patch}), {0, 1, 3, 2, 4});
    const Tensor tokens = embed(reshape(pixels, {B, patches, patch * patch}));
    const Tensor x = blocks(concat({broadcast_to(cls, {B, 1, dim}), tokens}, 1) + places, AttentionMask{});
    return head(norm(x[{_, 0}]));
  }
};

Workload vit(Data& data, const char* name, std::int64_t patch) {
  constexpr std::int64_t B = 64;
  auto training = std::make_shared<Training<VisionTransformer, optim::Adam>>(optim::AdamOptions{.lr = 1e-3}, patch);
  const Tensor images(data.numbers({B, VisionTransformer::side, VisionTransformer::side}));
  const Index labels = data.ids({B}, 10);
  return {.name = name, .items = B, .steps = 60, .step = [=] {
            return training->step(cross_entropy(training->model(images), labels));
          }};
}

// ---- W5: a chain of 33,333 times (mul, add, tanh) on scalars

Workload w5() {
  const Tensor w = variable(Real(0.9)), b = variable(Real(0.1));
  return {.name = "W5", .items = 99999, .steps = 30, .step = [=] {
            Tensor x(0.5);
            for (int i = 0; i < 33333; ++i) x = tanh(x * w + b);
            return static_cast<double>(grad(x, {w, b})[0].item());
          }};
}

// ---- W6, W7: a multi-layer perceptron, and the classic small CNN on 28 x 28, both with batches of 64

template <class... Layers>
Workload images(Data& data, const char* name, int steps, Shape shape, const Layers&... layers) {
  constexpr std::int64_t B = 64;
  auto training = std::make_shared<Training<nn::Sequential, optim::Adam>>(optim::AdamOptions{.lr = 1e-3}, nn::root, layers...);
  shape.insert(0, B);
  const Tensor x(data.numbers(shape));
  const Index labels = data.ids({B}, 10);
  return {.name = name, .items = B, .steps = steps, .step = [=] {
            return training->step(cross_entropy(training->model(x), labels));
          }};
}

Workload w6(Data& data) {
  return images(data, "W6", 400, {784}, nn::make<nn::Linear>(784, 256), relu, nn::make<nn::Linear>(256, 128), relu,
                nn::make<nn::Linear>(128, 10));
}

Workload w7(Data& data) {
  return images(data, "W7", 30, {1, 28, 28}, nn::make<nn::Conv2d>(1, 32, 3), relu, nn::make<nn::Conv2d>(32, 64, 3), relu,
                nn::make<nn::MaxPool2d>(2), nn::make<nn::Flatten>(), nn::make<nn::Linear>(9216, 128), relu,
                nn::make<nn::Linear>(128, 10));
}

// ---- W8: a stage of a Swin transformer on a map of 56 x 56, batch 2, forward and backward

Workload w8(Data& data) {
  const auto stage = std::make_shared<nn::SwinStage>(
      nn::root, 0, nn::SwinTransformerOptions{.dim = 96, .depths = {2}, .heads = {3}, .window = 7, .drop_path = 0});
  const Tensor x = variable(data.numbers({2, 56, 56, 96})), g(data.numbers({2, 56, 56, 96}));
  return {.name = "W8", .items = 2, .steps = 20, .step = [=] {
            const Tensor loss = mean((*stage)(x)*g);
            Tensors all = stage->parameters();
            all.push_back(x);
            (void)grad(loss, all);
            return static_cast<double>(loss.item());
          }};
}

// ---- W9, W9b: GPT of GPT-2's smallest size writes 128 tokens behind a prompt of 16, for one text or eight, each the
// most probable one

Workload writing(Data& data, const char* name, std::int64_t batch) {
  constexpr std::int64_t prompt = 16, written = 128;
  const auto model = std::make_shared<nn::Gpt>(nn::root, nn::GptOptions{});
  const Index ids = data.ids({batch, prompt}, static_cast<int>(model->options.vocabulary));
  return {.name = name, .items = static_cast<double>(batch * written), .steps = 2, .warm_up = 1, .step = [=] {
            const NoGrad off;
            nn::LanguageState state = model->begin(batch);
            Index last = argmax(model->next(ids, state), -1);
            for (std::int64_t i = 1; i < written; ++i) {
              last = argmax(model->next(last.reshaped({batch, 1}), state), -1);
            }
            return static_cast<double>(sum(last).item());
          }};
}

using Make = Workload (*)(Data&, const std::string&);
const std::map<std::string, Make> workloads{
    {"W1", [](Data& data, const std::string&) { return translation(data); }},
    {"W2", w2},
    {"W3", w3},
    {"W4", [](Data& data, const std::string&) { return vit(data, "W4", 7); }},
    {"W4b", [](Data& data, const std::string&) { return vit(data, "W4b", 4); }},
    {"W5", [](Data&, const std::string&) { return w5(); }},
    {"W6", [](Data& data, const std::string&) { return w6(data); }},
    {"W7", [](Data& data, const std::string&) { return w7(data); }},
    {"W8", [](Data& data, const std::string&) { return w8(data); }},
    {"W9", [](Data& data, const std::string&) { return writing(data, "W9", 1); }},
    {"W9b", [](Data& data, const std::string&) { return writing(data, "W9b", 8); }}};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times one workload.", "xgrad_bench_workloads");
  std::string name, weights;
  int threads = 1;
  std::optional<int> steps;
  std::string precision = "highest";
  bool losses = false;
  app.add_option("workload", name, "which one")->required()->check(CLI::IsMember(workloads));
  app.add_option("threads", threads)->check(CLI::PositiveNumber);
  app.add_option("steps", steps, "so many are timed")->check(CLI::PositiveNumber);
  app.add_option("--weights", weights, "of W2 and W3: a safetensors file to begin with")->check(CLI::ExistingFile);
  app.add_option("--precision", precision, "of products")->check(CLI::IsMember({"highest", "high", "medium"}));
  app.add_flag("--losses", losses, "prints the loss of every step");
  try {
    app.parse(argc, argv);
    set_threads(threads);
    if (precision == "high") set_matmul_precision(MatmulPrecision::high);
    if (precision == "medium") set_matmul_precision(MatmulPrecision::medium);
    manual_seed(1);
    Data data(42);
    const Workload workload = workloads.at(name)(data, weights);
    std::fputs(str("# ", to_string(build_info()), '\n').c_str(), stderr);
    bench::run(workload, threads, steps.value_or(workload.steps), losses);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fputs(str(error.what(), '\n').c_str(), stderr);
    return 1;
  }
}
