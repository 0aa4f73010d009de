// Keys and values from step to step.
#include "key_value_cache.h"

#include <algorithm>

#include "../../core/base/assert.h"
#include "../../core/graph/record.h"
#include "../../ops/creation/create.h"
#include "../../ops/indexing/index.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/slice.h"
#include "masks.h"

namespace xgrad::nn {
namespace {

// Whether positions up to `end` can be written in place: the block has no other owner, no graph either.
bool writable(const Tensor& all, std::int64_t end) {
  using xgrad::detail::Engine;
  return all.defined() && all.dim(1) >= end && Engine::unique(all) && Engine::value(all).unique() && all.is_leaf() &&
         !all.requires_grad();
}

// Copies the first `count` positions of `from` (B, ., C) to `to` (B, capacity, C), from `begin` on.
void write(Array& to, std::int64_t begin, const Array& from, std::int64_t count) {
  const std::int64_t B = to.dim(0), capacity = to.dim(1), C = to.dim(2), step = from.dim(1);
  XGRAD_ASSERT(count <= step && begin + count <= capacity);
  Real* out = to.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) {
    std::copy_n(from.data() + b * step * C, count * C, out + (b * capacity + begin) * C);
  }
}

// A new block for `capacity` positions like those of `fresh`, beginning with the first `length` of `all`.
Tensor with_capacity(const Tensor& all, std::int64_t length, const Tensor& fresh, std::int64_t capacity) {
  Array block(Shape{fresh.dim(0), capacity, fresh.dim(2)});
  if (length > 0) write(block, 0, all.value(), length);
  return Tensor(std::move(block));
}

// These rows of the batch, the first `length` positions of each, in a block of the same capacity.
Tensor selected(const Tensor& all, std::int64_t length, const Index& rows) {
  if (recording() && all.requires_grad()) return index_select(narrow(all, 1, 0, length), 0, rows);
  const Index from = index_select(arange(all.dim(0)), 0, rows);
  const std::int64_t capacity = all.dim(1), C = all.dim(2);
  Array block(Shape{from.size(), capacity, C});
  Real* out = block.mutable_data();
  for (const std::int64_t row : from) {
    std::copy_n(all.value().data() + row * capacity * C, length * C, out);
    out += capacity * C;
  }
  return Tensor(std::move(block));
}

}  // namespace

KeyValueCache::KeyValueCache(std::int64_t capacity) : capacity_(capacity) {
  if (capacity < 1) fail<ValueError>("key_value_cache", "a capacity of ", capacity, " positions");
}

Tensor KeyValueCache::present(const Tensor& all) const {
  if (length_ == 0) return {};
  return length_ == all.dim(1) ? all : narrow(all, 1, 0, length_);
}

void KeyValueCache::append(const Tensor& k, const Tensor& v) {
  for (const auto& [fresh, all] : {std::pair(&k, &keys_), std::pair(&v, &values_)}) {
    if (fresh->rank() != 3 || fresh->dim(0) != k.dim(0) || fresh->dim(1) != k.dim(1)) {
      fail<ShapeError>("attention", "needs keys and values (batch, positions, width): ", k.shape(), " and ", v.shape());
    }
    if (length_ == 0) continue;
    const Shape past{all->dim(0), length_, all->dim(2)};
    if (fresh->dim(0) != past[0]) {
      fail<ShapeError>("attention", "batch sizes differ: ", fresh->shape(), " after a past of ", past);
    }
    if (fresh->dim(2) != past[2]) {
      fail<ShapeError>("attention", "widths differ: ", fresh->shape(), " after a past of ", past);
    }
  }
  const std::int64_t T = k.dim(1), end = length_ + T;
  const auto in_graph = [](const Tensor& x) { return x.defined() && x.requires_grad(); };
  if (recording() && (in_graph(k) || in_graph(v) || (length_ > 0 && (in_graph(keys_) || in_graph(values_))))) {
    replace(length_ == 0 ? k : concat({keys(), k}, 1), length_ == 0 ? v : concat({values(), v}, 1));
    length_ = end;
    return;
  }
  const bool fits = length_ > 0 || (keys_.defined() && keys_.dim(0) == k.dim(0) && keys_.dim(2) == k.dim(2) &&
                                    values_.dim(2) == v.dim(2));
  if (!fits || !writable(keys_, end) || !writable(values_, end)) {
    const std::int64_t had = keys_.defined() ? keys_.dim(1) : 0;
    const std::int64_t capacity = std::max({capacity_, end, had < end ? 2 * had : had});
    replace(with_capacity(keys_, length_, k, capacity), with_capacity(values_, length_, v, capacity));
  }
  write(xgrad::detail::Engine::own_value(keys_), length_, k.value(), T);
  write(xgrad::detail::Engine::own_value(values_), length_, v.value(), T);
  length_ = end;
}

void detail::check_rewind(const char* op, std::int64_t length, std::int64_t of) {
  if (length < 0 || length > of) fail<ValueError>(op, "rewind to position ", length, " of ", of);
}

void KeyValueCache::rewind(std::int64_t length) {
  detail::check_rewind("key_value_cache", length, length_);
  length_ = length;
}

void KeyValueCache::select(const Index& rows) {
  if (length_ == 0) return replace({}, {});
  replace(selected(keys_, length_, rows), selected(values_, length_, rows));
}

AttentionMask KeyValueCache::seen_by_last(std::int64_t T) const {
  const std::int64_t B = keys_.dim(0);
  if (T == 1) return {.lengths = Index(Shape{B}, length_)};
  Index lengths(Shape{B, T});
  std::int64_t* out = lengths.mutable_data();
  for (std::int64_t i = 0; i < B * T; ++i) out[i] = length_ - T + 1 + i % T;
  return {.lengths = std::move(lengths)};
}

Tensor KeyValueCache::attend(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v,
                             std::int64_t heads, double dropout, std::optional<std::int64_t> kv_heads,
                             std::optional<std::int64_t> window) {
  if (window && *window < 1) fail<ValueError>("attention", "window ", *window, " is not positive");
  Rewind undo(*this);
  append(k, v);
  const std::int64_t T = k.dim(1);
  if (window && *window < length_) {
    const std::int64_t S = std::min(length_, *window - 1 + T);
    const Tensor near_k = narrow(keys_, 1, length_ - S, S), near_v = narrow(values_, 1, length_ - S, S);
    AttentionMask mask;
    if (T > 1) mask.masked = window_mask(S, {.before = *window - 1})[{slice(S - T, S)}];
    return undo.keep(attend_heads(module, q, near_k, near_v, heads, mask, dropout, kv_heads));
  }
  const AttentionMask mask = seen_by_last(T);
  show_attention_weights(
      module, [&] { return attention_weights(q, keys(), heads, {.mask = mask, .kv_heads = kv_heads}).value(); });
  const double p = module.training() ? dropout : 0;
  return undo.keep(multi_head_attention(q, keys_, values_, heads, {.mask = mask, .dropout = p, .kv_heads = kv_heads}));
}

}  // namespace xgrad::nn
