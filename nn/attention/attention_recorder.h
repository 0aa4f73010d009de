// A scope that keeps the weights of attention layers, and how layers show them to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/graph/observe.h"
#include "../../ops/network/attention.h"
#include "../module.h"

namespace xgrad::nn {

/// While it lives, attention layers of this thread also keep their weights (before dropout), for heat maps: all layers,
/// or those of one module.
///
///     nn::AttentionRecorder recorder(model);
///     model(source, lengths, target);
///     const Array weights = recorder.last("encoder.blocks.0.attn");        // (B, H, T, S)
///
/// Layers show them as the intermediate "attention_weights".
class AttentionRecorder : public Observer {
 public:
  struct Record {
    std::string path;  ///< of the module
    Array weights;     ///< (B, H, T, S)
  };

  AttentionRecorder() = default;
  /// Records only the layers of this model, or of this part of one, which must outlive the recorder.
  explicit AttentionRecorder(const Module& only) : only_(&only) {}
  AttentionRecorder(const Module&&) = delete;

  /// In the order in which the layers ran.
  const std::vector<Record>& records() const { return records_; }
  /// The newest weights of a module. Throws ValueError, with the paths there are, if it has not run.
  Array last(std::string_view path) const;

  bool wants(std::string_view what, const void* module) const override;
  void intermediate(std::string_view what, const std::string& path, const Array& weights) override;

 private:
  const Module* only_ = nullptr;
  std::vector<Record> records_;
};

/// For authors of attention layers: passes the result of weights(), (B, H, T, S), to the recorders.
template <class F>
void show_attention_weights(const Module& module, const F& weights) {
  show_intermediate(module, "attention_weights", weights);
}

/// For authors of attention layers: multi_head_attention with the dropout that the module's mode asks for, and the
/// weights shown to the recorder. Throws as multi_head_attention.
Tensor attend_heads(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                    const AttentionMask& mask, double dropout, std::optional<std::int64_t> kv_heads = {});
/// The same with queries, keys and values side by side, (B, T, (H + 2 kv_heads) d).
Tensor attend_packed_heads(const Module& module, const Tensor& qkv, std::int64_t heads, const AttentionMask& mask,
                           double dropout, std::optional<std::int64_t> kv_heads = {});

}  // namespace xgrad::nn
