// Weights in two parts.
#include "weight_norm.h"

#include "../../ops/products/matmul.h"
#include "../../ops/products/similarity.h"

namespace xgrad::nn {

WeightNormLinear::WeightNormLinear(At here, std::int64_t in_size, std::int64_t out_size, const Options& options)
    : Layer(std::move(here)),
      in(positive("in", in_size)),
      out(positive("out", out_size)),
      bias(options.bias ? param("bias", {out}, options.bias_init ? options.bias_init : init::uniform_within_root(in))
                        : Tensor()),
      weight_v(param("weight_v", {out, in}, options.init ? options.init : init::uniform_within_root(in))),
      weight_g(
          param("weight_g", {out, 1}, [this](const Shape&) { return weight_lengths(weight_v.detach()).value(); })) {}

Tensor WeightNormLinear::forward(const Tensor& x) const {
  return linear(x, weight_norm(weight_v, weight_g), bias);
}

std::string WeightNormLinear::settings() const { return cat(in, " -> ", out); }

}  // namespace xgrad::nn
