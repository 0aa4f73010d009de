// Can batch norm stand where a vision transformer has layer norms, and what else has to change? Small transformers with
// either norm, at two learning rates, on drawn shapes.
//
//   docs/tools/run vit_norms [--steps N] [--seeds N] [--out FOLDER] ...
#include <array>
#include <iostream>

#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/kit/train/trials.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  std::int64_t steps = 200;
  std::int64_t seeds = 3;
};

constexpr std::int64_t dim = 32, heads = 4, layers = 3, patch = 4, side = 28, tokens = (side / patch) * (side / patch);

struct Variant {
  const char* name;
  nn::NormKind norm = nn::NormKind::batch;
  bool inside = false;  // a batch norm between the two maps of the MLP, too (Yao et al. 2021)
};
constexpr Variant variants[] = {{"layer norm", nn::NormKind::layer},
                                {"batch norm"},
                                {"batch norm, and one in the MLP", nn::NormKind::batch, true}};

/// A batch norm of the channels of (B, N, C), over pictures and tokens.
struct TokenNorm : nn::Layer<TokenNorm, std::int64_t> {
  using Layer::Layer;
  nn::BatchNorm1d norm{at("norm"), options};

  Tensor forward(const Tensor& x) const { return reshape(norm(reshape(x, {-1, options})), x.shape()); }
};

/// A pre-norm block.
struct Block : nn::Layer<Block, Variant> {
  using Layer::Layer;
  const nn::AddNormOptions residual{.order = nn::NormOrder::pre, .kind = options.norm};
  nn::AddNorm add_norm1{at("add_norm1"), {dim}, residual};
  nn::MultiHeadAttention attention{at("attention"), dim, heads, {.bias = true}};
  nn::AddNorm add_norm2{at("add_norm2"), {dim}, residual};
  nn::Linear fc1{at("fc1"), dim, 2 * dim}, fc2{at("fc2"), 2 * dim, dim};
  nn::Maybe<TokenNorm> between{at("between"), options.inside, 2 * dim};

  Tensor forward(const Tensor& x) const {
    const Tensor h = add_norm1.around(x, [&](const Tensor& y) { return attention(y); });
    return add_norm2.around(h, [&](const Tensor& y) {
      const Tensor hidden = fc1(y);
      return fc2(gelu(between ? (*between)(hidden) : hidden));
    });
  }
};

/// (B, 1, 28, 28) -> logits (B, classes)
struct Net : nn::Layer<Net, Variant> {
  nn::Conv2d embedding{at("embedding"), 1, dim, patch, {.stride = patch}};
  const Tensor class_token = param("class_token", {1, 1, dim}, nn::init::zeros());
  const Tensor positions = param("positions", {1, tokens + 1, dim}, nn::init::normal({.std = 0.02}));
  nn::Stack<Block> blocks{at("blocks"), layers, options};
  nn::Maybe<nn::LayerNorm> layer_norm{at("layer_norm"), options.norm == nn::NormKind::layer, dim};
  nn::Maybe<TokenNorm> batch_norm{at("batch_norm"), options.norm == nn::NormKind::batch, dim};
  nn::Linear head{at("head"), dim, std::ssize(kit::shape_classes)};

  using Layer::Layer;

  Tensor forward(const Tensor& images) const {
    const Tensor patches = transpose(flatten(embedding(images), 2), 1, 2);  // (B, N, C)
    const Tensor x = concat({broadcast_to(class_token, {patches.dim(0), 1, dim}), patches}, 1);
    const Tensor y = blocks(x + positions), z = layer_norm ? (*layer_norm)(y) : (*batch_norm)(y);
    return head(z[{_, 0}]);
  }
};

double accuracy(const Config& config, const kit::ImageData& data, const Variant& variant, double lr, Seed seed) {
  const Net net(nn::root, variant);
  const kit::ChannelStatistics statistics = kit::channel_statistics(data.train);
  const kit::Transform transform = kit::normalize(statistics);
  optim::Adam adam{net.parameters(), {.lr = lr}};
  optim::Scheduler scheduler{adam, optim::schedule::cosine({.steps = config.steps})};
  for (std::int64_t step = 0; step < config.steps; ++step) {
    const auto [images, labels] = data.train.batch(randint(0, data.train.size(), {64}, {.seed = seed, .draw = step}));
    adam.step(grad(cross_entropy(net(transform(images)), labels), net.parameters()));
    scheduler.step();
  }
  return kit::answers(net, [&](const Tensor& images) { return net(images); }, data.test, statistics).accuracy;
}

void run(const Config& config, kit::Example& example) {
  const kit::ImageData data = kit::image_data({}, 1);
  constexpr std::array rates{0.001, 0.005};
  std::vector<std::string> names;
  for (const Variant& variant : variants) {
    for (const double rate : rates) names.push_back(str(variant.name, ", rate ", rate));
  }
  const auto found = kit::trials(names, {example.seed, config.seeds}, [&](std::size_t i, Seed seed) {
    return accuracy(config, data, variants[i / rates.size()], rates[i % rates.size()], seed);
  });
  kit::Table table({"", "rate 0.001", "rate 0.005", "0.001, each seed", "0.005, each seed"});
  for (std::size_t v = 0; v < std::size(variants); ++v) {
    const auto &slow = found[2 * v], &fast = found[2 * v + 1];
    const auto mean = [](const auto& one) { return kit::fixed(one.mean(std::identity()), 3); };
    table.row({variants[v].name, mean(slow), mean(fast), slow.each(std::identity()), fast.each(std::identity())});
    example.result.add(str("accuracy", v), mean(slow));
  }
  std::cout << table.text();
}

}  // namespace

int experiments::vit_norms(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--steps", c.steps, "of training", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train everything so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "vit_norms", "A vision transformer with layer norms, or with batch norms.",
                           options, run);
}
