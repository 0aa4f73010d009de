// Activation: a function of tensors as a setting of a layer.
#pragma once

#include <functional>

#include <xgrad/ops/elementwise.h>

namespace xgrad::inline XGRAD_ABI::nn {

/// Any function from a tensor to one of the same shape: `relu`, `gelu`, a lambda. The library's own functions with a
/// further argument have its default here.
class Activation {
 public:
  Activation(Tensor (*f)(const Tensor&)) : f_(f) {}
  Activation(Tensor (*f)(const Tensor&, Gelu)) : f_([f](const Tensor& x) { return f(x, Gelu::erf); }) {}
  Activation(Tensor (*f)(const Tensor&, Real)) : f_([f](const Tensor& x) { return f(x, 1); }) {}
  template <class F>
  requires std::is_invocable_r_v<Tensor, const F&, const Tensor&> Activation(F f) : f_(std::move(f)) {}

  Tensor operator()(const Tensor& x) const { return f_(x); }

 private:
  std::function<Tensor(const Tensor&)> f_;
};

}  // namespace xgrad::inline XGRAD_ABI::nn
