// Substitution: other tensors in place of a module's parameters, for functional_call().
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../core/array/copies.h"
#include "../core/graph/tensor.h"

namespace xgrad::nn::detail {

/// Replaces leaves by other tensors while it lives, and restores them when it dies. Every handle of such a leaf, the
/// member `weight` of a layer, then has the value and the vertex of its stand-in; copies made of it in this thread, as
/// rules make them, are handles of the stand-in and stay so. A value that is assigned meanwhile is the stand-in's. The
/// second run of a checkpoint has the same stand-ins.
///
/// Threads: the leaves are others for all threads, so no other may use them; it dies in the thread that made it, the
/// newest first.
class Substitution final : public xgrad::detail::CopyListener {
 public:
  /// Handles of the leaves, which outlive it and all checkpoints inside of it, and stand-ins of the same shapes.
  using Pairs = std::vector<std::pair<const Tensor*, Tensor>>;

  [[nodiscard]] explicit Substitution(Pairs pairs);
  ~Substitution() override;

  void saw(Tensor& copy) override;
  void saw(const void* /*block*/, std::int64_t /*bytes*/) override {}
  std::function<std::shared_ptr<void>()> again() const override;

 private:
  Pairs pairs_;
  Tensors before_;  // the leaves before, in the order of the pairs
  std::unordered_map<const void*, const Tensor*> stand_ins_;
};

}  // namespace xgrad::nn::detail
