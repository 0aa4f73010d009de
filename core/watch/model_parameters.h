// The parameters that belong to one model: for code that holds only tensors, such as an optimizer, and asks about their
// modules.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "../graph/tensor.h"

namespace xgrad::detail {

/// The parameters that the modules of one model have declared, as long as these modules live. Threads: several may call
/// everything here at once.
class ModelParameters : public std::enable_shared_from_this<ModelParameters> {
 public:
  ModelParameters() = default;
  ModelParameters(const ModelParameters&) = delete;
  ModelParameters& operator=(const ModelParameters&) = delete;
  ~ModelParameters();

  void add(const Tensor& parameter);
  void remove(const Tensor& parameter) noexcept;
  /// The same for a buffer that holds whole numbers.
  static void add_whole(const Tensor& buffer);
  static void remove_whole(const Tensor& buffer) noexcept;

  /// The number of parameters ever added.
  std::uint64_t declared() const { return declared_.load(std::memory_order_relaxed); }
  /// Parameters added after the first `count` that still exist, in the order of their declaration.
  Tensors since(std::uint64_t count) const;

  /// The model of a parameter, given its node; nullptr if no living module has declared it.
  static std::shared_ptr<const ModelParameters> of(const Node* parameter);
  /// Whether this is a buffer of whole numbers of a living module, given its node.
  static bool is_whole(const Node* buffer);

 private:
  std::map<std::uint64_t, Tensor> living_;
  std::atomic<std::uint64_t> declared_{0};
};

}  // namespace xgrad::detail
