// The workloads that engines are compared on, each written as a user would write it.
//
//   tests/bench/run W1 [threads] [steps]
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include <xgrad/xgrad.h>

#include "measure.h"

using namespace xgrad;

namespace {

// A model with its optimizer and one fixed batch: what a workload's step closes over.
template <class Model, class Optimizer>
struct Training {
  Model model;
  Optimizer optimizer;

  template <class... Arguments>
  explicit Training(const typename Optimizer::Options& options, Arguments&&... arguments)
      : model(std::forward<Arguments>(arguments)...), optimizer(model.parameters(), options) {}

  double step(const Tensor& loss) {
    optimizer.step(grad(loss, model.parameters()));
    return loss.item();
  }
};

// ---- W1: translation transformer, 2 + 2 layers of width 32, batch 64, 10 + 10 positions

struct Translator : nn::Module {
  static constexpr std::int64_t source_words = 200, target_words = 210;
  static nn::TransformerOptions options() {
    return {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0, .max_length = 64};
  }
  nn::Encoder encoder{at("encoder"), source_words, options()};
  nn::Decoder decoder{at("decoder"), target_words, options()};

  Tensor operator()(const Index& source, const Index& lengths, const Index& target) const {
    const AttentionMask words = nn::padding(lengths);
    return decoder(target, encoder(source, words), words);
  }
};

bench::Workload w1(bench::Data& data) {
  constexpr std::int64_t B = 64, T = 10;
  auto training = std::make_shared<Training<Translator, optim::Adam>>(optim::AdamOptions{.lr = 0.005});
  const Index source = data.ids({B, T}, Translator::source_words), target = data.ids({B, T}, Translator::target_words),
              labels = data.ids({B, T}, Translator::target_words);
  Index lengths(Shape{B});
  for (std::int64_t i = 0; i < B; ++i) lengths.mutable_data()[i] = 4 + data.below(7);
  return {.name = "W1", .items = B * T, .steps = 200, .step = [=] {
            return training->step(cross_entropy(training->model(source, lengths, target), labels));
          }};
}

// ---- What W2 to W4b are made of: a pre-norm block of self-attention and feed-forward

struct Block : nn::Module {
  const std::int64_t heads;
  nn::LayerNorm norm1, norm2;
  nn::Linear qkv, o;
  nn::Mlp ffn;

  Block(At here, std::int64_t dim, std::int64_t heads, std::int64_t hidden)
      : Module(here),
        heads(heads),
        norm1(at("norm1"), dim),
        norm2(at("norm2"), dim),
        qkv(at("qkv"), dim, 3 * dim),
        o(at("o"), dim, dim),
        ffn(at("ffn"), {.in = dim, .hidden = hidden, .activation = [](const Tensor& t) { return gelu(t, Gelu::tanh); }}) {}

  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    const Tensor y = x + o(multi_head_attention(qkv(norm1(x)), heads, {.mask = mask}));
    return y + ffn(norm2(y));
  }
};

// ---- W2, W3: GPT with a tied head; small (characters) and of some size (a vocabulary of 8192)

struct GptOptions {
  std::int64_t batch, context, vocabulary, dim, heads, layers, ffn;
  double lr;
};

struct Gpt : nn::Module {
  nn::Embedding words, places;
  nn::Stack<Block> blocks;
  nn::LayerNorm norm;

  explicit Gpt(const GptOptions& o)
      : words(at("words"), o.vocabulary, o.dim, {.init = nn::init::normal({.std = 0.02})}),
        places(at("places"), o.context, o.dim, {.init = nn::init::normal({.std = 0.02})}),
        blocks(at("blocks"), o.layers, o.dim, o.heads, o.ffn),
        norm(at("norm"), o.dim) {}

  Tensor operator()(const Index& ids) const {
    return linear(norm(blocks(words(ids) + places.weight, nn::causal)), words.weight);
  }
};

