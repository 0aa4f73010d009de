// Linear: an affine map of the last axis.
#pragma once

#include "../layer.h"

namespace xgrad::nn {

struct LinearOptions {
  bool bias = true;
  Init init = {};       ///< of the weight; if not given, uniform in +-1/sqrt(in)
  Init bias_init = {};  ///< if not given, uniform in +-1/sqrt(in)
  Tensor weight = {};   ///< another module's weight (out, in), to be shared
};

/// y = x W' + b      x (..., in) -> (..., out)
struct Linear : Layer<Linear> {
  using Options = LinearOptions;

  /// Throws ValueError for sizes below 1, ShapeError if a shared weight is not (out, in).
  Linear(At here, std::int64_t in, std::int64_t out, const Options& options = {});
  explicit Linear(Placeless, ...);  ///< does not compile: no place

  /// Throws ShapeError unless x ends in `in`.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in;
  const std::int64_t out;
  const Tensor weight;  ///< (out, in)
  const Tensor bias;    ///< (out); undefined without bias

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
