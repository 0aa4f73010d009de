// Linear.
#include "linear.h"

#include "../../ops/products/matmul.h"

namespace xgrad::nn {

Linear::Linear(At here, std::int64_t in_size, std::int64_t out_size, const Options& options)
    : Layer(std::move(here)),
      in(positive("in", in_size)),
      out(positive("out", out_size)),
      weight(options.weight.defined()
                 ? param("weight", options.weight)
                 : param("weight", {out, in}, options.init ? options.init : init::uniform_within_root(in))),
      bias(options.bias ? param("bias", {out}, options.bias_init ? options.bias_init : init::uniform_within_root(in))
                        : Tensor()) {
  const Scope scope(place());
  if (weight.shape() != Shape{out, in}) {
    fail<ShapeError>("linear", "shared weight of shape ", weight.shape(), " for ", Shape{out, in});
  }
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight, bias); }

}  // namespace xgrad::nn
