// The feed-forward part of vision transformers.
#pragma once

#include "../layer.h"
#include "../layers/dropout.h"
#include "../layers/linear.h"

namespace xgrad::nn {

struct VisionMlpOptions {
  double dropout = 0;
  Init init = init::xavier_uniform();            ///< of both weights
  Init bias_init = init::normal({.std = 1e-6});  ///< of both biases
};

/// y = dropout(fc2(dropout(gelu(fc1(x)))))      x (..., in) -> (..., in)
///
/// In files the two maps are called 0 and 3, as in torchvision.
struct VisionMlp : Layer<VisionMlp> {
  using Options = VisionMlpOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  VisionMlp(At here, std::int64_t in, std::int64_t hidden, const Options& options = {});
  explicit VisionMlp(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const;

  Linear fc1;
  Linear fc2;
  Dropout dropout;

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
