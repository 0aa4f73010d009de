// Multi-head attention.
#include "multi_head_attention.h"

#include "../../ops/arrange/index.h"

namespace xgrad::nn {

void KeyValue::select(const Index& rows) { *this = KeyValue{index_select(k, 0, rows), index_select(v, 0, rows)}; }

MultiHeadAttention::MultiHeadAttention(At here, std::int64_t width, std::int64_t head_count, const Options& options)
    : Module(std::move(here)),
      dim(positive("dim", width)),
      heads(positive("heads", head_count)),
      dropout(probability("dropout", options.dropout)),
      q(at("q"), options.query ? options.query : dim, dim, {.bias = options.bias}),
      k(at("k"), options.key ? options.key : dim, dim, {.bias = options.bias}),
      v(at("v"), options.value ? options.value : dim, dim, {.bias = options.bias}),
      o(at("o"), dim, dim, {.bias = options.bias}) {
  const Scope scope(place());
  if (dim % heads != 0) fail<ValueError>("attention", "dim ", dim, " does not divide by ", heads, " heads");
}

Tensor MultiHeadAttention::operator()(const Tensor& x, const AttentionMask& mask) const {
  return (*this)(x, x, x, mask);
}

Tensor MultiHeadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMask& mask) const {
  const auto here = enter(query, key, value);
  return here(answer(query, remember(key, value), mask));
}

KeyValue MultiHeadAttention::remember(const Tensor& key, const Tensor& value) const { return {k(key), v(value)}; }

Tensor MultiHeadAttention::answer(const Tensor& query, const KeyValue& memory, const AttentionMask& mask) const {
  return o(attend_heads(*this, q(query), memory.k, memory.v, heads, mask, dropout));
}

Tensor MultiHeadAttention::attend(const Tensor& query, const KeyValue& memory, const AttentionMask& mask) const {
  const auto here = enter(query);
  return here(answer(query, memory, mask));
}

Tensor MultiHeadAttention::extend(const Tensor& x, KeyValueCache& past) const {
  const auto here = enter(x);
  Rewind undo(past);
  return undo.keep(here(o(past.attend(*this, q(x), k(x), v(x), heads, dropout))));
}

std::string MultiHeadAttention::settings() const { return cat(dim, ", ", heads, " heads"); }

}  // namespace xgrad::nn
