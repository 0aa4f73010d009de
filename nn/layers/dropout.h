// Dropout of elements, of channels and of whole samples.
#pragma once

#include <tuple>

#include "../../ops/network/dropout.h"
#include "function_layer.h"

namespace xgrad::nn {

namespace detail {

/// In training, function(x, p) with the next draw of the calling thread's generator; otherwise x itself. Throws
/// ValueError unless 0 <= p <= 1.
template <ClassName name, Tensor (*function)(const Tensor& x, double p)>
struct DropoutLayer final : Layer<DropoutLayer<name, function>> {
  explicit DropoutLayer(At here, double probability = 0.5)
      : Layer<DropoutLayer>(std::move(here)), p(this->probability("p", probability)) {}
  template <class... Rest>
  explicit DropoutLayer(Module::Placeless, const Rest&...);

  Tensor forward(const Tensor& x) const { return this->training() && p > 0 ? function(x, p) : x; }

  /// What its constructor takes behind the place: nn::clone().
  std::tuple<double> arguments() const { return p; }

  const double p;

 protected:
  std::string class_name() const override { return name.text; }
  std::string extra_repr() const override { return str(p); }
};

/// Whole samples of x (B, ...) become 0 with probability p, the others are divided by 1 - p. Throws ShapeError for a
/// scalar.
Tensor drop_path(const Tensor& x, double p);

}  // namespace detail

/// In training, every element becomes 0 with probability p and is divided by 1 - p otherwise (Srivastava et al. 2014):
/// dropout. Throws ValueError unless 0 <= p <= 1.
using Dropout = detail::DropoutLayer<"Dropout", dropout>;
/// In training, whole channels of x (B, C, H, W) or (C, H, W) become 0: dropout2d. Throws ValueError unless 0 <= p
/// <= 1.
using Dropout2d = detail::DropoutLayer<"Dropout2d", dropout2d>;

/// Stochastic depth (Huang et al. 2016): in training, every sample of a batch x (B, ...) becomes 0 with probability p
/// and is divided by 1 - p otherwise. On a residual branch, y = x + drop_path(f(x)), the sample skips the branch. As
/// torchvision's StochasticDepth by "row". Throws ValueError unless 0 <= p <= 1, ShapeError for a scalar.
using DropPath = detail::DropoutLayer<"DropPath", detail::drop_path>;

}  // namespace xgrad::nn
