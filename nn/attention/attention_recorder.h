// AttentionRecorder: a scope that records the weights of attention layers, and functions by which layers pass their
// weights to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/graph/observe.h"
#include "../../ops/network/attention.h"
#include "../module.h"

namespace xgrad::nn {

/// While a recorder exists, it stores the attention weights, before dropout, of the layers that this thread runs, for
/// example to draw heat maps. It records all layers, or only those of one module.
///
///     nn::AttentionRecorder recorder(model);
///     model(source, lengths, target);
///     const Array weights = recorder.last("encoder.blocks.0.attn");        // (B, H, T, S)
///
/// Layers pass their weights to observers under the name "attention_weights".
class AttentionRecorder : public Observer {
 public:
  struct Record {
    std::string path;  ///< path of the module
    Array weights;     ///< (B, H, T, S)
  };

  AttentionRecorder() = default;
  /// Records only the layers of this model, or of this part of a model. The module must outlive the recorder.
  explicit AttentionRecorder(const Module& only) : only_(&only) {}
  AttentionRecorder(const Module&&) = delete;

  /// All records, in the order in which the layers ran.
  const std::vector<Record>& records() const { return records_; }
  /// The newest weights of a module. If it has not run, throws ValueError, which lists the recorded paths.
  Array last(std::string_view path) const;

  bool wants(std::string_view what, const void* module) const override;
  void intermediate(std::string_view what, const std::string& path, const Array& weights) override;

 private:
  const Module* only_ = nullptr;
  std::vector<Record> records_;
};

/// For authors of attention layers: passes the array that weights() returns, (B, H, T, S), to the recorders.
template <class F>
void show_attention_weights(const Module& module, const F& weights) {
  show_intermediate(module, "attention_weights", weights);
}

/// For authors of attention layers: calls multi_head_attention, with `dropout` only in training mode, and passes the
/// weights to the recorders. Throws what multi_head_attention throws.
Tensor attend_heads(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                    const AttentionMask& mask, double dropout, std::optional<std::int64_t> kv_heads = {});
/// The same for queries, keys and values concatenated along the last axis: qkv (B, T, (H + 2 kv_heads) d).
Tensor attend_packed_heads(const Module& module, const Tensor& qkv, std::int64_t heads, const AttentionMask& mask,
                           double dropout, std::optional<std::int64_t> kv_heads = {});

}  // namespace xgrad::nn
