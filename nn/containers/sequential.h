// Sequential: unlike layers, numbered, called one after the other. The names in files are PyTorch's: `net.0.weight`.
//
// A layer enters its parent's list where it is made, and is neither copied nor moved. So a Sequential is not given
// layers, but a type and its arguments each, and makes the layer at its place:
//
//     nn::Sequential net{at("net"), {nn::make<nn::Linear>(2, 8), tanh, nn::make<nn::Linear>(8, 1)}};
//     const Tensor y = net(x);
//
// The last argument may be options in braces: nn::make<nn::Conv2d>(3, 16, 3, {.padding = 1}). A function of a tensor is
// a step like a layer, and has a number like one. For equal layers there is Stack.
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

namespace detail {

/// Watches over a layer that is made at a place. Threads: of one.
class Making {
 public:
  explicit Making(const At& place) : place_(place) {}
  /// Declines the place if no layer has taken it.
  ~Making() { place_.decline(); }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  /// Throws ValueError unless there is a layer and it is at the place.
  void check(const Module* made) const;

 private:
  const At& place_;
};

}  // namespace detail

/// A layer that is still to be made, once its place is known. Threads: a plain value.
template <class Layer>
class LayerMaker {
 public:
  template <class F>
  requires(std::is_invocable_r_v<std::unique_ptr<Layer>, const F&, At>) explicit LayerMaker(F make)
      : make_(std::move(make)) {
    xgrad::detail::refuse_empty("make", make_);
  }
  /// A new layer at this place. Throws ValueError if the function makes none, or makes it at another place, where its
  /// parent would not know of it.
  std::unique_ptr<Layer> operator()(At here) const {
    const detail::Making making(here);
    std::unique_ptr<Layer> made = make_(here);
    making.check(made.get());
    return made;
  }

 private:
  std::function<std::unique_ptr<Layer>(At)> make_;
};

namespace detail {

template <class Layer, class... Arguments>
LayerMaker<Layer> maker_of(const Arguments&... arguments) {
  static_assert(std::is_base_of_v<Module, Layer>, "make<Layer>(arguments...): Layer is no Module");
  return LayerMaker<Layer>([copies = std::tuple<std::decay_t<const Arguments&>...>(arguments...)](At here) {
    return std::apply(
        [&](const auto&... each) -> std::unique_ptr<Layer> {
          if constexpr (made_from<Layer, std::decay_t<const Arguments&>...>())
            return std::make_unique<Layer>(std::move(here), each...);
        },
        copies);
  });
}

}  // namespace detail

/// Layer(its place, arguments...), to be made by Sequential. The arguments are copied.
template <class Layer, class... Arguments>
LayerMaker<Layer> make(const Arguments&... arguments) {
  return detail::maker_of<Layer>(arguments...);
}
/// The same with options, which may stand in braces.
template <class Layer>
LayerMaker<Layer> make(const typename Layer::Options& options) {
  return detail::maker_of<Layer>(options);
}
template <class Layer, class A>
LayerMaker<Layer> make(const A& a, const typename Layer::Options& options) {
  return detail::maker_of<Layer>(a, options);
}
template <class Layer, class A, class B>
LayerMaker<Layer> make(const A& a, const B& b, const typename Layer::Options& options) {
  return detail::maker_of<Layer>(a, b, options);
}
template <class Layer, class A, class B, class C>
LayerMaker<Layer> make(const A& a, const B& b, const C& c, const typename Layer::Options& options) {
  return detail::maker_of<Layer>(a, b, c, options);
}

/// A function of a tensor as a layer without parameters. Throws ValueError for an empty function.
struct Function : Layer<Function> {
  Function(At here, Activation f) : Layer(std::move(here)), function(std::move(f)) {}
  explicit Function(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return function(x); }

  const Activation function;

 protected:
  std::string settings() const override { return std::string(function.name()); }
};

class Sequential;

