// Parameters that a layer computes each time it runs.
//
//     std::vector<std::unique_ptr<nn::Lora>> adapters;   // fine-tuning: W + B A in every map of a model
//     nn::freeze(model);
//     model.apply<nn::Linear>([&](nn::Linear& l) { adapters.push_back(std::make_unique<nn::Lora>(l)); });
//
// The layer's own parameter stays a parameter under its name, and the new value is computed from it; the
// parametrization becomes a child of the layer. The layer runs with the new value, and errors, hooks, gradients and
// graphs see that; code that reads `fc.weight` outside of the layer's run, as for tied weights, sees the plain one.
// Works for layers whose operator() enters (Layer, enter()), as those of the library do.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "module.h"

namespace xgrad::nn {

/// The base of parametrizations, which compute a parameter of a layer anew in each run, from the parameter and from
/// parameters of their own. While it lives, the layer runs with the result; when it dies, with the plain parameter
/// again. Several for one parameter follow one another. Layer and parametrization may die in any order.
///
///     struct Symmetric : nn::Parametrization {
///       explicit Symmetric(nn::Module& layer) : Parametrization(layer, "weight", "symmetric") {}
///       Tensor compute(const Tensor& plain) const override { return (plain + transpose(plain, 0, 1)) / 2; }
///     };
///
/// Threads: unlike other modules, a layer that has parametrizations is run by one thread at a time.
class Parametrization : public Module {
 public:
  ~Parametrization() override;

  /// The value that the layer runs with. Throws GraphError if the layer is gone, ShapeError if compute() gives another
  /// shape.
  Tensor value() const;

 protected:
  /// For a parameter of this layer itself, not of one below it; the child is called `weight_symmetric`. Throws
  /// ValueError if the layer has no such parameter, with those that it has, or already has a child of this name.
  Parametrization(Module& layer, std::string_view parameter, std::string_view name);

  /// The value for the plain parameter, in the shape of that; differentiable, and run within the layer's place.
  virtual Tensor compute(const Tensor& plain) const = 0;
  /// The layer's parameter. Throws GraphError if the layer is gone.
  const Tensor& plain() const;

 private:
  friend class Entered;
  Tensor checked(const Tensor& plain) const;
  static std::shared_ptr<void> all_of(const Module& layer);

  std::size_t entry_;  // of the layer's
};

struct LoraOptions {
  std::string parameter = "weight";
  std::int64_t rank = 8;
  double alpha = 8;  ///< scales the change by alpha / rank
};
/// W + (alpha / rank) B A: a change of low rank that is trained in place of W (Hu et al. 2021). A (rank, columns) is
/// drawn, B (rows, rank) is 0, so the layer is at first unchanged. More than two axes of W are taken as rows and the
/// rest, as for convolutions. To freeze W, call nn::freeze(model) first. The child is `weight_lora`.
struct Lora : Parametrization {
  using Options = LoraOptions;

  /// Throws as Parametrization; ShapeError for a parameter of less than two axes, ValueError for a rank below 1.
  explicit Lora(Module& layer, const Options& options = {});

  /// Adds the change to W and makes it 0, so that the layer still computes the same.
  void merge() const;

  const Options options;
  const Tensor a, b;

 protected:
  Tensor compute(const Tensor& plain) const override;
};

}  // namespace xgrad::nn
