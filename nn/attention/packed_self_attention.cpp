// Self-attention from one map.
#include "packed_self_attention.h"

#include "../../core/graph/record.h"
#include "../../ops/arrange/slice.h"

namespace xgrad::nn {

PackedSelfAttention::PackedSelfAttention(At here, std::int64_t width, std::int64_t head_count, const Options& given)
    : Module(std::move(here)),
      dim(positive("dim", width)),
      heads(positive("heads", head_count)),
      kv_heads(positive("kv_heads", given.kv_heads.value_or(heads))),
      options(given),
      qkv(at("qkv"), dim,
          [&] {
            const Scope scope(place());
            if (dim % heads != 0) fail<ValueError>("attention", "dim ", dim, " does not divide by ", heads, " heads");
            if (heads % kv_heads != 0) {
              fail<ValueError>("attention", heads, " heads do not divide by ", kv_heads, " kv_heads");
            }
            return dim / heads * (heads + 2 * kv_heads);
          }(),
          {.bias = options.bias}),
      o(at("o"), dim, dim, {.bias = options.o_bias.value_or(options.bias)}) {
  const auto constructing = enter();
  probability("dropout", options.dropout);
  if (options.rotary_theta && dim / heads % 2 != 0) {
    fail<ValueError>("attention", "heads of ", dim / heads, " columns cannot turn in pairs");
  }
}

PackedSelfAttention::Heads PackedSelfAttention::project(const Tensor& x, std::int64_t first) const {
  const Tensor all = qkv(x);  // (B, T, (H + 2 kv_heads) d)
  const std::int64_t d = dim / heads, own = kv_heads * d;
  const Tensor v = narrow(all, -1, dim + own, own);
  if (!options.rotary_theta) return {narrow(all, -1, 0, dim), narrow(all, -1, dim, own), v};
  const Tensor turned = rotary(narrow(all, -1, 0, dim + own), {.heads = heads + kv_heads,
                                                               .first = first,
                                                               .layout = options.rotary_layout,
                                                               .theta = *options.rotary_theta,
                                                               .scaling = options.rotary_scaling});
  return {narrow(turned, -1, 0, dim), narrow(turned, -1, dim, own), v};
}

Tensor PackedSelfAttention::operator()(const Tensor& x, const AttentionMask& mask) const {
  const auto here = enter(x);
  if (options.rotary_theta) {
    const Heads all = project(x, 0);
    return here(o(attend_heads(*this, all.q, all.k, all.v, heads, mask, options.dropout, kv_heads)));
  }
  return here(o(attend_packed_heads(*this, qkv(x), heads, mask, options.dropout, kv_heads)));
}

Tensor PackedSelfAttention::extend(const Tensor& x, KeyValueCache& past, std::optional<std::int64_t> window) const {
  const auto here = enter(x);
  Rewind undo(past);
  const Heads all = project(x, past.length());
  return undo.keep(here(o(past.attend(*this, all.q, all.k, all.v, heads, options.dropout, kv_heads, window))));
}

std::string PackedSelfAttention::settings() const {
  return cat(dim, ", ", heads, " heads", kv_heads == heads ? "" : cat(", ", kv_heads, " of keys"));
}

}  // namespace xgrad::nn
