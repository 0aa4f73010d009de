// Linear: an affine map of the last axis.
#pragma once

#include "../layer.h"

namespace xgrad::nn {

struct LinearOptions {
  bool bias = true;
  Init init = {};       ///< initial weight; by default uniform in +-1/sqrt(in)
  Init bias_init = {};  ///< initial bias; by default uniform in +-1/sqrt(in)
  Tensor weight = {};   ///< the weight (out, in) of another module, to be shared
};

/// y = x W' + b      x (..., in) -> (..., out)
struct Linear : Layer<Linear> {
  using Options = LinearOptions;

  /// Throws ValueError for sizes below 1, ShapeError if a shared weight is not (out, in).
  Linear(At here, std::int64_t in, std::int64_t out, const Options& options = {});
  explicit Linear(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Throws ShapeError unless the last axis of x has size `in`.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in;
  const std::int64_t out;
  const Tensor weight;  ///< (out, in)
  const Tensor bias;    ///< (out); undefined if options.bias is false

 protected:
  std::string extra_repr() const override { return str(in, " -> ", out); }
};

}  // namespace xgrad::nn
