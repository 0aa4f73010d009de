// Sequential: layers of different types, called one after the other. Names in files are the same as in PyTorch:
// `net.0.weight`.
//
// A layer is registered in its parent where it is constructed, and is neither copied nor moved. So you give a
// Sequential the type and the arguments of each layer, and it constructs the layers in place:
//
//     nn::Sequential net{at("net"), {nn::make<nn::Linear>(2, 8), tanh, nn::make<nn::Linear>(8, 1)}};
//     const Tensor y = net(x);
//
// The type of an argument in braces cannot be deduced, so name it: nn::make<nn::Conv2d>(3, 16, 3,
// nn::Conv2dOptions{.padding = 1}). A step may also be a function of a tensor; functions are numbered like layers. For
// equal layers use Stack.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../layer.h"
#include "../layers/activation.h"

namespace xgrad::nn {

/// A function that makes a layer at a given place.
template <class Layer>
using LayerMaker = std::function<std::unique_ptr<Layer>(At)>;

/// A step of a Sequential that makes Layer(place, arguments...). The arguments are copied.
template <class Layer, class... Arguments>
LayerMaker<Layer> make(const Arguments&... arguments) {
  static_assert(std::is_base_of_v<Module, Layer>, "make<Layer>(arguments...): Layer is no Module");
  return [copies = std::tuple<std::decay_t<const Arguments&>...>(arguments...)](At here) {
    return std::apply(
        [&](const auto&... each) -> std::unique_ptr<Layer> {
          if constexpr (detail::made_from<Layer, std::decay_t<const Arguments&>...>())
            return std::make_unique<Layer>(std::move(here), each...);
        },
        copies);
  };
}

/// A layer that calls a function and has no parameters. Throws ValueError for an empty function.
struct Function : Layer<Function> {
  Function(At here, Activation f) : Layer(std::move(here)), function(std::move(f)) {}
  explicit Function(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  Tensor forward(const Tensor& x) const { return function(x); }

  const Activation function;

 protected:
  std::string extra_repr() const override { return std::string(function.name()); }
};

class Sequential;

/// One step of a Sequential: a layer that Sequential will make, or a function such as `tanh`, `gelu` or a lambda.
/// Throws ValueError for a function that Activation refuses. Threads: the same rules as for a std::function.
class Step {
 public:
  template <class Layer>
  Step(const LayerMaker<Layer>& make);
  Step(Tensor (*f)(const Tensor&)) : Step(Activation(f)) {}
  Step(Tensor (*f)(const Tensor&, Gelu)) : Step(Activation(f)) {}
  Step(Tensor (*f)(const Tensor&, double)) : Step(Activation(f)) {}
  /// Compile error that says what to write instead.
  template <std::derived_from<Module> Layer>
  Step(const Layer&) {
    static_assert(detail::never<Layer>, "a layer is made at its place: nn::make<Layer>(arguments...) is its step");
  }
  template <class F>
  requires std::constructible_from<Activation, F> Step(F f) : Step(make<Function>(Activation(std::move(f)))) {}

 private:
  friend class Sequential;
  std::function<void(Sequential&)> append_;
};

/// Layers and functions with the names 0, 1, .... Each is called with the result of the one before.
class Sequential : public Module {
 public:
  Sequential(At here, std::initializer_list<Step> steps) : Module(std::move(here)) {
    for (const Step& step : steps) step.append_(*this);
  }
  /// The same without braces around the steps: `nn::Sequential net{at("net"), nn::make<nn::Linear>(2, 8), relu}`. (An
  /// overloaded function needs the braces: tanh, for example, also exists in the C library.)
  template <class... Steps>
  requires(std::convertible_to<const Steps&, Step>&&...) Sequential(At here, const Steps&... steps)
      : Sequential(std::move(here), {Step(steps)...}) {}
  explicit Sequential(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Appends a layer and returns it. Throws ValueError if `make` does not make one layer at the place that it gets.
  template <class Layer>
  Layer& append(const LayerMaker<Layer>& make) {
    constexpr bool of_tensors = std::is_invocable_r_v<Tensor, const Layer&, const Tensor&>;
    constexpr bool of_ids = std::is_invocable_r_v<Tensor, const Layer&, const Index&>;
    static_assert(of_tensors || of_ids, "Sequential: a layer takes one Tensor (or Index) and returns a Tensor");
    xgrad::detail::refuse_empty("make", make);
    std::unique_ptr<Layer> made = make(At{this, str(size())});
    check_made(made.get());
    Layer& layer = *made;
    Child child{std::move(made), {}, {}};
    if constexpr (of_tensors) child.of_tensor = [&layer](const Tensor& x) { return layer(x); };
    if constexpr (of_ids) child.of_ids = [&layer](const Index& ids) { return layer(ids); };
    children_.push_back(std::move(child));
    return layer;
  }

  /// layer n-1(... layer 1(layer 0(x)) ...), or x itself if there are no layers. Throws ValueError, which names the
  /// layer, if a layer only takes integers.
  Tensor operator()(const Tensor& x) const;
  /// The same if the first layer takes integers, as Embedding does. Throws ValueError if it does not.
  Tensor operator()(const Index& ids) const;

  std::int64_t size() const { return static_cast<std::int64_t>(children_.size()); }
  /// Layer i. Throws ValueError if i is not in [0, size).
  const Module& operator[](std::int64_t i) const;
  /// Layer i as its type: net.get<nn::Linear>(0).weight. Throws ValueError if the layer has another type.
  template <class Layer>
  const Layer& get(std::int64_t i) const {
    const Layer* layer = dynamic_cast<const Layer*>(&(*this)[i]);
    if (!layer) fail<ValueError>("sequential", "layer ", i, " is a ", (*this)[i].description());
    return *layer;
  }

 protected:
  std::string extra_repr() const override { return str("of ", size()); }

 private:
  struct Child {
    std::unique_ptr<Module> layer;
    std::function<Tensor(const Tensor&)> of_tensor;
    std::function<Tensor(const Index&)> of_ids;
  };
  void check_made(const Module* made) const;
  Tensor from(std::int64_t first, Tensor x) const;

  std::vector<Child> children_;
};

template <class Layer>
Step::Step(const LayerMaker<Layer>& make) : append_([make](Sequential& net) { net.append(make); }) {}

}  // namespace xgrad::nn
