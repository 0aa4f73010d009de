// A scope that keeps the weights of attention layers, and how layers offer them to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../ops/attention.h"
#include "module.h"

namespace xgrad::nn {

/// While it lives, attention layers of this thread also keep their weights (before dropout), for heat maps.
///
///     const nn::AttentionRecorder recorder;
///     model(source, lengths, target);
///     const Array weights = recorder.last("encoder.blocks.0.attn");        // (B, H, T, S)
///
/// Threads: a recorder sees the thread that made it, which also reads it and ends it; several may end in any order.
class AttentionRecorder {
 public:
  struct Record {
    std::string path;  ///< of the module
    Array weights;     ///< (B, H, T, S)
  };

  AttentionRecorder();
  ~AttentionRecorder();
  AttentionRecorder(const AttentionRecorder&) = delete;
  AttentionRecorder& operator=(const AttentionRecorder&) = delete;

  /// In the order in which the layers ran.
  const std::vector<Record>& records() const { return records_; }
  /// The newest weights of a module. Throws ValueError, with the paths there are, if it has not run.
  const Array& last(std::string_view path) const;

  /// For those who write attention layers: gives the current recorder, if there is one, what `weights()` returns.
  template <class F>
  static void offer(const Module& module, const F& weights) {
    if (current_) current_->records_.push_back({module.path(), weights()});
  }

 private:
  std::vector<Record> records_;
  AttentionRecorder* outer_;
  static thread_local constinit AttentionRecorder* current_;
};

/// For those who write attention layers: multi_head_attention with the dropout that the module's mode asks for, and the
/// weights offered to the recorder. Throws as multi_head_attention.
Tensor attend_heads(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                    const AttentionMask& mask, double dropout, std::optional<std::int64_t> kv_heads = {});
/// The same with queries, keys and values side by side, (B, T, (H + 2 kv_heads) d).
Tensor attend_packed_heads(const Module& module, const Tensor& qkv, std::int64_t heads, const AttentionMask& mask,
                           double dropout, std::optional<std::int64_t> kv_heads = {});

}  // namespace xgrad::nn
