// What causal self-attention remembers from step to step: the keys and values of the positions so far.
#pragma once

#include <optional>
#include <utility>

#include "attention_recorder.h"

namespace xgrad::nn {

struct LanguageState;
struct DecoderState;
template <class State>
class Rewind;

/// Keys and values of B sequences, position by position, in a block with room for more: a step writes its own behind
/// those that are there, and copies nothing. When the room is used up, a block twice as large takes its place.
///
/// Copies of a cache share the block until one of them goes on, which then gets a block of its own. Where gradients are
/// wanted nothing is written in place: what a graph has seen does not change.
///
/// Threads: one at a time; copies may belong to different threads.
class KeyValueCache {
 public:
  /// The first block has room for so many positions, or for those that come first if they are more. Throws ValueError
  /// below 1.
  explicit KeyValueCache(std::int64_t room);
  KeyValueCache() : KeyValueCache(64) {}

  /// How many positions there are.
  std::int64_t length() const { return length_; }
  /// (B, length, .); undefined when there are none yet.
  Tensor keys() const { return present(keys_); }
  Tensor values() const { return present(values_); }

  /// Takes in the keys and values of T more positions, both (B, T, .). Throws ShapeError if they are not of the batch
  /// and the widths of those before; when it throws, the cache is as it was.
  void append(const Tensor& k, const Tensor& v);
  /// Forgets all but the first `length` positions: takes back what was appended. Throws ValueError if there are not so
  /// many.
  void rewind(std::int64_t length);
  /// Row rows[i] of the batch becomes row i; the block keeps its room. Throws ValueError for a row that does not exist.
  void select(const Index& rows);

  /// For those who write attention layers: takes in k and v (B, T, .), and lets the T new positions see those before,
  /// themselves, and nothing behind: attend_heads() with queries q (B, T, H d). With a window, each sees itself and
  /// window - 1 before. Throws as append() and multi_head_attention, ValueError for a window below 1; then the cache is
  /// as it was.
  Tensor attend(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                double dropout, std::optional<std::int64_t> kv_heads = {}, std::optional<std::int64_t> window = {});

 private:
  friend class Rewind<KeyValueCache>;
  friend LanguageState;
  friend DecoderState;

  void go_back(std::int64_t length) noexcept { length_ = length; }  // to positions that are there
  Tensor present(const Tensor& all) const;
  AttentionMask seen_by_last(std::int64_t T) const;

  Tensor keys_, values_;  // (B, room, .), of which `length_` positions count
  std::int64_t length_ = 0, room_;
};

namespace detail {
/// Throws ValueError unless 0 <= length <= of, for `op`.
void check_rewind(const char* op, std::int64_t length, std::int64_t of);
}  // namespace detail

/// Takes a cache, or a state made of caches, back to where it was, unless what began went well:
///
///     Rewind undo(past);
///     const Tensor y = undo.keep(o(past.attend(layer, q, k, v, heads, dropout)));
template <class State>
class [[nodiscard]] Rewind {
 public:
  [[nodiscard]] explicit Rewind(State& state) : state_(state), length_(state.length()) {}
  ~Rewind() {
    if (!kept_) state_.go_back(length_);
  }
  Rewind(const Rewind&) = delete;
  Rewind& operator=(const Rewind&) = delete;

  Tensor keep(Tensor result) {
    kept_ = true;
    return result;
  }

 private:
  State& state_;
  std::int64_t length_;
  bool kept_ = false;
};

}  // namespace xgrad::nn
