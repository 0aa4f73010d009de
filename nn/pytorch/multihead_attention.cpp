// MultiheadAttention.
#include "multihead_attention.h"

#include "../../core/base/error.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/compare.h"
#include "../../ops/network/dropout.h"
#include "../../ops/products/matmul.h"
#include "../../ops/reduce/reduce.h"
#include "../../ops/shape/broadcast.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/shape.h"
#include "../../ops/shape/slice.h"
#include "../attention/attention_recorder.h"

namespace xgrad::nn::pytorch {
namespace {

// The rows of three maps in one.
std::int64_t three_of(std::int64_t width) { return checked_multiply("multihead_attention", 3, width); }

MultiheadAttentionOptions with_widths(MultiheadAttentionOptions options, std::int64_t embed_dim) {
  if (options.kdim == 0) options.kdim = embed_dim;
  if (options.vdim == 0) options.vdim = embed_dim;
  return options;
}

bool given(const MaskOrBias& mask) {
  const Tensor* bias = std::get_if<Tensor>(&mask);
  return bias ? bias->defined() : std::holds_alternative<Mask>(mask);
}

// A mask of one of the shapes `from` as one of the shape `to` that belongs to it.
AttentionMask as_mask(const char* name, const MaskOrBias& mask, const std::vector<Shape>& from,
                      const std::vector<Shape>& to) {
  if (!given(mask)) return {};
  const Mask* masked = std::get_if<Mask>(&mask);
  const Shape shape = masked ? masked->shape() : std::get<Tensor>(mask).shape();
  const auto found = std::ranges::find(from, shape);
  if (found == from.end()) {
    fail<ShapeError>("multihead_attention", name, " of shape ", shape, ", needs ",
                     from.size() == 1 ? str(from[0]) : str(from[0], " or ", from[1]));
  }
  const Shape& target = to[static_cast<std::size_t>(found - from.begin())];
  if (masked) return {.masked = masked->reshaped(target)};
  return {.bias = reshape(std::get<Tensor>(mask), target)};
}

// The same mask for `added` more keys at the end, which all may see.
AttentionMask with_added_keys(const AttentionMask& mask, const Shape& scores, std::int64_t added) {
  if (added == 0) return mask;
  const std::int64_t B = scores[0], T = scores[2], S = scores[3];
  AttentionMask positions = mask;
  positions.masked.reset();
  positions.bias = {};
  Mask all = masked_keys(positions, {B, T, S});  // (B, 1, T, S)
  if (mask.masked) all = all || *mask.masked;
  Shape shape = all.shape();
  shape[3] = added;
  AttentionMask wider{.masked = concat<bool>({all, Mask(shape, false)}, 3)};
  if (mask.bias.defined()) {
    const Tensor bias =
        broadcast_to(mask.bias, broadcast_shapes("multihead_attention", mask.bias.shape(), {1, 1, 1, S}));
    wider.bias = pad(bias, {{0, 0}, {0, 0}, {0, 0}, {0, added}});
  }
  return wider;
}

}  // namespace

// The projected input of one call: q (B, T, C), k and v (B, S + added keys, C).
struct MultiheadAttention::Operands {
  Tensor q, k, v;
  Shape scores;  // (B, H, T, S), without the added keys
  bool batched;
};

MultiheadAttention::MultiheadAttention(At here, std::int64_t width, std::int64_t head_count,
                                       const Options& given_options)
    : Module(std::move(here)),
      embed_dim(positive("embed_dim", width)),
      heads(positive("heads", head_count)),
      options(with_widths(given_options, embed_dim)),
      in_proj_weight(packed() ? param("in_proj_weight", {three_of(embed_dim), embed_dim}, init::xavier_uniform())
                              : Tensor()),
      q_proj_weight(own_map("q_proj_weight", embed_dim)),
      k_proj_weight(own_map("k_proj_weight", positive("kdim", options.kdim))),
      v_proj_weight(own_map("v_proj_weight", positive("vdim", options.vdim))),
      in_proj_bias(options.bias ? param("in_proj_bias", {three_of(embed_dim)}, init::zeros()) : Tensor()),
      bias_k(options.add_bias_kv ? param("bias_k", {1, 1, embed_dim}, init::xavier_normal(), Decay::no) : Tensor()),
      bias_v(options.add_bias_kv ? param("bias_v", {1, 1, embed_dim}, init::xavier_normal(), Decay::no) : Tensor()),
      out_proj(at("out_proj"), embed_dim, embed_dim, {.bias = options.bias, .bias_init = init::zeros()}) {
  const ModuleScope constructing(*this);  // errors name the layer and its sizes
  probability("dropout", options.dropout);
  if (embed_dim % heads != 0) {
    fail<ValueError>("multihead_attention", "embed_dim ", embed_dim, " does not divide by ", heads, " heads");
  }
}

Tensor MultiheadAttention::own_map(const char* name, std::int64_t width) {
  return packed() ? Tensor() : param(name, {embed_dim, width}, init::xavier_uniform());
}

// The queries (part 0), keys (1) or values (2) made from x. Cutting the weight costs less than cutting one wide result.
Tensor MultiheadAttention::project(const Tensor& x, std::int64_t part, const Tensor& own_weight) const {
  const std::int64_t first = part * embed_dim;
  return linear(x, packed() ? narrow(in_proj_weight, 0, first, embed_dim) : own_weight,
                in_proj_bias.defined() ? narrow(in_proj_bias, 0, first, embed_dim) : Tensor());
}

Tensor MultiheadAttention::with_added(const Tensor& x, const Tensor& learned) const {
  Tensor longer = x;
  if (learned.defined()) longer = concat({x, broadcast_to(learned, {x.dim(0), 1, embed_dim})}, 1);
  return options.add_zero_attn ? pad(longer, {{0, 0}, {0, 1}, {0, 0}}) : longer;
}

MultiheadAttention::Operands MultiheadAttention::operands(const Tensor& query, const Tensor& key,
                                                          const Tensor& value) const {
  const auto refuse = [&](const char* rule) {
    fail<ShapeError>("multihead_attention", rule, ": query ", query.shape(), ", key ", key.shape(), ", value ",
                     value.shape());
  };
  const bool batched = query.rank() == 3;
  if ((!batched && query.rank() != 2) || key.rank() != query.rank() || value.rank() != query.rank()) {
    refuse("needs three axes, or two without a batch, as many in each");
  }
  const auto batch_first = [&](const Tensor& x) {
    if (!batched) return unsqueeze(x, 0);
    return options.batch_first ? x : transpose(x, 0, 1);
  };
  const Tensor q = batch_first(query), k = batch_first(key), v = batch_first(value);
  if (q.dim(0) != k.dim(0) || k.dim(0) != v.dim(0)) refuse("batch sizes differ");
  if (k.dim(1) != v.dim(1)) refuse("keys and values differ in number");
  return {.q = project(q, 0, q_proj_weight),
          .k = with_added(project(k, 1, k_proj_weight), bias_k),
          .v = with_added(project(v, 2, v_proj_weight), bias_v),
          .scores = {q.dim(0), heads, q.dim(1), k.dim(1)},
          .batched = batched};
}

Tensor MultiheadAttention::result(const Operands& x, const Tensor& y) const {
  const Tensor output = out_proj(y);  // (B, T, C)
  if (!x.batched) return squeeze(output, {0});
  return options.batch_first ? output : transpose(output, 0, 1);
}

MultiheadOutput MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                            const MultiheadCall& call) const {
  const ModuleScope here(*this, query, key, value);
  const Operands x = operands(query, key, value);
  const std::int64_t B = x.scores[0], H = heads, T = x.scores[2], S = x.scores[3];
  AttentionMask mask =
      as_mask("attn_mask", call.attn_mask, {{T, S}, {B * H, T, S}}, {{1, 1, T, S}, {B, H, T, S}}) &
      as_mask("key_padding_mask", call.key_padding_mask, {x.batched ? Shape{B, S} : Shape{S}}, {{B, 1, 1, S}});
  const bool causal_to_the_end = call.is_causal && !call.need_weights && !given(call.key_padding_mask);
  mask.causal = call.is_causal && !causal_to_the_end;
  mask = with_added_keys(mask, x.scores, added_keys());
  mask.causal |= causal_to_the_end;
  if (!call.need_weights) {
    return {.output = here(result(x, attend_heads(*this, x.q, x.k, x.v, heads, mask, options.dropout))), .weights = {}};
  }

  Tensor weights = attention_weights(x.q, x.k, heads, {.mask = mask});  // (B, H, T, S + added)
  show_attention_weights(*this, [&] { return weights.value(); });
  if (training() && options.dropout > 0) weights = dropout(weights, options.dropout);
  const Tensor v = transpose(reshape(x.v, {B, x.v.dim(1), H, embed_dim / H}), 1, 2);  // (B, H, S + added, d)
  const Tensor y = transpose(weighted_sum(weights, v), 1, 2);                         // (B, T, H, d)
  if (call.average_attn_weights) weights = mean(weights, 1);
  return {.output = here(result(x, reshape(y, {B, T, embed_dim}))),
          .weights = x.batched ? weights : squeeze(weights, {0})};
}

Tensor MultiheadAttention::operator()(const Tensor& x, const AttentionMask& mask) const {
  return (*this)(x, x, x, mask);
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMask& mask) const {
  const ModuleScope here(*this, query, key, value);
  const Operands x = operands(query, key, value);
  const AttentionMask wider = with_added_keys(mask, x.scores, added_keys());
  return here(result(x, attend_heads(*this, x.q, x.k, x.v, heads, wider, options.dropout)));
}

}  // namespace xgrad::nn::pytorch
