// Initialization: the initial values of parameters. An Init is a function that is passed to Module::param.
//
//     nn::Linear q{at("q"), dim, dim, {.init = nn::init::xavier_uniform()}};
#pragma once

#include <functional>

#include "../../core/graph/tensor.h"

namespace xgrad::nn {

/// A function that returns the initial values for a parameter of this shape. Where an Init is optional, an empty one
/// means the default.
using Init = std::function<Array(const Shape&)>;

namespace init {

/// The fans of a weight (out, in, k...). `in` is in times all k, the number of inputs that one output depends on. `out`
/// is out times all k, the number of outputs that depend on one input. Throws ShapeError for fewer than two axes.
struct Fans {
  std::int64_t in = 0;
  std::int64_t out = 0;
};
Fans fans(const Shape& shape);

/// The activation after a weight. gain() is the factor that preserves the variance: 1 for linear and sigmoid, 5/3 for
/// tanh, sqrt(2) for relu, sqrt(2 / (1 + slope^2)) for a leaky relu, 3/4 for selu.
enum class Nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };
struct GainOptions {
  double slope = 0.01;  ///< slope of the leaky relu for negative inputs
};
/// The gain of an activation. Throws ValueError for a slope that is not finite.
[[nodiscard]] double gain(Nonlinearity nonlinearity, const GainOptions& options = {});

/// Every element is 0, 1 or `value`.
Init zeros();
Init ones();
Init constant(double value);
/// The elements of this array, for example published weights. The Init throws ShapeError if the parameter has another
/// shape.
Init values(const Array& numbers);

struct UniformOptions {
  double low = 0;
  double high = 1;
};
/// Uniform in [low, high). Throws ValueError unless low <= high. All functions below also throw ValueError for options,
/// or a range of values, that are not finite as a double or as a Real.
Init uniform(const UniformOptions& options = {});
/// Uniform in +-1/sqrt(n), the initial values of PyTorch's layers. n is the number of products that are summed for one
/// output. Throws ValueError unless n > 0.
Init uniform_within_root(std::int64_t n);

struct NormalOptions {
  double mean = 0;
  double std = 1;
};
/// Normal values with this mean and standard deviation. Throws ValueError also for a negative std.
Init normal(const NormalOptions& options = {});

struct TruncatedNormalOptions {
  double mean = 0;
  double std = 1;
  double low = -2;
  double high = 2;
};
/// Normal values restricted to [low, high]. Also throws ValueError unless low < high and std > 0, and for an interval
/// whose probability is below 1e-300 (about 37 standard deviations from the mean).
Init truncated_normal(const TruncatedNormalOptions& options = {});

struct XavierOptions {
  double gain = 1;
};
/// Uniform in +-a, a = gain sqrt(6 / (fan_in + fan_out))      (Glorot, Bengio 2010)
Init xavier_uniform(const XavierOptions& options = {});
/// Normal with standard deviation gain sqrt(2 / (fan_in + fan_out)).
Init xavier_normal(const XavierOptions& options = {});

enum class FanMode { in, out };
struct KaimingOptions {
  Nonlinearity nonlinearity = Nonlinearity::leaky_relu;
  double slope = 0;
  FanMode mode = FanMode::in;
};
/// Uniform in +-a, a = gain sqrt(3 / fan)      (He et al. 2015)
Init kaiming_uniform(const KaimingOptions& options = {});
/// Normal with standard deviation gain / sqrt(fan).
Init kaiming_normal(const KaimingOptions& options = {});

struct OrthogonalOptions {
  double gain = 1;
};
/// A matrix with orthonormal rows or columns, whichever are fewer, times gain (Saxe et al. 2013). Its rows are the
/// first axis, its columns all other axes. Throws ShapeError for fewer than two axes.
Init orthogonal(const OrthogonalOptions& options = {});

/// Assigns new initial values to a parameter. Throws ValueError for an empty init, and what assign() throws.
void reset(const Tensor& parameter, const Init& init);

}  // namespace init
}  // namespace xgrad::nn
