// functional_call: a model as a function of its parameters. clone: a second model of the same kind.
//
//     const Tensor y = nn::functional_call(net, adapted, x);       // net(x) with `adapted` as parameters
//     const auto twin = nn::clone(net);                            // another model with the same values
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

/// The scope of functional_call(). While it exists, it replaces leaves of a module by other tensors, the stand-ins; its
/// end restores the leaves. All handles of such a leaf, for example the member `weight` of a layer, then have the value
/// and the vertex of the stand-in. Copies that this thread makes of the leaf, for example in gradient rules, remain
/// handles of the stand-in. An assignment to the leaf goes to the stand-in. When a checkpoint runs its function again,
/// it uses the same stand-ins.
///
/// Threads: the leaves are replaced for all threads, so no other thread may use them. Scopes must end in the thread
/// that made them, in reverse order.
class FunctionalCall final : public xgrad::detail::CopyListener {
 public:
  /// Throws what functional_call() throws.
  [[nodiscard]] FunctionalCall(const Module& module, const Tensors& values);
  [[nodiscard]] FunctionalCall(const Module& module, const std::vector<std::pair<std::string, Tensor>>& values);
  ~FunctionalCall() override;

  void on_copy(Tensor& copy) override;
  void on_copy(const void* /*block*/, std::int64_t /*bytes*/) override {}
  std::function<std::shared_ptr<void>()> again() const override;

 private:
  // Handles of leaves, which outlive the scope and all checkpoints inside it, with stand-ins of the same shapes.
  using Pairs = std::vector<std::pair<const Tensor*, Tensor>>;

  explicit FunctionalCall(Pairs pairs);
  static Pairs pairs(const Module& module, const Tensors& values);
  static Pairs pairs(const Module& module, const std::vector<std::pair<std::string, Tensor>>& values);

  Pairs pairs_;
  Tensors before_;  // the leaves before, in the order of the pairs
  std::unordered_map<const void*, const Tensor*> stand_ins_;
};

/// Calls module(inputs...) with other tensors in place of its parameters. A list of tensors replaces all parameters, in
/// the order of parameters(). Pairs of names and tensors replace parameters and buffers with the names in
/// named_parameters() and named_buffers(). Gradients flow to the given tensors. Afterwards, also if something is
/// thrown, the module is as before. Any name of a tied parameter replaces it everywhere. If the module assigns to a
/// replaced buffer, the given tensor gets the value.
///
/// Throws ValueError for a wrong number of values, and for a name that the module does not have or that occurs twice.
/// Throws ShapeError for values of other shapes, GraphError for undefined values, and what the module throws.
///
/// Threads: no other thread may use the module during the call.
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
/// Copies the values, the modes and the frozen state from `from` to `to`, a model made in the same way.
void copy_state(const Module& from, const Module& to);
}  // namespace detail

/// A copy of a model: another model with the same options, values, modes and frozen parameters, but without the hooks.
/// The class must have a constructor (At), or a constructor (At, Options) and a member `options`, or a function
/// arguments() that returns a tuple of the constructor's arguments after the place. All layers fulfil this.
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
