// First numbers of parameters. Every draw is made in double, so that float and double builds start alike.
#include "init.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "../../core/array/random.h"
#include "../../core/base/error.h"

namespace xgrad::nn::init {
namespace {

template <class F>
Array mapped(Array numbers, const F& f) {
  Real* out = numbers.mutable_data();
  for (std::int64_t i = 0; i < numbers.size(); ++i) out[i] = static_cast<Real>(f(static_cast<double>(out[i])));
  return numbers;
}

// Refuses numbers that are not finite, also as a Real.
void finite(std::string_view op, std::string_view name, double value) {
  if (!std::isfinite(static_cast<Real>(value))) fail<ValueError>(op, name, " ", value, " is not finite");
}

// Refuses normal numbers that can overflow. None lies further out: the draws have 32 bits.
void check_normal(std::string_view op, double mean, double std) {
  constexpr double most_stds = 7;
  finite(op, "mean", mean);
  finite(op, "std", std);
  finite(op, "mean with its standard deviations", std::abs(mean) + most_stds * std::abs(std));
}

Array draw_uniform(std::string_view op, const Shape& shape, double low, double high) {
  finite(op, "high - low", high - low);
  return mapped(random_uniform(shape, next_random_key()), [=](double u) { return low + (high - low) * u; });
}

Array draw_normal(std::string_view op, const Shape& shape, double mean, double std) {
  check_normal(op, mean, std);
  return mapped(random_normal(shape, next_random_key()), [=](double z) { return mean + std * z; });
}

// The root of a count that is 0 for weights without elements only.
double root(std::int64_t fan) { return std::sqrt(static_cast<double>(std::max<std::int64_t>(fan, 1))); }

// The standard deviation of weights with these fans.
double standard_deviation(const Fans& fan, const KaimingOptions& options) {
  return gain(options.nonlinearity, {.slope = options.slope}) / root(options.mode == FanMode::in ? fan.in : fan.out);
}
double standard_deviation(const Fans& fan, const XavierOptions& options) {
  return options.gain * std::sqrt(2.0 / static_cast<double>(std::max<std::int64_t>(fan.in + fan.out, 1)));
}

// Uniform or normal numbers with the standard deviation that the options ask for.
template <class Options>
Init by_fans(std::string_view op, bool is_uniform, const Options& options) {
  if constexpr (requires { options.gain; }) {
    finite(op, "gain", options.gain);
  } else {
    finite(op, "slope", options.slope);
  }
  return [op, is_uniform, options](const Shape& shape) {
    const double std = standard_deviation(fans(shape), options), most = std::numbers::sqrt3 * std;
    return is_uniform ? draw_uniform(op, shape, -most, most) : draw_normal(op, shape, 0, std);
  };
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

}  // namespace

Fans fans(const Shape& shape) {
  if (shape.rank() < 2) fail<ShapeError>("init", "fans need a weight of two axes or more, got ", shape);
  (void)shape.numel();  // refuses shapes that no array can have
  std::int64_t field = 1;
  for (int axis = 2; axis < shape.rank(); ++axis) field *= shape[axis];
  return {.in = shape[1] * field, .out = shape[0] * field};
}

double gain(Nonlinearity nonlinearity, const GainOptions& options) {
  finite("gain", "slope", options.slope);
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return 5.0 / 3;
    case Nonlinearity::relu:
      return std::numbers::sqrt2;
    case Nonlinearity::leaky_relu:
      return std::sqrt(2 / (1 + options.slope * options.slope));
    case Nonlinearity::selu:
      return 0.75;
    case Nonlinearity::linear:
    case Nonlinearity::sigmoid:
      break;
  }
  return 1;
}

Init zeros() { return constant(0); }
Init ones() { return constant(1); }
Init constant(double value) {
  return [value](const Shape& shape) { return Array(shape, static_cast<Real>(value)); };
}

Init values(const Array& numbers) {
  return [numbers](const Shape& shape) {
    if (numbers.shape() != shape) fail<ShapeError>("init", "values of shape ", numbers.shape(), " for ", shape);
    return numbers;
  };
}

Init uniform(const UniformOptions& options) {
  finite("uniform", "low", options.low);
  finite("uniform", "high", options.high);
  if (options.low > options.high) {
    fail<ValueError>("uniform", "no numbers in [", options.low, ", ", options.high, ")");
  }
  finite("uniform", "high - low", options.high - options.low);
  return [options](const Shape& shape) { return draw_uniform("uniform", shape, options.low, options.high); };
}

Init uniform_within_root(std::int64_t n) {
  if (n < 1) fail<ValueError>("uniform_within_root", "n ", n, " is not positive");
  const double a = 1 / std::sqrt(static_cast<double>(n));
  return uniform({.low = -a, .high = a});
}

Init normal(const NormalOptions& options) {
  if (!(options.std >= 0)) fail<ValueError>("normal", "std ", options.std, " is negative or NaN");
  check_normal("normal", options.mean, options.std);
  return [options](const Shape& shape) { return draw_normal("normal", shape, options.mean, options.std); };
}

Init truncated_normal(const TruncatedNormalOptions& options) {
  if (!(options.std > 0)) fail<ValueError>("truncated_normal", "std ", options.std, " is not positive");
  if (!(options.low < options.high)) {
    fail<ValueError>("truncated_normal", "no numbers in [", options.low, ", ", options.high, "]");
  }
  check_normal("truncated_normal", options.mean, options.std);
  finite("truncated_normal", "low", options.low);
  finite("truncated_normal", "high", options.high);
  // The inverse of the distribution function on the part of (0, 1) that lies between the bounds. Near 1 that part would
  // have no digits left: bounds above the mean are mirrored.
  const double side = options.low > options.mean ? -1 : 1;
  double below = normal_below(side * ((options.low - options.mean) / options.std)),
         above = normal_below(side * ((options.high - options.mean) / options.std));
  if (side < 0) std::swap(below, above);
  constexpr double least = 1e-300;  // of which there is an inverse
  if (!(above > least && above > below)) {
    fail<ValueError>("truncated_normal", "[", options.low, ", ", options.high, "] is too many standard deviations ",
                     options.std, " away from the mean ", options.mean);
  }
  return [=, o = options](const Shape& shape) {
    return mapped(random_uniform(shape, next_random_key()), [=](double u) {
      const double p = std::clamp(below + (above - below) * u, least, 1 - 1e-16);
      return std::clamp(o.mean + side * o.std * normal_quantile(p), o.low, o.high);
    });
  };
}

Init xavier_uniform(const XavierOptions& options) { return by_fans("xavier_uniform", true, options); }
Init xavier_normal(const XavierOptions& options) { return by_fans("xavier_normal", false, options); }
Init kaiming_uniform(const KaimingOptions& options) { return by_fans("kaiming_uniform", true, options); }
Init kaiming_normal(const KaimingOptions& options) { return by_fans("kaiming_normal", false, options); }

Init orthogonal(const OrthogonalOptions& options) {
  finite("orthogonal", "gain", options.gain);
  return [options](const Shape& shape) {
    if (shape.rank() < 2) fail<ShapeError>("orthogonal", "needs a weight of two axes or more, got ", shape);
    const std::int64_t rows = shape[0], columns = rows == 0 ? 0 : shape.numel() / rows;
    const std::int64_t count = std::min(rows, columns), length = std::max(rows, columns);
    const Array noise = draw_normal("orthogonal", {count, length}, 0, 1);
    std::vector<double> q(noise.begin(), noise.end());
    const auto dot = [&](const double* a, const double* b) {
      double sum = 0;
      for (std::int64_t i = 0; i < length; ++i) sum += a[i] * b[i];
      return sum;
    };
    // Gram-Schmidt, twice for full accuracy. The factor R it leaves out has a positive diagonal, so Q is uniform among
    // all orthonormal sets.
    for (std::int64_t k = 0; k < count; ++k) {
      double* row = q.data() + k * length;
      for (int pass = 0; pass < 2; ++pass) {
        for (std::int64_t j = 0; j < k; ++j) {
          const double* earlier = q.data() + j * length;
          const double overlap = dot(row, earlier);
          for (std::int64_t i = 0; i < length; ++i) row[i] -= overlap * earlier[i];
        }
        const double scale = 1 / std::sqrt(dot(row, row));
        for (std::int64_t i = 0; i < length; ++i) row[i] *= scale;
      }
    }
    Array weight(shape);
    Real* out = weight.mutable_data();
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t at = rows <= columns ? r * length + c : c * length + r;
        out[r * columns + c] = static_cast<Real>(options.gain * q[static_cast<std::size_t>(at)]);
      }
    }
    return weight;
  };
}

void reset(const Tensor& parameter, const Init& init) {
  xgrad::detail::refuse_empty("reset", init);
  parameter.assign(init(parameter.shape()));
}

}  // namespace xgrad::nn::init
