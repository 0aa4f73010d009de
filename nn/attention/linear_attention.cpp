// Multi-head attention at linear cost.
#include "linear_attention.h"

namespace xgrad::nn {

LinearAttention::LinearAttention(At here, std::int64_t width, std::int64_t head_count, const Options& options)
    : Layer(std::move(here)),
      dim(positive("dim", width)),
      heads(positive("heads", head_count)),
      q(at("q"), options.query ? options.query : dim, dim, {.bias = options.bias}),
      k(at("k"), options.key ? options.key : dim, dim, {.bias = options.bias}),
      v(at("v"), options.value ? options.value : dim, dim, {.bias = options.bias}),
      o(at("o"), dim, dim, {.bias = options.bias}) {
  const Scope scope(place());
  if (dim % heads != 0) fail<ValueError>("attention", "dim ", dim, " does not divide by ", heads, " heads");
}

Tensor LinearAttention::forward(const Tensor& x, const AttentionMask& mask) const { return forward(x, x, x, mask); }

Tensor LinearAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                const AttentionMask& mask) const {
  if (mask.masked || mask.band || mask.bias.defined()) {
    fail<ValueError>("linear_attention", "a mask may be causal and have lengths, nothing else");
  }
  return o(linear_attention(q(query), k(key), v(value), heads, {.causal = mask.causal, .lengths = mask.lengths}));
}

Tensor LinearAttention::forward(const Tensor& x, LinearAttentionState& past) const {
  return o(linear_attention(q(x), k(x), v(x), heads, past));
}

}  // namespace xgrad::nn
