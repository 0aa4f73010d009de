// Dropout of elements, of channels and of whole samples.
#pragma once

#include "../module.h"

namespace xgrad::nn {

/// In training, every element becomes 0 with probability p and is divided by 1 - p otherwise; else nothing happens
/// (Srivastava et al. 2014). Which ones: the next draw of the calling thread's generator.
struct Dropout : Module {
  /// Throws ValueError unless 0 <= p <= 1.
  Dropout(At here, double p);
  explicit Dropout(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return cat(p); }
};

/// In training, dropout1d: whole channels of x (B, C, L) or (C, L) become 0; else nothing happens.
struct Dropout1d : Module {
  /// Throws ValueError unless 0 <= p <= 1.
  Dropout1d(At here, double p = 0.5);
  explicit Dropout1d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return cat(p); }
};

/// In training, dropout2d: whole channels of x (B, C, H, W) or (C, H, W) become 0; else nothing happens.
struct Dropout2d : Module {
  /// Throws ValueError unless 0 <= p <= 1.
  Dropout2d(At here, double p = 0.5);
  explicit Dropout2d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return cat(p); }
};

/// In training, alpha_dropout: what keeps mean and variance of networks with SELU; else nothing happens.
struct AlphaDropout : Module {
  /// Throws ValueError unless 0 <= p <= 1.
  AlphaDropout(At here, double p = 0.5);
  explicit AlphaDropout(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return cat(p); }
};

/// In training, feature_alpha_dropout: AlphaDropout of whole channels; else nothing happens.
struct FeatureAlphaDropout : Module {
  /// Throws ValueError unless 0 <= p <= 1.
  FeatureAlphaDropout(At here, double p = 0.5);
  explicit FeatureAlphaDropout(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return cat(p); }
};

/// Stochastic depth (Huang et al. 2016): in training, every sample of a batch becomes 0 with probability p and is
/// divided by 1 - p otherwise; else nothing happens. Put on a residual branch, it makes the sample skip that branch:
///
///     y = x + drop_path(f(x))
///
/// As torchvision's StochasticDepth by "row". Which ones: the next draw of the calling thread's generator.
struct DropPath : Module {
  /// Throws ValueError unless 0 <= p <= 1.
  DropPath(At here, double p);
  explicit DropPath(Placeless, ...);  ///< does not compile: no place

  /// x (B, ...), of the same shape back. Throws ShapeError for a scalar.
  Tensor operator()(const Tensor& x) const;

  const double p;

 protected:
  std::string settings() const override { return cat(p); }
};

}  // namespace xgrad::nn
