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
// A layer without options is a Layer<Block>. Where forward takes settings that callers write in braces, or a state that
// it changes, derive from Module and write operator() with enter(): the type of braces cannot be deduced.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "module.h"

namespace xgrad::nn {

namespace detail {
// The result of a call that does not compile: its name is in the error.
struct ForwardTakesOtherInputs {};

// Whether f(inputs...) compiles. (std::invocable also holds for calls whose result is the one above.)
template <class F, class... Inputs>
concept Takes = std::invocable<const F&, const Inputs&...> &&
                !std::same_as<std::invoke_result_t<const F&, const Inputs&...>, ForwardTakesOtherInputs>;
}  // namespace detail

/// The operator() of layers: Self::forward in the scope of the layer, so that errors, nodes of the graph and profiles
/// name it.
template <class Self>
class LayerCall : public Module {
 public:
  /// forward(inputs...) in this scope; if the result is one Tensor, the forward hooks are applied to it. (Calling
  /// forward itself skips both, as in PyTorch.) Throws what forward throws, and ValueError in a class derived from
  /// Self, whose own forward would not run.
  template <class... Inputs, class S = Self>
    requires requires(const S& self, const Inputs&... inputs) { self.forward(inputs...); }
  decltype(auto) operator()(const Inputs&... inputs) const {
    const S& self = static_cast<const S&>(*this);
    if (typeid(self) != typeid(S)) [[unlikely]]
      refuse_derived(typeid(S));
    const Entered here = enter(inputs...);
    if constexpr (std::is_same_v<decltype(self.forward(inputs...)), Tensor>) {
      return here(self.forward(inputs...));
    } else {
      return self.forward(inputs...);
    }
  }
  /// Does not compile: says why the call does not fit.
  template <class... Inputs, class S = Self>
    requires(!requires(const S& self, const Inputs&... inputs) { self.forward(inputs...); })
  detail::ForwardTakesOtherInputs operator()(const Inputs&...) const {
    static_assert(Module::never<Inputs...>,
                  "forward does not take the inputs of this call: give it as many parameters, of types that the inputs "
                  "convert to, and declare it public and const (a layer that changes a state, or is given settings in "
                  "braces, is an nn::Module with an operator() of its own)");
    return {};
  }

 protected:
  explicit LayerCall(At here) : Module(std::move(here)) {}

  std::string class_name() const override {
    return detail::class_name(dynamic_cast<const Self*>(this) ? typeid(*this) : typeid(Self));
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