bench::Workload gpt(bench::Data& data, const char* name, const GptOptions& o) {
  auto training = std::make_shared<Training<Gpt, optim::AdamW>>(
      optim::AdamWOptions{.lr = o.lr, .betas = {0.9, 0.99}, .weight_decay = 0.1}, o);
  const Index ids = data.ids({o.batch, o.context}, static_cast<int>(o.vocabulary)),
              labels = data.ids({o.batch, o.context}, static_cast<int>(o.vocabulary));
  return {.name = name, .items = static_cast<double>(o.batch * o.context), .step = [=] {
            return training->step(cross_entropy(training->model(ids), labels));
          }};
}

bench::Workload w2(bench::Data& data) {
  bench::Workload w = gpt(data, "W2", {.batch = 12, .context = 64, .vocabulary = 65, .dim = 128, .heads = 4, .layers = 4,
                                       .ffn = 512, .lr = 1e-3});
  w.steps = 40;
  return w;
}

bench::Workload w3(bench::Data& data) {
  bench::Workload w = gpt(data, "W3", {.batch = 4, .context = 256, .vocabulary = 8192, .dim = 512, .heads = 8,
                                       .layers = 6, .ffn = 2048, .lr = 3e-4});
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

bench::Workload vit(bench::Data& data, const char* name, std::int64_t patch) {
  constexpr std::int64_t B = 64;
  auto training = std::make_shared<Training<VisionTransformer, optim::Adam>>(optim::AdamOptions{.lr = 1e-3}, patch);
  const Tensor images(data.numbers({B, VisionTransformer::side, VisionTransformer::side}));
  const Index labels = data.ids({B}, 10);
  return {.name = name, .items = B, .steps = 60, .step = [=] {
            return training->step(cross_entropy(training->model(images), labels));
          }};
}

bench::Workload w4(bench::Data& data) { return vit(data, "W4", 7); }
bench::Workload w4b(bench::Data& data) { return vit(data, "W4b", 4); }

// ---- W5: a chain of 33,333 times (mul, add, tanh) on scalars

bench::Workload w5(bench::Data&) {
  const Tensor w = variable(Real(0.9)), b = variable(Real(0.1));
  return {.name = "W5", .items = 99999, .steps = 30, .step = [=] {
            Tensor x(0.5);
            for (int i = 0; i < 33333; ++i) x = tanh(x * w + b);
            return static_cast<double>(grad(x, {w, b})[0].item());
          }};
}

// ---- W6: a multi-layer perceptron 784-256-128-10, batch 64

struct Perceptron : nn::Module {
  nn::Linear a{at("a"), 784, 256};
  nn::Linear b{at("b"), 256, 128};
  nn::Linear c{at("c"), 128, 10};

  Tensor operator()(const Tensor& x) const { return c(relu(b(relu(a(x))))); }
};

bench::Workload w6(bench::Data& data) {
  constexpr std::int64_t B = 64;
  auto training = std::make_shared<Training<Perceptron, optim::Adam>>(optim::AdamOptions{.lr = 1e-3});
  const Tensor x(data.numbers({B, 784}));
  const Index labels = data.ids({B}, 10);
  return {.name = "W6", .items = B, .steps = 400, .step = [=] {
            return training->step(cross_entropy(training->model(x), labels));
          }};
}

struct Known {
  const char* name;
  bench::Workload (*make)(bench::Data&);
};
constexpr Known workloads[] = {{"W1", w1},   {"W2", w2}, {"W3", w3}, {"W4", w4},
                               {"W4b", w4b}, {"W5", w5}, {"W6", w6}};

int number(const char* text, int otherwise) {
  if (!text) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0' || value < 1) fail<ValueError>("bench", "not a positive number: ", text);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const Known& known : workloads) {
      if (argc < 2 || std::strcmp(argv[1], known.name) != 0) continue;
      const int count = number(argc > 2 ? argv[2] : nullptr, 1);
      set_threads(count);
      manual_seed(1);
      bench::Data data(42);
      const bench::Workload workload = known.make(data);
      std::fprintf(stderr, "# %s\n", to_string(build_info()).c_str());
      bench::run(workload, count, number(argc > 3 ? argv[3] : nullptr, workload.steps));
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: xgrad_bench_workloads <W1|W2|W3|W4|W4b|W5|W6> [threads] [steps]\n");
  return 2;
}
