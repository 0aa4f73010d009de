// Multi-head attention.
#include "multi_head_attention.h"

#include "../../core/graph/record.h"
#include "../../ops/indexing/index.h"
#include "../../ops/shape/slice.h"

namespace xgrad::nn {

void KeyValue::select(const Index& rows) { *this = KeyValue{index_select(k, 0, rows), index_select(v, 0, rows)}; }

MultiHeadAttention::MultiHeadAttention(At here, std::int64_t width, std::int64_t head_count, const Options& given)
    : Layer(std::move(here), given),
      dim(positive("dim", width)),
      heads(positive("heads", head_count)),
      kv_heads([&] {
        const std::int64_t of_keys = positive("kv_heads", given.kv_heads.value_or(heads));
        const Scope scope(place());
        if (dim % heads != 0) fail<ValueError>("attention", "dim ", dim, " does not divide by ", heads, " heads");
        if (heads % of_keys != 0) {
          fail<ValueError>("attention", heads, " heads do not divide by ", of_keys, " kv_heads");
        }
        if (given.packed && (given.query || given.key || given.value)) {
          fail<ValueError>("attention", "packed maps have one width, dim ", dim, ", not query ", given.query, ", key ",
                           given.key, ", value ", given.value);
        }
        if (given.rotary_theta && dim / heads % 2 != 0) {
          fail<ValueError>("attention", "heads of ", dim / heads, " columns cannot turn in pairs");
        }
        probability("dropout", given.dropout);
        return of_keys;
      }()),
      qkv(at("qkv"), options.packed, dim, dim / heads * (heads + 2 * kv_heads), LinearOptions{.bias = options.bias}),
      q(at("q"), !options.packed, options.query ? options.query : dim, dim, LinearOptions{.bias = options.bias}),
      k(at("k"), !options.packed, options.key ? options.key : dim, dim / heads * kv_heads,
        LinearOptions{.bias = options.bias}),
      v(at("v"), !options.packed, options.value ? options.value : dim, dim / heads * kv_heads,
        LinearOptions{.bias = options.bias}),
      o(at("o"), dim, dim, {.bias = options.o_bias.value_or(options.bias)}) {}

void MultiHeadAttention::refuse_packed() const {
  if (options.packed) fail<ValueError>("attention", "packed maps are for self-attention, of one input");
}

// For remember(), which projects keys apart from queries.
void MultiHeadAttention::refuse_parts() const {
  refuse_packed();
  if (options.rotary_theta) fail<ValueError>("attention", "rotary positions go on step by step with a KeyValueCache");
}

// `first` is the position of the first query and the first key.
MultiHeadAttention::Heads MultiHeadAttention::project(const Tensor& query, const Tensor& key, const Tensor& value,
                                                      std::int64_t first) const {
  const std::int64_t d = dim / heads, own = kv_heads * d;
  const auto turn = [&](const Tensor& x, std::int64_t count) {
    if (!options.rotary_theta) return x;
    return rotary(x, {.heads = count,
                      .first = first,
                      .layout = options.rotary_layout,
                      .theta = *options.rotary_theta,
                      .scaling = options.rotary_scaling});
  };
  if (!options.packed) return {turn((*q)(query), heads), turn((*k)(key), kv_heads), (*v)(value)};
  const Tensor all = (*qkv)(query);  // (B, T, (H + 2 kv_heads) d)
  const Tensor values = narrow(all, -1, dim + own, own);
  if (!options.rotary_theta) return {narrow(all, -1, 0, dim), narrow(all, -1, dim, own), values};
  const Tensor turned = turn(narrow(all, -1, 0, dim + own), heads + kv_heads);
  return {narrow(turned, -1, 0, dim), narrow(turned, -1, dim, own), values};
}

Tensor MultiHeadAttention::answer(const Heads& all, const AttentionMask& mask) const {
  return o(attend_heads(*this, all.q, all.k, all.v, heads, mask, options.dropout, kv_heads));
}

Tensor MultiHeadAttention::forward(const Tensor& x, const AttentionMask& mask) const {
  if (!options.packed || options.rotary_theta) return answer(project(x, x, x, 0), mask);
  return o(attend_packed_heads(*this, (*qkv)(x), heads, mask, options.dropout, kv_heads));
}

Tensor MultiHeadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionMask& mask) const {
  refuse_packed();
  return answer(project(query, key, value, 0), mask);
}

KeyValue MultiHeadAttention::remember(const Tensor& key, const Tensor& value) const {
  const Scope scope(place());
  refuse_parts();
  return {(*k)(key), (*v)(value)};
}

Tensor MultiHeadAttention::forward(const Tensor& query, const KeyValue& memory, const AttentionMask& mask) const {
  refuse_parts();
  return answer({(*q)(query), memory.k, memory.v}, mask);
}

Tensor MultiHeadAttention::forward(const Tensor& x, KeyValueCache& past, std::optional<std::int64_t> window) const {
  const Heads all = project(x, x, x, past.length());
  return o(past.attend(*this, all.q, all.k, all.v, heads, options.dropout, kv_heads, window));
}

std::string MultiHeadAttention::extra_repr() const {
  return str(dim, ", ", heads, " heads", kv_heads == heads ? "" : str(", ", kv_heads, " of keys"));
}

}  // namespace xgrad::nn
