// Dropout of elements, of channels and of whole samples.
#pragma once

#include <tuple>

#include "../../ops/creation/create.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/network/dropout.h"
#include "function_layer.h"

namespace xgrad::nn {

namespace detail {

/// In training, function(x, p) with the next draw of the thread's generator; otherwise x itself. Throws ValueError
/// unless 0 <= p <= 1.
template <ClassName name, Tensor (*function)(const Tensor& x, double p)>
struct DropoutLayer final : Layer<DropoutLayer<name, function>> {
  explicit DropoutLayer(At here, double probability = 0.5)
      : Layer<DropoutLayer>(std::move(here)), p(this->probability("p", probability)) {}
  template <class... Rest>
  explicit DropoutLayer(Module::Placeless, const Rest&...);

  Tensor forward(const Tensor& x) const { return this->training() && p > 0 ? function(x, p) : x; }

  /// The arguments of the constructor after the place, for nn::clone().
  std::tuple<double> arguments() const { return p; }

  const double p;

 protected:
  std::string class_name() const override { return name.text; }
  std::string extra_repr() const override { return str(p); }
};

/// Sets whole samples of x (B, ...) to 0 with probability p, and divides the others by 1 - p. Throws ShapeError for a
/// scalar.
inline Tensor drop_path(const Tensor& x, double p) {
  if (x.rank() == 0) fail<ShapeError>("drop_path", "needs (B, ...), got ", x.shape());
  Shape samples = Shape::filled(x.rank(), 1);
  samples[0] = x.dim(0);
  return x * dropout(ones(samples), p).named("kept samples");
}

}  // namespace detail

/// Dropout (Srivastava et al. 2014): in training, every element becomes 0 with probability p, and is divided by 1 - p
/// otherwise. See dropout. Throws ValueError unless 0 <= p <= 1.
using Dropout = detail::DropoutLayer<"Dropout", dropout>;
/// Dropout of channels: in training, whole channels of x (B, C, H, W) or (C, H, W) become 0 with probability p. See
/// dropout2d. Throws ValueError unless 0 <= p <= 1.
using Dropout2d = detail::DropoutLayer<"Dropout2d", dropout2d>;

/// Stochastic depth (Huang et al. 2016): in training, every sample of a batch x (B, ...) becomes 0 with probability p
/// and is divided by 1 - p otherwise. With a residual branch, y = x + drop_path(f(x)), such a sample skips the branch.
/// The same as torchvision's StochasticDepth with mode "row". Throws ValueError unless 0 <= p <= 1, and ShapeError for
/// a scalar.
using DropPath = detail::DropoutLayer<"DropPath", detail::drop_path>;

}  // namespace xgrad::nn
