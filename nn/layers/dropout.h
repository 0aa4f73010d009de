// Dropout of elements, of channels and of whole samples.
#pragma once

#include "../../ops/network/dropout.h"
#include "function_layer.h"

namespace xgrad::nn {

/// In training, every element becomes 0 with probability p and is divided by 1 - p otherwise; else nothing happens
/// (Srivastava et al. 2014). The choice is the next draw of the calling thread's generator.
struct Dropout : Layer<Dropout> {
  /// Throws ValueError unless 0 <= p <= 1.
  Dropout(At here, double p);
  explicit Dropout(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return str(p); }
};

namespace detail {

/// In training, function(x, p); else nothing happens. The choice is the next draw of the calling thread's generator.
template <ClassName name, Tensor (*function)(const Tensor& x, double p)>
struct ChannelDropout final : Layer<ChannelDropout<name, function>> {
  explicit ChannelDropout(At here, double probability = 0.5)
      : Layer<ChannelDropout>(std::move(here)), p(this->probability("p", probability)) {}
  template <class... Rest>
  explicit ChannelDropout(Module::Placeless, const Rest&...);

  Tensor forward(const Tensor& x) const { return this->training() && p > 0 ? function(x, p) : x; }

  const double p;

 protected:
  std::string class_name() const override { return name.text; }
  std::string settings() const override { return str(p); }
};

}  // namespace detail

/// In training, whole channels of x (B, C, L) or (C, L) become 0: dropout1d. Throws ValueError unless 0 <= p <= 1.
using Dropout1d = detail::ChannelDropout<"Dropout1d", dropout1d>;
/// In training, whole channels of x (B, C, H, W) or (C, H, W) become 0: dropout2d. Throws ValueError unless 0 <= p
/// <= 1.
using Dropout2d = detail::ChannelDropout<"Dropout2d", dropout2d>;
/// In training, alpha_dropout, which keeps mean and variance of networks with SELU. Throws ValueError unless 0 <= p
/// <= 1.
using AlphaDropout = detail::ChannelDropout<"AlphaDropout", alpha_dropout>;
/// AlphaDropout of whole channels: feature_alpha_dropout. Throws ValueError unless 0 <= p <= 1.
using FeatureAlphaDropout = detail::ChannelDropout<"FeatureAlphaDropout", feature_alpha_dropout>;

/// Stochastic depth (Huang et al. 2016): in training, every sample of a batch becomes 0 with probability p and is
/// divided by 1 - p otherwise; else nothing happens. Put on a residual branch, it makes the sample skip that branch:
///
///     y = x + drop_path(f(x))
///
/// As torchvision's StochasticDepth by "row". The choice is the next draw of the calling thread's generator.
struct DropPath : Layer<DropPath> {
  /// Throws ValueError unless 0 <= p <= 1.
  DropPath(At here, double p);
  explicit DropPath(Placeless, ...);  ///< does not compile: no place

  /// x (B, ...), of the same shape back. Throws ShapeError for a scalar.
  Tensor forward(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return str(p); }
};

}  // namespace xgrad::nn
