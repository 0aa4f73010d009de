// Linear.
#include "linear.h"

#include <cmath>

#include "../ops/matmul.h"

namespace xgrad::nn {
namespace {

Init within_root_of(std::int64_t in) {
  const double a = 1 / std::sqrt(static_cast<double>(in));
  return init::uniform({.low = -a, .high = a});
}

}  // namespace

Linear::Linear(At here, std::int64_t in_size, std::int64_t out_size, const Options& options)
    : Module(std::move(here)),
      in(positive("in", in_size)),
      out(positive("out", out_size)),
      weight(options.weight.defined() ? param("weight", options.weight)
                                      : param("weight", {out, in}, options.init ? options.init : within_root_of(in))),
      bias(options.bias ? param("bias", {out}, options.bias_init ? options.bias_init : within_root_of(in)) : Tensor()) {
  const auto constructing = enter();
  if (weight.shape() != Shape{out, in}) {
    fail<ShapeError>("linear", "shared weight of shape ", weight.shape(), " for ", Shape{out, in});
  }
}

Tensor Linear::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(linear(x, weight, bias));
}

std::string Linear::settings() const { return cat(in, " -> ", out); }

}  // namespace xgrad::nn
