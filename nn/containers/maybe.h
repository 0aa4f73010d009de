// Maybe: an optional layer, whose presence depends on the options of the model.
#pragma once

#include <optional>

#include "../module.h"

namespace xgrad::nn {

/// An optional layer as a member of a module:
///
///     nn::Maybe<nn::LayerNorm> norm{at("norm"), options.norm_first, options.dim};
///     nn::Maybe<nn::Linear>    head{at("head"), !options.tied, options.dim, options.vocabulary,
///                                   nn::LinearOptions{.bias = false}};
///
///     const Tensor y = norm(h);                                       // h itself if there is no norm
///     const Tensor logits = head ? (*head)(y) : linear(y, embedding.weight);
///
/// The type of an argument in braces cannot be deduced, so name it, as for Stack. An absent layer has no names and
/// draws no random numbers. A Maybe, like a layer, is neither copied nor moved.
/// Threads: the same rules as for its layer.
template <class Layer>
class Maybe {
 public:
  /// Makes Layer(here, arguments...) if `there` is true. Throws what the constructor of the layer throws.
  template <class... Arguments>
  Maybe(const At& here, bool there, const Arguments&... arguments) {
    static_assert(std::is_base_of_v<Module, Layer>, "Maybe<Layer>: Layer is no Module");
    if constexpr (detail::made_from<Layer, Arguments...>()) {
      if (there) {
        layer_.emplace(here, arguments...);
      } else {
        here.decline();
      }
    }
  }
  /// Compile error that says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit Maybe(Module::Placeless, const Rest&...);

  explicit operator bool() const { return layer_.has_value(); }
  /// The layer. Throws ValueError if there is none.
  const Layer& operator*() const {
    if (!layer_) fail<ValueError>("maybe", "there is no layer: ask `if (layer)` first");
    return *layer_;
  }
  const Layer* operator->() const { return &**this; }

  /// layer(x, more...), or x itself if there is no layer. Throws what the layer throws.
  template <class... More>
  Tensor operator()(const Tensor& x, const More&... more) const {
    return layer_ ? (*layer_)(x, more...) : x;
  }

 private:
  std::optional<Layer> layer_;
};

}  // namespace xgrad::nn
