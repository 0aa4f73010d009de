// The model that a leaf of the graph belongs to as a parameter: for code that holds only tensors, such as an optimizer,
// and asks about their modules. Nodes refer to it, so it is here, below the modules and the optimizers that use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "tensor.h"

namespace xgrad::detail {

/// The parameters that the modules of one model have declared, as long as these modules live. The node of each refers
/// to it. Threads: as for a container, and for the name of a tensor.
class ModelParameters {
 public:
  static void add(const std::shared_ptr<ModelParameters>& model, const Tensor& parameter);
  void remove(const Tensor& parameter) noexcept;

  /// The number of parameters ever added.
  std::uint64_t declared() const { return declared_; }
  /// Parameters added after the first `count` that still exist, in the order of their declaration.
  Tensors declared_after(std::uint64_t count) const;

  /// The model of a parameter, given its node; nullptr if no living module has declared it.
  static std::shared_ptr<const ModelParameters> of(const Node* parameter);
  /// Whether the module that declared a parameter is gone.
  static bool is_orphan(const Node* parameter);
  /// Marks a buffer that holds integers.
  static void mark_integers(const Tensor& buffer);
  /// Whether this is such a buffer.
  static bool has_integers(const Tensor& buffer);

 private:
  static constexpr std::uint64_t removed = ~std::uint64_t{0};  // in place of the number of a parameter

  std::map<std::uint64_t, Tensor> living_;  // by the number of those declared before
  std::uint64_t declared_ = 0;
};

/// Lets gradients flow to parameters, or freezes them. Returns their number. Throws GraphError, naming `op`, if one is
/// no leaf; then nothing has changed.
std::int64_t set_requires_grad(const char* op, const Tensors& parameters, bool wanted);

}  // namespace xgrad::detail
