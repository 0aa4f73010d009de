// Llama.
#include "llama.h"

#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/products/matmul.h"
#include "../../ops/shape/slice.h"

namespace xgrad::nn {

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

Tensor LlamaBlock::forward(const Tensor& x, KeyValueCache& past) const {
  const Tensor h = x + attn(norm1(x), past, options.window);  // (B, T, C)
  return h + ffn(norm2(h));
}

Llama::Llama(At here, const Options& given) : LanguageModel(std::move(here)), options(given) {
  positive("context", options.context);
  detail::reset_linear_maps(*this);
}

Tensor Llama::logits(const Tensor& h) const { return head ? (*head)(h) : linear(h, embedding.weight); }

Tensor Llama::forward(const Index& ids) const { return logits(norm(blocks(embedding(ids)))); }  // (B, T, V)

Tensor Llama::forward(const Index& ids, LanguageState& state) const {
  Tensor h = embedding(ids);  // (B, T, C)
  for (std::int64_t i = 0; i < blocks.size(); ++i) h = blocks[i](h, state.blocks[static_cast<std::size_t>(i)]);
  return logits(norm(h[{_, -1}]));  // (B, V)
}

}  // namespace xgrad::nn
