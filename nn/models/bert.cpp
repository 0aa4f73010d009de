// BERT.
#include "bert.h"

#include "../../core/array/shape_hints.h"
#include "../../ops/arrange/slice.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/products/matmul.h"

namespace xgrad::nn {
namespace {

constexpr double bert_deviation = 0.02;  // of the first weights

}  // namespace

Tensor BertBlock::forward(const Tensor& x, const AttentionMask& mask) const {
  const Tensor h = norm1(x + dropout(attn(x, mask)));  // (B, T, C)
  return norm2(h + dropout(ffn(h)));
}

Bert::Bert(At here, const Options& given)
    : Module(std::move(here)),
      options(given),
      embedding(at("embedding"), options.vocabulary, options.dim, {.init = init::normal({.std = bert_deviation})}),
      segments(at("segments"), options.segments, options.dim, {.init = init::normal({.std = bert_deviation})}),
      positions(at("positions"), options.context, options.dim, {.init = init::normal({.std = bert_deviation})}),
      norm(at("norm"), options.dim, {.eps = options.norm_eps}),
      dropout(at("dropout"), options.dropout),
      blocks(at("blocks"), options.layers, options),
      transform(at("transform"), options.head == BertHead::words, options.dim, options.dim),
      head_norm(at("head_norm"), options.head == BertHead::words, options.dim,
                LayerNormOptions{.eps = options.norm_eps}),
      bias(options.head == BertHead::words ? param("bias", {options.vocabulary}, init::zeros()) : Tensor()),
      pooler(at("pooler"), options.head == BertHead::pooled || options.head == BertHead::classes, options.dim,
             options.dim),
      classifier(at("classifier"), options.head == BertHead::classes, options.dim, options.classes) {
  apply<Linear>([](const Linear& map) {
    init::reset(map.weight, init::normal({.std = bert_deviation}));
    init::reset(map.bias, init::zeros());
  });
}

Tensor Bert::encode(const Index& ids, const BertInputs& inputs) const {
  const auto here = enter();
  if (ids.rank() != 2) {
    fail<ShapeError>("bert", "needs ids (B, T), got ", ids.shape(),
                     xgrad::detail::batch_axis_hint(ids.shape(), Shape{-1}));
  }
  if (inputs.segments && inputs.segments->shape() != ids.shape()) {
    fail<ShapeError>("bert", "segments ", inputs.segments->shape(), " for ids ", ids.shape());
  }
  const Tensor x = embedding(ids) + segments(inputs.segments ? *inputs.segments : Index(ids.shape(), 0));  // (B, T, C)
  return blocks(dropout(norm(positions(x))), inputs.lengths ? padding(*inputs.lengths) : AttentionMask{});
}

Tensor Bert::pool(const Tensor& h) const {
  const auto here = enter();
  if (!pooler) fail<ValueError>("bert", "its head has no pooler");
  if (h.rank() != 3 || h.dim(1) == 0) fail<ShapeError>("bert", "pool needs h (B, T, C), got ", h.shape());
  return tanh((*pooler)(h[{_, 0}]));  // (B, C)
}

Tensor Bert::operator()(const Index& ids, const BertInputs& inputs) const {
  const auto here = enter(ids);
  const Tensor h = encode(ids, inputs);  // (B, T, C)
  switch (options.head) {
    case BertHead::none:
      return here(h);
    case BertHead::pooled:
      return here(pool(h));
    case BertHead::classes:
      return here((*classifier)(dropout(pool(h))));
    case BertHead::words:
      break;
  }
  return here(linear((*head_norm)(options.activation((*transform)(h))), embedding.weight, bias));  // (B, T, V)
}

}  // namespace xgrad::nn
