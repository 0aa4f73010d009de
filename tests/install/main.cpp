// A program that uses the library: a small GPT and its training loop. Fails unless the model learns.
#include <cstdio>

#include <xgrad/xgrad.h>

using namespace xgrad;

XGRAD_FORMULA own_formula{"own", "y = x"};  // its header comes with the others

struct Config {
  std::int64_t vocabulary = 5, context = 8, dim = 16, heads = 2, layers = 2;
};

struct Block : nn::Layer<Block, Config> {
  using Layer::Layer;
  nn::LayerNorm norm1{at("norm1"), options.dim};
  nn::pytorch::MultiheadAttention attn{at("attn"), options.dim, options.heads};
  nn::LayerNorm norm2{at("norm2"), options.dim};
  nn::Mlp mlp{at("mlp"), {.in = options.dim, .hidden = 4 * options.dim, .activation = gelu}};

  Tensor forward(const Tensor& x) const {  // (B, T, C)
    const Tensor h = x + attn(norm1(x), nn::causal);
    return h + mlp(norm2(h));
  }
};

struct Gpt : nn::Layer<Gpt, Config> {
  using Layer::Layer;
  nn::Embedding token{at("token"), options.vocabulary, options.dim};
  nn::Embedding position{at("position"), options.context, options.dim};
  nn::Stack<Block> blocks{at("blocks"), options.layers, options};
  nn::LayerNorm norm{at("norm"), options.dim};
  nn::Linear head{at("head"), options.dim, options.vocabulary};

  Tensor forward(const Index& ids) const {  // (B, T) -> logits (B, T, V)
    return head(norm(blocks(token(ids) + position(Index({4}, {0, 1, 2, 3})))));
  }
};

int main() {
  manual_seed(1);
  const Index x({2, 4}, {0, 1, 2, 3, 4, 3, 2, 1});
  const Index y({2, 4}, {1, 2, 3, 4, 3, 2, 1, 0});

  const Gpt model{nn::root};
  optim::AdamW adam{model.parameters(), {.lr = 1e-2}};
  Real loss_before = 0, loss_after = 0;
  for (int step = 0; step < 30; ++step) {
    const Tensor loss = cross_entropy(model(x), y);
    adam.step(grad(loss, model.parameters()));
    (step == 0 ? loss_before : loss_after) = loss.item();
  }
  std::printf("xgrad %s: loss %.4f -> %.4f\n", XGRAD_VERSION, double(loss_before), double(loss_after));
  return loss_after < loss_before / 10 ? 0 : 1;
}
