// A model as a function of its parameters, and a second model of the same kind.
//
//     const Tensor y = nn::functional_call(net, adapted, x);       // net(x) with these in place of net.parameters()
//     const auto twin = nn::clone(net);                            // another net with the same numbers
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../core/array/copies.h"
#include "../module.h"

namespace xgrad::nn {

/// The scope of functional_call(): replaces leaves of a module by other tensors while it lives, and restores them when
/// it dies. Every handle of such a leaf, for example the member `weight` of a layer, then has the value and the vertex
/// of its stand-in. Copies of the leaf that are made in this thread, for example by rules, stay handles of the
/// stand-in. A value that is assigned while the scope lives is assigned to the stand-in. The second run of a checkpoint
/// has the same stand-ins.
///
/// Threads: the leaves are others for all threads, so no other may use them; it dies in the thread that made it, the
/// newest first.
class FunctionalCall final : public xgrad::detail::CopyListener {
 public:
  /// Throws as functional_call().
  [[nodiscard]] FunctionalCall(const Module& module, const Tensors& values);
  [[nodiscard]] FunctionalCall(const Module& module, const std::vector<std::pair<std::string, Tensor>>& values);
  ~FunctionalCall() override;

  void on_copy(Tensor& copy) override;
  void on_copy(const void* /*block*/, std::int64_t /*bytes*/) override {}
  std::function<std::shared_ptr<void>()> again() const override;

 private:
  // Handles of the leaves, which outlive it and all checkpoints inside of it, and stand-ins of the same shapes.
  using Pairs = std::vector<std::pair<const Tensor*, Tensor>>;

  explicit FunctionalCall(Pairs pairs);
  static Pairs pairs(const Module& module, const Tensors& values);
  static Pairs pairs(const Module& module, const std::vector<std::pair<std::string, Tensor>>& values);

  Pairs pairs_;
  Tensors before_;  // the leaves before, in the order of the pairs
  std::unordered_map<const void*, const Tensor*> stand_ins_;
};

/// module(inputs...) with other tensors in place of its parameters: for all of them in the order of parameters(), or
/// for those that are named, as in named_parameters() and named_buffers(). Gradients flow to the values, and the module
/// is as it was when this returns or throws. Any name of a tied parameter replaces it everywhere; a module's
/// assignments to a replaced buffer go to the value.
///
/// Throws ValueError for another number of values, for a name that the module does not have or that comes twice,
/// ShapeError for values of other shapes, GraphError for undefined ones, and what the module throws.
///
/// Threads: no other thread may use the module meanwhile.
template <class M, class... Inputs>
decltype(auto) functional_call(const M& module, const Tensors& values, const Inputs&... inputs) {
  const FunctionalCall scope(module, values);
  return module(inputs...);
}
template <class M, class... Inputs>
decltype(auto) functional_call(const M& module, const std::vector<std::pair<std::string, Tensor>>& values,
                               const Inputs&... inputs) {
  const FunctionalCall scope(module, values);
  return module(inputs...);
}

namespace detail {
/// Gives `to`, which was made like `from`, its numbers, modes, and what is frozen.
void copy_state(const Module& from, const Module& to);
}  // namespace detail

/// A copy of a model: another model of the same options, with the same values, modes and frozen parameters, but without
/// the hooks. The class must have a constructor (At), or (At, Options) and a member `options`, or a function
/// arguments() that returns what its constructor takes behind the place, as a tuple. Every layer has one of them.
template <class M>
std::unique_ptr<M> clone(const M& model) {
  std::unique_ptr<M> twin;
  if constexpr (requires { model.arguments(); }) {
    twin = std::apply([](const auto&... each) { return std::make_unique<M>(root, each...); }, model.arguments());
  } else if constexpr (requires { M(root, model.options); }) {
    twin = std::make_unique<M>(root, model.options);
  } else {
    static_assert(std::is_constructible_v<M, At>,
                  "clone(model): its class has no constructor (At), none (At, Options) with a member options, and no "
                  "function arguments() that returns what the constructor takes behind the place");
    twin = std::make_unique<M>(root);
  }
  detail::copy_state(model, *twin);
  return twin;
}

}  // namespace xgrad::nn
