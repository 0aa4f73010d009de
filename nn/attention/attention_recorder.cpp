// A scope that keeps the weights of attention layers.
#include "attention_recorder.h"

#include <algorithm>

#include "../../ops/shape/slice.h"

namespace xgrad::nn {

bool AttentionRecorder::wants(std::string_view what, const void* module) const {
  return what == "attention_weights" && (!only_ || static_cast<const Module*>(module)->is_within(*only_));
}

void AttentionRecorder::intermediate(std::string_view, const std::string& path, const Array& weights) {
  records_.push_back({path, weights});
}

Array AttentionRecorder::last(std::string_view path) const {
  for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
    if (record->path == path) return record->weights;
  }
  std::vector<std::string> paths;
  for (const Record& record : records_) {
    const std::string& name = record.path.empty() ? "the model itself, ''" : record.path;
    if (std::ranges::find(paths, name) == paths.end()) paths.push_back(name);
  }
  fail<ValueError>("attention_recorder", "no weights of '", path, "', only of ", paths);
}

Tensor attend_heads(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                    const AttentionMask& mask, double dropout, std::optional<std::int64_t> kv_heads) {
  show_attention_weights(module,
                         [&] { return attention_weights(q, k, heads, {.mask = mask, .kv_heads = kv_heads}).value(); });
  const double p = module.training() ? dropout : 0;
  return multi_head_attention(q, k, v, heads, {.mask = mask, .dropout = p, .kv_heads = kv_heads});
}

Tensor attend_packed_heads(const Module& module, const Tensor& qkv, std::int64_t heads, const AttentionMask& mask,
                           double dropout, std::optional<std::int64_t> kv_heads) {
  show_attention_weights(module, [&] {
    const std::int64_t own = kv_heads.value_or(heads), d = qkv.dim(-1) / (heads + 2 * own);
    const Tensor q = narrow(qkv, -1, 0, heads * d), k = narrow(qkv, -1, heads * d, own * d);
    return attention_weights(q, k, heads, {.mask = mask, .kv_heads = kv_heads}).value();
  });
  const double p = module.training() ? dropout : 0;
  return multi_head_attention(qkv, heads, {.mask = mask, .dropout = p, .kv_heads = kv_heads});
}

}  // namespace xgrad::nn