/// One step of a Sequential: a layer that is still to be made, or a function, as Activation takes it: `tanh`, `gelu`, a
/// lambda. Throws as Activation. Threads: a plain value.
class Step {
 public:
  template <class Layer>
  Step(const LayerMaker<Layer>& make);
  Step(Tensor (*f)(const Tensor&)) : Step(Activation(f)) {}
  Step(Tensor (*f)(const Tensor&, Gelu)) : Step(Activation(f)) {}
  Step(Tensor (*f)(const Tensor&, double)) : Step(Activation(f)) {}
  /// Says what to write instead.
  template <std::derived_from<Module> Layer>
  Step(const Layer&) {
    static_assert(Module::never<Layer>, "a layer is made at its place: nn::make<Layer>(arguments...) is its step");
  }
  template <class F>
  requires std::constructible_from<Activation, F> Step(F f) : Step(make<Function>(Activation(std::move(f)))) {}

 private:
  friend class Sequential;
  std::function<void(Sequential&)> append_;
};

/// Layers and functions with the names 0, 1, ..., each called with the result of the one before.
class Sequential : public Module {
 public:
  Sequential(At here, std::initializer_list<Step> steps) : Module(std::move(here)) {
    for (const Step& step : steps) step.append_(*this);
  }
  /// The same without braces around the steps: `nn::Sequential net{at("net"), nn::make<nn::Linear>(2, 8), relu}`. (An
  /// overloaded function, such as tanh beside the C library's, needs them.)
  template <class... Steps>
  requires(std::convertible_to<const Steps&, Step>&&...) Sequential(At here, const Steps&... steps)
      : Sequential(std::move(here), {Step(steps)...}) {}
  explicit Sequential(Placeless, ...);  ///< does not compile: no place

  /// One more layer at the end; returns it.
  template <class Layer>
  Layer& append(const LayerMaker<Layer>& make) {
    constexpr bool of_tensors = std::is_invocable_r_v<Tensor, const Layer&, const Tensor&>;
    constexpr bool of_ids = std::is_invocable_r_v<Tensor, const Layer&, const Index&>;
    static_assert(of_tensors || of_ids, "Sequential: a layer takes one Tensor (or Index) and returns a Tensor");
    std::unique_ptr<Layer> made = make(at(str(size())));
    Layer& layer = *made;
    Part part{std::move(made), {}, {}};
    if constexpr (of_tensors) part.of_tensor = [&layer](const Tensor& x) { return layer(x); };
    if constexpr (of_ids) part.of_ids = [&layer](const Index& ids) { return layer(ids); };
    parts_.push_back(std::move(part));
    return layer;
  }

  /// layer n-1(... layer 1(layer 0(x)) ...); x itself if there are no layers. Throws ValueError, naming the layer, if
  /// one takes whole numbers only.
  Tensor operator()(const Tensor& x) const;
  /// The same for a first layer that takes whole numbers, as Embedding does. Throws ValueError if it does not.
  Tensor operator()(const Index& ids) const;

  std::int64_t size() const { return static_cast<std::int64_t>(parts_.size()); }
  /// Layer i. Throws ValueError.
  const Module& operator[](std::int64_t i) const;
  /// Layer i by its type: net.get<nn::Linear>(0).weight. Throws ValueError if it is of another type.
  template <class Layer>
  const Layer& get(std::int64_t i) const {
    const Layer* layer = dynamic_cast<const Layer*>(&(*this)[i]);
    if (!layer) fail<ValueError>("sequential", "layer ", i, " is a ", (*this)[i].description());
    return *layer;
  }

 protected:
  std::string settings() const override { return str("of ", size()); }

 private:
  struct Part {
    std::unique_ptr<Module> layer;
    std::function<Tensor(const Tensor&)> of_tensor;
    std::function<Tensor(const Index&)> of_ids;
  };
  Tensor from(std::int64_t first, Tensor x) const;

  std::vector<Part> parts_;
};

template <class Layer>
Step::Step(const LayerMaker<Layer>& make) : append_([make](Sequential& net) { net.append(make); }) {}

}  // namespace xgrad::nn
