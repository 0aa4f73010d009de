// Weights in two parts, a direction and a length.
#pragma once

#include "../layer.h"
#include "linear.h"

namespace xgrad::nn {

struct WeightNormLinearOptions {
  bool bias = true;
  Init init = {};       ///< of the weight that both parts begin as; if not given, uniform in +-1/sqrt(in)
  Init bias_init = {};  ///< if not given, uniform in +-1/sqrt(in)
};

/// y = x W' + b with W = g v / |v|, a length and a direction for each row (Salimans, Kingma 2016). The names are those
/// that torch.nn.utils.weight_norm gives a Linear. For other layers there is the function weight_norm.
struct WeightNormLinear : Layer<WeightNormLinear> {
  using Options = WeightNormLinearOptions;

  /// Throws ValueError for sizes below 1.
  WeightNormLinear(At here, std::int64_t in, std::int64_t out, const Options& options = {});
  explicit WeightNormLinear(Placeless, ...);  ///< does not compile: no place

  /// x (..., in) -> (..., out). Throws ShapeError unless x ends in `in`.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in;
  const std::int64_t out;
  const Tensor bias;      ///< (out); undefined without bias
  const Tensor weight_v;  ///< (out, in)
  const Tensor weight_g;  ///< (out, 1), at first the lengths of weight_v

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
