// GPT-2.
#include "gpt.h"

#include <cmath>

#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/products/matmul.h"
#include "../../ops/shape/slice.h"

namespace xgrad::nn {

Tensor GptBlock::forward(const Tensor& x) const {
  const Tensor h = x + dropout(attn(norm1(x), causal));  // (B, T, C)
  return h + dropout(ffn(norm2(h)));
}

Tensor GptBlock::forward(const Tensor& x, KeyValueCache& past) const {
  const Tensor h = x + dropout(attn(norm1(x), past));  // (B, T, C)
  return h + dropout(ffn(norm2(h)));
}

Gpt::Gpt(At here, const Options& given) : LanguageModel(std::move(here)), options(given) {
  detail::reset_linear_maps(*this);
  positive("layers", options.layers);
  const double branches = 2. * static_cast<double>(options.layers);
  const Init smaller = init::normal({.std = detail::first_std / std::sqrt(branches)});
  for (std::int64_t i = 0; i < blocks.size(); ++i) {
    init::reset(blocks[i].attn.o.weight, smaller);
    init::reset(blocks[i].ffn.fc2.weight, smaller);
  }
}

Tensor Gpt::forward(const Index& ids) const {
  const Tensor h = blocks(positions(embedding(ids)));  // (B, T, C)
  return linear(norm(h), embedding.weight);            // (B, T, V)
}

Tensor Gpt::forward(const Index& ids, LanguageState& state) const {
  Tensor h = positions(embedding(ids), state.position);  // (B, T, C)
  for (std::int64_t i = 0; i < blocks.size(); ++i) h = blocks[i](h, state.blocks[static_cast<std::size_t>(i)]);
  return linear(norm(h[{_, -1}]), embedding.weight);  // (B, V)
}

}  // namespace xgrad::nn
