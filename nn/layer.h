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
// `using Layer::Layer;` inherits the constructor. Without it, Block(nn::root) does not compile.
//
// A layer without options derives from Layer<Block>. forward may change an argument, as in forward(x, KeyValueCache&
// past). An argument in braces must name its type: encoder(ids, nn::AttentionMask{.causal = true}).
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/rewind.h"
#include "module.h"

namespace xgrad::nn {

namespace detail {
/// Throws ValueError, which says that the class of the module derives from `layer` and that its own forward is not
/// called.
[[noreturn]] void refuse_derived(const Module& module, Class layer);
}  // namespace detail

/// The operator() of layers. It calls Self::forward in the scope of the layer, so that errors, nodes of the graph and
/// profiles name the layer.
template <class Self>
class LayerCall : public Module {
 public:
  /// Calls forward(inputs...) in the scope of the layer. The forward hooks then get the result if it is a Tensor, or
  /// its member `output` if it has one. If anything throws, states among the inputs are restored (rewind.h). Calling
  /// forward directly skips all this, as in PyTorch. Throws what forward throws. In a class derived from Self, throws
  /// ValueError, because the forward of that class would not be called.
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
  /// Compile error that says why the arguments do not fit.
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

/// The base class of a layer with options, which are an aggregate. Members of the layer are declared after `options`
/// and may use them. If Self has a `static void check(const Options&)`, it is called before any member is made. It
/// throws for invalid options, and its errors name the place of the layer.
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
  /// Compile error that says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit Layer(Module::Placeless, const Rest&...);

  const Options options;
};

/// The base class of a layer without options.
template <class Self>
class Layer<Self, void> : public LayerCall<Self> {
 public:
  explicit Layer(At here) : LayerCall<Self>(std::move(here)) {}
  /// Compile error that says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit Layer(Module::Placeless, const Rest&...);
};

}  // namespace xgrad::nn
