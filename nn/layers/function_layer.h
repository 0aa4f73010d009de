// The layer of a function: what the layers of activations, losses, pooling, padding and pictures share.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>

#include "../../ops/network/size2d.h"
#include "../layer.h"

namespace xgrad::nn::detail {

/// The options of a function without options.
struct NoOptions {};

/// How the description of a layer shows an argument.
template <class T>
std::string text_of(const T& argument) {
  if constexpr (requires { argument.text(); }) {
    return argument.text();
  } else if constexpr (std::same_as<T, Size2d>) {
    return str(argument.height, " x ", argument.width);
  } else {
    return str(argument);
  }
}

/// function(inputs..., arguments..., options), without the options if there are none. Throws the function's errors.
template <class Self, auto function, class OptionsOf = NoOptions, class... Arguments>
class FunctionLayerOf : public Layer<Self, OptionsOf> {
 public:
  explicit FunctionLayerOf(At here, const Arguments&... given, const OptionsOf& more = {})
      : Layer<Self, OptionsOf>(std::move(here), more), given_(given...) {}
  template <class... Rest>
  explicit FunctionLayerOf(Module::Placeless, const Rest&...);

  template <class... Inputs>
  requires std::is_invocable_v<decltype(function), const Inputs&..., const Arguments&...> ||
      std::is_invocable_v<decltype(function), const Inputs&..., const Arguments&..., const OptionsOf&>
          Tensor forward(const Inputs&... inputs)
  const {
    return std::apply(
        [&](const Arguments&... each) {
          if constexpr (std::same_as<OptionsOf, NoOptions>) {
            return function(inputs..., each...);
          } else {
            return function(inputs..., each..., this->options);
          }
        },
        given_);
  }

  /// The arguments of the constructor after the place, for nn::clone().
  auto arguments() const {
    if constexpr (std::same_as<OptionsOf, NoOptions>) {
      return given_;
    } else {
      return std::tuple_cat(given_, std::tuple(this->options));
    }
  }

 protected:
  std::string extra_repr() const override {
    std::string all;
    const auto add = [&](const std::string& text) { all += (all.empty() || text.empty() ? "" : ", ") + text; };
    std::apply([&](const Arguments&... each) { (add(text_of(each)), ...); }, given_);
    if constexpr (requires { this->options.text(); }) add(this->options.text());
    return all;
  }

 private:
  const std::tuple<Arguments...> given_;
};

/// The name of a class as an argument of a template.
template <std::size_t size>
struct ClassName {
  consteval ClassName(const char (&given)[size]) { std::ranges::copy(given, text); }

  char text[size];
};

/// The layer of a function under a name: `using ReLU = FunctionLayer<"ReLU", relu>`.
template <ClassName name, auto function, class OptionsOf = NoOptions, class... Arguments>
class FunctionLayer final : public FunctionLayerOf<FunctionLayer<name, function, OptionsOf, Arguments...>, function,
                                                   OptionsOf, Arguments...> {
 public:
  using FunctionLayer::FunctionLayerOf::FunctionLayerOf;

 protected:
  std::string class_name() const override { return name.text; }
};

/// The axis of a function, the last one unless it is given.
struct AxisArgument {
  AxisArgument(int along = -1) : axis(along) {}
  operator int() const { return axis; }
  std::string text() const { return str("axis ", axis); }

  int axis;
};

/// A number of a function, `halves` / 2 unless it is given.
template <int halves>
struct NumberArgument {
  NumberArgument(double given = halves / 2.) : value(given) {}
  operator double() const { return value; }
  std::string text() const { return str(value); }

  double value;
};

}  // namespace xgrad::nn::detail
