// The models that are measured, written as a user would write them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <xgrad/xgrad.h>

#include "measure.h"

namespace bench {

using namespace xgrad;

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

// W1: a small translation transformer, 2 + 2 layers of width 32; batch 64, 10 + 10 positions.
inline Workload translation(Data& data) {
  constexpr std::int64_t B = 64, T = 10, source_words = 200, target_words = 210;
  auto training = std::make_shared<Training<nn::EncoderDecoder, optim::Adam>>(
      optim::AdamOptions{.lr = 0.005}, nn::root, source_words, target_words,
      nn::TransformerOptions{.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0, .max_length = 64});
  const Index source = data.ids({B, T}, source_words), target = data.ids({B, T}, target_words),
              labels = data.ids({B, T}, target_words);
  Index lengths(Shape{B});
  for (std::int64_t i = 0; i < B; ++i) lengths.mutable_data()[i] = 4 + data.below(7);
  return {.name = "W1", .items = B * T, .steps = 200, .step = [=] {
            return training->step(cross_entropy(training->model(source, lengths, target), labels));
          }};
}

// A pre-norm block of self-attention and feed-forward.
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
        ffn(at("ffn"),
            {.in = dim, .hidden = hidden, .activation = [](const Tensor& t) { return gelu(t, Gelu::tanh); }}) {}

  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    const Tensor y = x + o(multi_head_attention(qkv(norm1(x)), heads, {.mask = mask}));
    return y + ffn(norm2(y));
  }
};

// GPT with a tied head.
struct GptOptions {
  std::int64_t batch, context, vocabulary, dim, heads, layers, ffn;
  double lr;
  std::string weights = {};  // a safetensors file to begin with, as pytorch.py writes it
};

// One training step of it.
inline Workload gpt(Data& data, const char* name, const GptOptions& o) {
  auto training = std::make_shared<Training<nn::Gpt, optim::AdamW>>(
      optim::AdamWOptions{.lr = o.lr, .betas = {0.9, 0.99}, .weight_decay = 0.1}, nn::root,
      nn::GptOptions{.vocabulary = o.vocabulary,
                     .context = o.context,
                     .dim = o.dim,
                     .heads = o.heads,
                     .layers = o.layers,
                     .ffn = o.ffn});
  if (!o.weights.empty()) nn::load(training->model, o.weights);
  const Index ids = data.ids({o.batch, o.context}, static_cast<int>(o.vocabulary)),
              labels = data.ids({o.batch, o.context}, static_cast<int>(o.vocabulary));
  return {.name = name, .items = static_cast<double>(o.batch * o.context), .step = [=] {
            return training->step(cross_entropy(training->model(ids), labels));
          }};
}

}  // namespace bench
