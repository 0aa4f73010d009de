// KeyValueCache: the keys and values of the positions so far, kept from step to step of causal self-attention.
#pragma once

#include <optional>

#include "../base/rewind.h"
#include "attention_recorder.h"

namespace xgrad::nn {

/// Keys and values of B sequences, position by position, in a block of some capacity. A step appends in place; a full
/// block is replaced by one twice as large. Copies of a cache are copy-on-write. While gradients are recorded, nothing
/// is written in place. Threads: one at a time; copies may belong to different threads.
class KeyValueCache {
 public:
  /// The first block holds `capacity` positions, or for the first append if that is longer. Throws ValueError
  /// below 1.
  explicit KeyValueCache(std::int64_t capacity);
  KeyValueCache() : KeyValueCache(64) {}

  /// The number of positions.
  std::int64_t length() const { return length_; }
  /// (B, length, .); undefined when there are none yet.
  Tensor keys() const { return present(keys_); }
  Tensor values() const { return present(values_); }

  /// Appends the keys and values of T more positions, both (B, T, .). Throws ShapeError for another batch size or other
  /// widths than before; when it throws, the cache is unchanged.
  void append(const Tensor& k, const Tensor& v);
  /// Keeps only the first `length` positions, to undo what was appended. Throws ValueError if there are fewer.
  void rewind(std::int64_t length);
  /// Row rows[i] of the batch becomes row i; the capacity stays. Throws ValueError for a row that does not exist.
  void select(const Index& rows);

  /// For authors of attention layers: appends k and v (B, T, .), then attend_heads() with queries q (B, T, H d) of the
  /// T new positions, each of which sees itself and those before; with a window, itself and window - 1 before. Throws
  /// as append() and multi_head_attention, ValueError for a window below 1; then the cache is unchanged.
  Tensor attend(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                double dropout, std::optional<std::int64_t> kv_heads = {}, std::optional<std::int64_t> window = {});

 private:
  Tensor present(const Tensor& all) const;
  AttentionMask seen_by_last(std::int64_t T) const;

  Tensor keys_, values_;  // (B, capacity, .), of which `length_` positions count
  std::int64_t length_ = 0, capacity_;
};

namespace detail {
/// Throws ValueError unless 0 <= length <= of, for `op`.
void check_rewind(const char* op, std::int64_t length, std::int64_t of);
}  // namespace detail

}  // namespace xgrad::nn
