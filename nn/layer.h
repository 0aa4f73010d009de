// Layer: the base class of your own layers.
//
//     struct BlockOptions {
//       std::int64_t dim = 64, heads = 4;
//     };
//     struct Block : nn::Layer<Block, BlockOptions> {
//       using Layer::Layer;
//       nn::LayerNorm          norm{at("norm"), options.dim};
//       nn::MultiHeadAttention attn{at("attn"), options.dim, options.heads};
//
//       Tensor forward(const Tensor& x) const { return x + attn(norm(x)); }   // (B, T, C)
//     };
//
//     const Block block{nn::root, {.dim = 128}};   // or, in a model: Block block{at("block"), {.dim = 128}};
//     const Tensor y = block(x);
//
// `using Layer::Layer;` is the constructor: without it the compiler finds none for Block(nn::root).
//
// A layer without options is a Layer<Block>. forward may change an argument: forward(x, KeyValueCache& past). An
// argument in braces must name its type: encoder(ids, nn::AttentionMask{.causal = true}).
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/rewind.h"
#include "module.h"

namespace xgrad::nn {

namespace detail {
/// Throws ValueError: the module is of a class derived from `layer`, whose forward does not run.
[[noreturn]] void refuse_derived(const Module& module, Class layer);
}  // namespace detail

/// The operator() of layers: Self::forward in the scope of the layer, so that errors, nodes of the graph and profiles
/// name it.
template <class Self>
class LayerCall : public Module {
 public:
  /// forward(inputs...) in this scope. The forward hooks are applied to the result if it is a Tensor, or to its member
  /// `output` if it has one. If anything throws, the states among the inputs are as before (rewind.h). (Calling forward
  /// itself skips all this, as in PyTorch.) Throws what forward throws, and ValueError in a class derived from Self,
  /// whose own forward would not run.
  template <class... Inputs, class S = Self>
  requires requires(const S& self, Inputs&&... inputs) { self.forward(std::forward<Inputs>(inputs)...); }
  decltype(auto) operator()(Inputs&&... inputs) const {
    const S& self = static_cast<const S&>(*this);
    if (Class::of(self) != Class::of<S>()) [[unlikely]]
      detail::refuse_derived(self, Class::of<S>());
    const ModuleScope here = enter(inputs...);
    std::tuple<Rewind<std::remove_reference_t<Inputs>>...> undo(inputs...);
    using Result = decltype(self.forward(std::forward<Inputs>(inputs)...));
    Result y = self.forward(std::forward<Inputs>(inputs)...);
    if constexpr (std::is_same_v<Result, Tensor>) {
      y = here(std::move(y));
    } else if constexpr (requires { y.output = here(y.output); }) {
      y.output = here(y.output);
    }
    std::apply([](auto&... each) { (each.keep(), ...); }, undo);
    return y;
  }
  /// Does not compile: says why the call does not fit.
  template <class... Inputs, class S = Self>
  requires(!requires(const S& self, Inputs&&... inputs) {
    self.forward(std::forward<Inputs>(inputs)...);
  }) detail::ForwardTakesOtherInputs
  operator()(Inputs&&...) const {
    return detail::ForwardTakesOtherInputs::refuse<Inputs...>();
  }

 protected:
  explicit LayerCall(At here) : Module(std::move(here)) {}

  std::string class_name() const override {
    return (dynamic_cast<const Self*>(this) ? Class::of(*this) : Class::of<Self>()).name();
  }
};

/// A layer with these options, an aggregate. Members are declared after it and may use them. Where Self has a
/// `static void check(const Options&)`, that is called before any member is made: it throws for options that make no
/// sense, and errors name the layer's place.
template <class Self, class OptionsOf = void>
class Layer : public LayerCall<Self> {
 public:
  using Options = OptionsOf;

  explicit Layer(At here, const Options& given = {}) : LayerCall<Self>(std::move(here)), options(given) {
    if constexpr (requires { Self::check(given); }) {
      const Scope scope(this->place());
      Self::check(given);
    }
  }
  /// Says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit Layer(Module::Placeless, const Rest&...);

  const Options options;
};

/// A layer without options.
template <class Self>
class Layer<Self, void> : public LayerCall<Self> {
 public:
  explicit Layer(At here) : LayerCall<Self>(std::move(here)) {}
  /// Says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit Layer(Module::Placeless, const Rest&...);
};

}  // namespace xgrad::nn
