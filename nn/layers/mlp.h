// Mlp: two linear maps with an activation between them.
#pragma once

#include <array>
#include <string_view>

#include "../layer.h"
#include "activation.h"
#include "dropout.h"
#include "linear.h"

namespace xgrad::nn {

struct MlpOptions {
  std::int64_t in = 0;
  std::int64_t hidden = 0;
  std::int64_t out = 0;  ///< the same as `in` if 0
  Activation activation = relu;
  double dropout = 0;
  bool bias = true;
  Init init = {};                                                     ///< initial weights; by default as in Linear
  Init bias_init = {};                                                ///< initial biases; by default as in Linear
  std::array<std::string_view, 3> names = {"fc1", "fc2", "dropout"};  ///< names of the three parts
};
/// The options of the feed-forward network of vision transformers, with the names in torchvision's files.
inline MlpOptions vision_mlp(std::int64_t dim, std::int64_t hidden, double dropout = 0) {
  return {.in = dim,
          .hidden = hidden,
          .activation = gelu,
          .dropout = dropout,
          .init = init::xavier_uniform(),
          .bias_init = init::normal({.std = 1e-6}),
          .names = {"0", "3", "4"}};
}

/// y = dropout(fc2(dropout(activation(fc1(x)))))      x (..., in) -> (..., out)
///
/// For a sequence x (B, T, in), every position goes through the same two maps: the position-wise feed-forward network
/// of a transformer. Throws ValueError for sizes below 1 or a dropout outside [0, 1].
struct Mlp : Layer<Mlp, MlpOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return dropout(fc2(dropout(options.activation(fc1(x))))); }

  Linear fc1{at(options.names[0]), options.in, options.hidden, map_options()};
  Linear fc2{at(options.names[1]), options.hidden, options.out == 0 ? options.in : options.out, map_options()};
  Dropout dropout{at(options.names[2]), options.dropout};

 protected:
  std::string extra_repr() const override { return str(fc1.in, " -> ", fc1.out, " -> ", fc2.out); }

 private:
  LinearOptions map_options() const {
    return {.bias = options.bias, .init = options.init, .bias_init = options.bias_init};
  }
};

}  // namespace xgrad::nn
