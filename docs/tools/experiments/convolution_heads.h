// A convolution as multi-head attention, whose heads attend to fixed relative positions.
#pragma once

#include <xgrad/xgrad.h>

namespace convolution_heads {

using namespace xgrad;

/// True where head j of k may not look: its query t sees only the key t + j - (k - 1) / 2, if there is one. (k, T, T)
inline Mask elsewhere(std::int64_t k, std::int64_t T) {
  const Index offset = arange(k).reshaped({k, 1, 1}) - (k - 1) / 2;
  return arange(T) != arange(T).reshaped({T, 1}) + offset;
}

/// conv1d with zeros around the sequence, by a head for each place of the kernel: x (B, T, in) -> (B, T, out).
inline Tensor as_attention(const nn::Conv1d& conv, const Tensor& x) {
  const std::int64_t k = conv.kernel;
  const Tensor w_v = reshape(permute(conv.weight, {2, 0, 1}), {k * conv.out, conv.in});
  const Tensor w_o = concat(Tensors(static_cast<std::size_t>(k), eye(conv.out)), 1).named("w_o");
  // Queries and keys: one key is left, whatever it scores.
  const Tensor any = zeros({x.dim(0), x.dim(1), k}).named("any");
  const Tensor heads = multi_head_attention(any, any, linear(x, w_v), k, {.mask = {.masked = elsewhere(k, x.dim(1))}});
  return linear(heads, w_o, conv.bias);
}

}  // namespace convolution_heads
