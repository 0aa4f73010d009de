// Mlp: two linear maps with an activation in between.
#pragma once

#include "../layer.h"
#include "activation.h"
#include "dropout.h"
#include "linear.h"

namespace xgrad::nn {

struct MlpOptions {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  std::int64_t out = 0;  ///< as `in` if 0
  Activation activation = relu;
  double dropout = 0;
  bool bias = true;
};

/// y = dropout(fc2(dropout(activation(fc1(x)))))      x (..., in) -> (..., out)
///
/// On a sequence, x (B, T, in), the same two maps for every position: the position-wise feed-forward of a transformer.
struct Mlp : Layer<Mlp> {
  using Options = MlpOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  Mlp(At here, const Options& options);
  explicit Mlp(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const;

  const Options options;
  Linear fc1;
  Linear fc2;
  Dropout dropout;

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
