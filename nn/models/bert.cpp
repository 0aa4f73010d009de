// BERT.
#include "bert.h"

#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/products/matmul.h"
#include "../../ops/shape/slice.h"

namespace xgrad::nn {

Tensor BertBlock::forward(const Tensor& x, const AttentionMask& mask) const {
  const Tensor h = norm1(x + dropout(attn(x, mask)));  // (B, T, C)
  return norm2(h + dropout(ffn(h)));
}

Bert::Bert(At here, const Options& given) : Layer(std::move(here), given) { detail::reset_linear_maps(*this); }

Tensor Bert::encode(const Index& ids, const BertInputs& inputs) const {
  const ModuleScope here(*this);
  detail::check_ids("bert", ids);
  if (inputs.segments && inputs.segments->shape() != ids.shape()) {
    fail<ShapeError>("bert", "segments ", inputs.segments->shape(), " for ids ", ids.shape());
  }
  const Tensor x = embedding(ids) + segments(inputs.segments ? *inputs.segments : Index(ids.shape(), 0));  // (B, T, C)
  return blocks(dropout(norm(positions(x))), inputs.lengths ? padding(*inputs.lengths) : AttentionMask{});
}

Tensor Bert::pool(const Tensor& h) const {
  const ModuleScope here(*this);
  if (!pooler) fail<ValueError>("bert", "its head has no pooler");
  if (h.rank() != 3 || h.dim(1) == 0) fail<ShapeError>("bert", "pool needs h (B, T, C), got ", h.shape());
  return tanh((*pooler)(h[{_, 0}]));  // (B, C)
}

Tensor Bert::forward(const Index& ids, const BertInputs& inputs) const {
  Tensor h = encode(ids, inputs);  // (B, T, C)
  switch (options.head) {
    case BertHead::none:
      return h;
    case BertHead::pooled:
      return pool(h);
    case BertHead::classes:
      return (*classifier)(dropout(pool(h)));
    case BertHead::words:
      break;
  }
  return linear((*head_norm)(options.activation((*transform)(h))), embedding.weight, bias);  // (B, T, V)
}

}  // namespace xgrad::nn
