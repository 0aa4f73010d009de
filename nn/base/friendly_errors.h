// Errors of the compiler that say what to write: types and functions that compile where they are declared, but not
// where they are used.
#pragma once

#include <concepts>
#include <type_traits>

#include "../../core/base/not_members.h"
#include "../../core/graph/tensor.h"

namespace xgrad::nn {

struct At;
class Module;

namespace detail {

template <class...>
inline constexpr bool never = false;

/// The first argument of a constructor that does not compile: a layer whose place is missing. A layer whose
/// constructors are its own declares `explicit X(Placeless, ...);` beside them.
struct Placeless {
  template <class T, class Place = At>
  requires(!std::convertible_to<const T&, Place>) Placeless(const T&) {
    static_assert(never<T>, "a layer needs a place first: at(\"name\") in a model, nn::root for one that stands alone");
  }
};

/// The base of Module that hides xgrad::variable, which would make a leaf there that the model does not know.
struct NoVariables {
 protected:
  template <class... Rest>
  static Tensor variable(const xgrad::detail::Anything&, const Rest&...) {
    static_assert(never<Rest...>,
                  "a variable in a module is no parameter of it: use param(\"name\", shape, init), or "
                  "xgrad::variable(...) for a leaf that belongs to no model");
    return {};
  }
};

/// The result of a call whose arguments are not those of forward.
struct ForwardTakesOtherInputs {
  template <class... Inputs>
  static ForwardTakesOtherInputs refuse() {
    static_assert(never<Inputs...>,
                  "forward does not take the inputs of this call: compare their number and types with its declaration. "
                  "Ids are an Index, index({1, 2}) or to_index(x), and an argument in braces must name its type. A "
                  "forward of your own must be public and const");
    return {};
  }
};

/// Whether f(inputs...) compiles. (std::invocable also holds for calls whose result is the one above.)
template <class F, class... Inputs>
concept Takes = std::invocable<const F&, const Inputs&...> &&
    !std::same_as<std::invoke_result_t<const F&, const Inputs&...>, ForwardTakesOtherInputs>;

/// Whether Layer(At, arguments...) compiles; where it does not, an error says what is missing. Callers then leave out
/// code that would not compile, so that it stays the only error.
template <class Layer, class... Arguments>
constexpr bool made_from() {
  constexpr bool is_made = std::is_constructible_v<Layer, At, const Arguments&...>;
  static_assert(
      is_made || !std::is_base_of_v<Module, Layer>,
      "Layer has no constructor (At, arguments...): a layer X of your own has one by `using Layer::Layer;` in a "
      "`struct X : nn::Layer<X>`, or by `X(At here, ...) : Module(here)` in a `struct X : nn::Module`");
  return is_made;
}

}  // namespace detail
}  // namespace xgrad::nn
