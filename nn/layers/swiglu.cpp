// SwiGlu.
#include "swiglu.h"

#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"

namespace xgrad::nn {

SwiGlu::SwiGlu(At here, const Options& options)
    : Layer(std::move(here)),
      w1(at("w1"), options.in, options.hidden, {.bias = options.bias}),
      w2(at("w2"), options.hidden, options.out == 0 ? options.in : options.out, {.bias = options.bias}),
      w3(at("w3"), options.in, options.hidden, {.bias = options.bias}) {}

Tensor SwiGlu::forward(const Tensor& x) const {
  return w2(silu(w1(x)) * w3(x));
}

std::string SwiGlu::settings() const { return cat(w1.in, " -> ", w1.out, " -> ", w2.out); }

}  // namespace xgrad::nn
