// KeyValueCache: the keys and values of earlier positions, cached for decoding step by step with causal self-attention.
#pragma once

#include <optional>

#include "../base/rewind.h"
#include "attention_recorder.h"

namespace xgrad::nn {

/// Keys and values of B sequences. They are stored in a block of memory for a fixed number of positions, to which each
/// step appends in place. When the block is full, a block of twice the capacity replaces it. If gradients are recorded,
/// keys and values are concatenated instead. Copies of a cache are copy-on-write.
/// Threads: one thread at a time; copies may belong to different threads.
class KeyValueCache {
 public:
  /// A cache whose first block holds `capacity` positions, or more if the first append is longer. Throws ValueError for
  /// a capacity below 1.
  explicit KeyValueCache(std::int64_t capacity);
  KeyValueCache() : KeyValueCache(64) {}

  /// The number of positions.
  std::int64_t length() const { return length_; }
  /// The keys and values so far, (B, length, .); undefined while the cache is empty.
  Tensor keys() const { return present(keys_); }
  Tensor values() const { return present(values_); }

  /// Appends the keys and values of T more positions, both (B, T, .). Throws ShapeError if the batch size or a width
  /// differs from that of the earlier positions; the cache is then unchanged.
  void append(const Tensor& k, const Tensor& v);
  /// Keeps only the first `length` positions, to undo an append. Throws ValueError if there are fewer.
  void rewind(std::int64_t length);
  /// Row rows[i] of the batch becomes row i; the capacity stays the same. Throws ValueError for a row that does not
  /// exist.
  void select(const Index& rows);

  /// For authors of attention layers: appends k and v (B, T, .), then calls attend_heads() with the queries q (B, T, H
  /// d) of these T positions. Each position attends to itself and all earlier ones, or with a window to itself and the
  /// window - 1 positions before. Throws what append() and multi_head_attention throw, and ValueError for a window
  /// below 1; the cache is then unchanged.
  Tensor attend(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                double dropout, std::optional<std::int64_t> kv_heads = {}, std::optional<std::int64_t> window = {});

 private:
  Tensor present(const Tensor& all) const;
  // By value: if making an argument throws, neither tensor is replaced.
  void replace(Tensor k, Tensor v) {
    keys_ = std::move(k);
    values_ = std::move(v);
  }
  AttentionMask seen_by_last(std::int64_t T) const;

  Tensor keys_, values_;  // (B, capacity, .); the first `length_` positions are valid
  std::int64_t length_ = 0, capacity_;
};

namespace detail {
/// Throws ValueError, which names `op`, unless 0 <= length <= of.
void check_rewind(const char* op, std::int64_t length, std::int64_t of);
}  // namespace detail

}  // namespace xgrad::nn
