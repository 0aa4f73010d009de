// Llama.
#include "llama.h"

#include "../../ops/arrange/slice.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/products/matmul.h"

namespace xgrad::nn {
namespace {

constexpr double llama_deviation = 0.02;  // of the first weights

}  // namespace

void LlamaBlock::check(const Options& options) {
  if (options.window && *options.window < 1) {
    fail<ValueError>("LlamaBlock", "window ", *options.window, " is not positive");
  }
}

Tensor LlamaBlock::forward(const Tensor& x) const {
  const AttentionMask mask = options.window ? window({.before = *options.window - 1}) : causal;
  const Tensor h = x + attn(norm1(x), mask);  // (B, T, C)
  return h + ffn(norm2(h));
}

Tensor LlamaBlock::operator()(const Tensor& x, KeyValueCache& past) const {
  const auto here = enter(x);
  Rewind undo(past);
  const Tensor h = x + attn.extend(norm1(x), past, options.window);  // (B, T, C)
  return undo.keep(here(h + ffn(norm2(h))));
}

Llama::Llama(At here, const Options& given)
    : LanguageModel(std::move(here)),
      options(given),
      embedding(at("embedding"), options.vocabulary, options.dim, {.init = init::normal({.std = llama_deviation})}),
      blocks(at("blocks"), options.layers, options),
      norm(at("norm"), options.dim, {.eps = options.norm_eps}),
      head(at("head"), options.head == Head::own, options.dim, options.vocabulary, LinearOptions{.bias = false}) {
  positive("context", options.context);
  apply<Linear>([](const Linear& map) {
    init::reset(map.weight, init::normal({.std = llama_deviation}));
    if (map.bias.defined()) init::reset(map.bias, init::zeros());
  });
}

Tensor Llama::logits(const Tensor& h) const { return head ? (*head)(h) : linear(h, embedding.weight); }

Tensor Llama::operator()(const Index& ids) const {
  const auto here = enter(ids);
  check_ids(ids);
  return here(logits(norm(blocks(embedding(ids)))));  // (B, T, V)
}

Tensor Llama::next(const Index& ids, LanguageState& state) const {
  const auto here = enter(ids);
  check_ids(ids, &state);
  Rewind undo(state);
  Tensor h = embedding(ids);  // (B, T, C)
  for (std::int64_t i = 0; i < blocks.size(); ++i) h = blocks[i](h, state.blocks[static_cast<std::size_t>(i)]);
  state.position += ids.dim(1);
  return undo.keep(here(logits(norm(h[{_, -1}]))));  // (B, V)
}

}  // namespace xgrad::nn
