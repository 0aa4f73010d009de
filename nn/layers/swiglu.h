// SwiGlu: the gated feed-forward of Llama.
#pragma once

#include "../layer.h"
#include "linear.h"

namespace xgrad::nn {

struct SwiGluOptions {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  std::int64_t out = 0;  ///< as `in` if 0
  bool bias = false;
};
/// y = w2(silu(w1 x) * w3 x)      x (..., in) -> (..., out) (Shazeer, "GLU Variants Improve Transformer", 2020)
struct SwiGlu : Layer<SwiGlu> {
  using Options = SwiGluOptions;

  /// Throws ValueError for sizes below 1.
  SwiGlu(At here, const Options& options);
  explicit SwiGlu(Placeless, ...);  ///< does not compile: no place

  /// Throws ShapeError unless x ends in `in`.
  Tensor forward(const Tensor& x) const;

  Linear w1;  ///< the gate
  Linear w2;
  Linear w3;

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
