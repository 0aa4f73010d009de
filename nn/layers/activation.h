// Activation: a function of tensors as an option of a layer.
#pragma once

#include <functional>
#include <string_view>
#include <type_traits>

#include "../../core/base/error.h"
#include "../../ops/elementwise/activations.h"

namespace xgrad::nn {

/// Any function from a tensor to a tensor of the same shape: `relu`, `gelu`, a lambda. If a function of the library
/// has further arguments, they get their defaults. Throws ValueError for an empty function, and for a function of a
/// tensor and a number that has no default, such as pow. Threads: thread-safe if the function is.
class Activation {
 public:
  Activation(Tensor (*f)(const Tensor&)) : f_(f), name_(name_of(f)) {}
  Activation(Tensor (*f)(const Tensor&, Gelu))
      : f_([f](const Tensor& x) { return f(x, Gelu::erf); }), name_(name_of(f)) {}
  Activation(Tensor (*f)(const Tensor&, double));
  template <class Options>
  requires std::is_aggregate_v<Options> Activation(Tensor (*f)(const Tensor&, const Options&))
      : f_([f](const Tensor& x) { return f(x, {}); }), name_(name_of(f)) {}
  template <class F>
  requires std::is_invocable_r_v<Tensor, const F&, const Tensor&> Activation(F f) : f_(std::move(f)) {
    xgrad::detail::refuse_empty("activation", f_);
  }

  Tensor operator()(const Tensor& x) const { return f_(x); }
  /// The name of a function that is common in networks, `tanh`; empty for others.
  std::string_view name() const { return name_; }

 private:
  using AnyFunction = void (*)();
  static std::string_view name_of(AnyFunction f);
  template <class F>
  static std::string_view name_of(F* f) {
    xgrad::detail::refuse_empty("activation", f);
    return name_of(reinterpret_cast<AnyFunction>(f));
  }

  std::function<Tensor(const Tensor&)> f_;
  std::string_view name_;
};

}  // namespace xgrad::nn
