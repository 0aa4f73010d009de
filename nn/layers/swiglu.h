// SwiGlu: the gated feed-forward network of Llama.
#pragma once

#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../layer.h"
#include "linear.h"

namespace xgrad::nn {

struct SwiGluOptions {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  std::int64_t out = 0;  ///< the same as `in` if 0
  bool bias = false;
};
/// y = w2(silu(w1 x) * w3 x)      x (..., in) -> (..., out) (Shazeer, "GLU Variants Improve Transformer", 2020)
/// Throws ValueError for sizes below 1.
struct SwiGlu : Layer<SwiGlu, SwiGluOptions> {
  using Layer::Layer;
  /// Throws ShapeError unless the last axis of x has size `in`.
  Tensor forward(const Tensor& x) const { return w2(silu(w1(x)) * w3(x)); }

  Linear w1{at("w1"), options.in, options.hidden, {.bias = options.bias}};  ///< the gate
  Linear w2{at("w2"), options.hidden, options.out == 0 ? options.in : options.out, {.bias = options.bias}};
  Linear w3{at("w3"), options.in, options.hidden, {.bias = options.bias}};

 protected:
  std::string extra_repr() const override { return str(w1.in, " -> ", w1.out, " -> ", w2.out); }
};

}  // namespace xgrad::nn
