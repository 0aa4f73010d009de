// Stack: n layers of the same type, called one after the other.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <vector>

#include "../module.h"

namespace xgrad::nn {

namespace detail {
template <class... T>
inline constexpr bool begins_with_place_and_count = false;
template <class First, class Second, class... Rest>
inline constexpr bool begins_with_place_and_count<First, Second, Rest...> =
    std::convertible_to<const First&, At>&& std::convertible_to<const Second&, std::int64_t>;
}  // namespace detail

/// Layers of one type with the names 0, 1, ..., n - 1. All are made from the same arguments, or by a function of the
/// place and the number.
///
///     nn::Stack<Block> blocks{at("blocks"), config.layers, config};       // blocks.0, blocks.1, ...
///     const auto wider = [](nn::At here, std::int64_t i) { return nn::Linear(here, 2 + i, 3 + i); };
///     nn::Stack<nn::Linear> maps{at("maps"), 3, wider};                   // 2 -> 3 -> 4 -> 5
///     y = blocks(x);                                                      // or blocks(x, mask)
///
/// The type of an argument in braces cannot be deduced, so name it: nn::Stack<nn::Mlp>{..., nn::MlpOptions{.in = 4}}.
template <class Layer>
class Stack : public Module {
  template <class F>
  static constexpr bool makes_layer = requires(const F& f, At here, std::int64_t i) {
    { f(here, i) } -> std::same_as<Layer>;
  };

 public:
  /// Makes `count` layers, each as Layer(place, arguments...). Throws ValueError for a negative count, and LimitError
  /// for more than most_layers.
  template <class... Arguments>
  Stack(At here, std::int64_t count, const Arguments&... arguments) : Module(here) {
    static_assert(std::is_base_of_v<Module, Layer>, "Stack<Layer>: Layer is no Module");
    constexpr bool by_function = sizeof...(Arguments) == 1 && (makes_layer<Arguments> && ...);
    const Scope scope(place());
    if (count < 0) fail<ValueError>("stack", count, " layers", declared_later());
    if (count > most_layers) {
      fail<LimitError>("stack", count, " layers, allowed are ", most_layers, declared_later());
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (by_function) {
        // Made where it stays: layers do not move.
        layers_.push_back(std::unique_ptr<Layer>(new Layer((arguments(at(str(i)), i), ...))));
      } else if constexpr (detail::made_from<Layer, Arguments...>()) {
        layers_.push_back(std::make_unique<Layer>(at(str(i)), arguments...));
      }
    }
  }

  /// Compile error that says what is missing: see Module::Placeless.
  template <class... Wrong>
  requires(!detail::begins_with_place_and_count<Wrong...>) explicit Stack(const Wrong&...) {
    static_assert(detail::never<Wrong...>,
                  "Stack<Layer>(at(\"name\"), count, arguments...): a place and how many layers come first");
  }

  /// layer n-1(... layer 1(layer 0(x, more...), more...) ..., more...), or x itself if there are no layers.
  template <class... More>
  Tensor operator()(const Tensor& x, const More&... more) const {
    const auto here = enter(x, more...);
    Tensor y = x;
    for (const auto& layer : layers_) {
      const ModuleScope inside(*layer);  // for layers that do not call enter()
      y = (*layer)(y, more...);
    }
    return here(y);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(layers_.size()); }
  /// Layer i. Throws ValueError if i is not in [0, size).
  const Layer& operator[](std::int64_t i) const {
    if (i < 0 || i >= size()) fail<ValueError>("stack", "layer ", i, " of ", size());
    return *layers_[static_cast<std::size_t>(i)];
  }

  /// An iterator over the layers. Threads: the same rules as for a pointer.
  class Iterator {
   public:
    using Inner = typename std::vector<std::unique_ptr<Layer>>::const_iterator;
    explicit Iterator(Inner at) : at_(at) {}
    const Layer& operator*() const { return **at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    Inner at_;
  };
  Iterator begin() const { return Iterator(layers_.begin()); }
  Iterator end() const { return Iterator(layers_.end()); }

 protected:
  std::string extra_repr() const override { return str("of ", size()); }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace xgrad::nn
