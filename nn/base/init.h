// Initialization: the first numbers of parameters. An Init is a small value, passed to Module::param.
//
//     nn::Linear q{at("q"), dim, dim, {.init = nn::init::xavier_uniform()}};
#pragma once

#include <functional>

#include "../../core/graph/tensor.h"

namespace xgrad::nn {

/// The first numbers of a parameter of this shape; any function from shapes to arrays. Empty where an Init is optional.
using Init = std::function<Array(const Shape&)>;

namespace init {

/// How many inputs one output of a weight sees, and how many outputs one input reaches: for a weight (out, in, k...)
/// in k... and out k.... Throws ShapeError below two axes.
struct Fans {
  std::int64_t in = 0;
  std::int64_t out = 0;
};
Fans fans(const Shape& shape);

/// The factor that keeps the variance through an activation: 1 for linear and sigmoid, 5/3 for tanh, sqrt(2) for relu,
/// sqrt(2 / (1 + slope^2)) for a leaky relu, 3/4 for selu.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };
struct GainOptions {
  double slope = 0.01;  ///< of the leaky relu for negative numbers
};
/// Throws ValueError for a slope that is not finite.
[[nodiscard]] double gain(Nonlinearity nonlinearity, const GainOptions& options = {});

/// Every element 0, 1, `value`.
Init zeros();
Init ones();
Init constant(double value);
/// These numbers, for weights that come from elsewhere. Throws ShapeError, when used, unless the shape is the array's.
Init values(const Array& numbers);

struct UniformOptions {
  double low = 0;
  double high = 1;
};
/// Uniform in [low, high). Here and below: throws ValueError for numbers, or sums of them, that are not finite (also as
/// a Real). Throws it here unless low <= high.
Init uniform(const UniformOptions& options = {});
/// Uniform in +-1/sqrt(n), as PyTorch's layers begin, where n is the count of numbers that a sum goes over. Throws
/// ValueError unless n > 0.
Init uniform_within_root(std::int64_t n);

struct NormalOptions {
  double mean = 0;
  double std = 1;
};
/// Throws ValueError, too, if std is negative.
Init normal(const NormalOptions& options = {});

struct TruncatedNormalOptions {
  double mean = 0;
  double std = 1;
  double low = -2;
  double high = 2;
};
/// Normal numbers, given that they lie in [low, high]. Throws ValueError, too, unless low < high and std > 0, and for
/// an interval so far from the mean (37 deviations) that its probability is nothing.
Init truncated_normal(const TruncatedNormalOptions& options = {});

struct XavierOptions {
  double gain = 1;
};
/// Glorot and Bengio 2010: uniform in +-a, a = gain sqrt(6 / (fan_in + fan_out)).
Init xavier_uniform(const XavierOptions& options = {});
/// Normal with standard deviation gain sqrt(2 / (fan_in + fan_out)).
Init xavier_normal(const XavierOptions& options = {});

enum class FanMode { in, out };
struct KaimingOptions {
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;
  double slope = 0;
  FanMode mode = FanMode::in;
};
/// He et al. 2015: uniform in +-a, a = gain sqrt(3 / fan).
Init kaiming_uniform(const KaimingOptions& options = {});
/// Normal with standard deviation gain / sqrt(fan).
Init kaiming_normal(const KaimingOptions& options = {});

struct OrthogonalOptions {
  double gain = 1;
};
/// Saxe et al. 2013: the weight as a matrix (first axis, the others) with orthonormal rows or columns, whichever are
/// fewer, times gain. Throws ShapeError below two axes.
Init orthogonal(const OrthogonalOptions& options = {});

/// Gives a parameter new first numbers. Throws ValueError for an empty init, and as assign().
void reset(const Tensor& parameter, const Init& init);

}  // namespace init
}  // namespace xgrad::nn
