// Activation functions: a lambda and its derivative each.
#include "activations.h"

#include <numbers>

#include "../../core/base/formula.h"
#include "../shape/shape.h"
#include "../shape/slice.h"
#include "arithmetic.h"
#include "elementwise.h"
#include "lambda.h"

namespace xgrad {

using detail::below_zero, detail::bounded, detail::bounded_below, detail::guarded;

Tensor relu(const Tensor& x) {
  return elementwise(
      "relu", x, [](auto v) { return maximum(v, 0); }, [](auto, auto y) { return where(y <= 0, 0, 1); });
}

XGRAD_FORMULA elu_formula{"elu", "y = x if x > 0, else alpha (e^x - 1)", "dy/dx = 1 if x > 0, else alpha e^x"};
Tensor elu(const Tensor& x, double factor) {
  const Real alpha = static_cast<Real>(factor);
  // Above 0 the other branch is computed at 0, so that it cannot overflow into the gradient.
  return elementwise(
      "elu", x, [alpha](auto v) { return where(v > 0, v, alpha * expm1(minimum(v, 0))); },
      [alpha](auto v, auto) { return where(v > 0, 1, alpha * exp(minimum(v, 0))); },
      attribute("alpha", unless(1, factor)));
}

Tensor softplus(const Tensor& x) {
  return elementwise(
      "softplus", x,
      [](auto v) {
        return guarded([](const auto& u) { return maximum(u, 0) + log1p(exp(-abs(u))); },
                       [](const auto& u) { return log(1 + exp(u)); }, v);
      },
      [](auto v, auto) { return sigmoid(v); });
}

Tensor silu(const Tensor& x) {
  return elementwise(
      "silu", x,
      [](auto v) {
        return guarded([](const auto& u) { return bounded_below(u) / (1 + exp(-u)); },
                       [](const auto& u) { return u * sigmoid(u); }, v);
      },
      [](auto v, auto) {
        const auto s = sigmoid(v);
        return s * (1 + bounded(v, 1e4) * (1 - s));
      });
}

namespace {

// The normal distribution function P and its density, as Packs have them.
Tensor normal_pdf(const Tensor& x) {
  return elementwise(
      "normal_pdf", x, [](auto v) { return normal_pdf(v); }, [](auto v, auto y) { return bounded(-v, 1e2) * y; });
}
Tensor normal_cdf(const Tensor& x) {
  return elementwise(
      "normal_cdf", x, [](auto v) { return normal_cdf(v); }, [](auto v, auto) { return normal_pdf(v); });
}

Tensor gelu_erf(const Tensor& x) {
  return elementwise(
      "gelu", x, [](auto v) { return bounded_below(v) * normal_cdf(v); },
      [](auto v, auto) {
        const auto slope = bounded(v, 1e2) * normal_pdf(v);
        return slope + normal_cdf(v);
      });
}

constexpr double gelu_scale = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double gelu_cubic = 0.044715;

// x/2 (1 + tanh(z/2)) = x sigmoid(z), z = gelu_scale (x + gelu_cubic x^3)
Tensor gelu_tanh(const Tensor& x) {
  return elementwise(
      "gelu_tanh", x,
      [](auto v) {
        const auto u = bounded(v, 1e2), y = u * sigmoid(gelu_scale * u * (1 + gelu_cubic * u * u));
        return guarded([](const auto& x, const auto& near) { return where(x > 1e2, x, near); },
                       [](const auto&, const auto& near) { return near; }, v, y);
      },
      [](auto v, auto) {
        const auto u = bounded(v, 1e2);
        const auto s = sigmoid(gelu_scale * u * (1 + gelu_cubic * u * u));
        return s + u * s * (1 - s) * gelu_scale * (1 + 3 * gelu_cubic * u * u);
      });
}

}  // namespace

Tensor gelu(const Tensor& x, Gelu form) { return form == Gelu::erf ? gelu_erf(x) : gelu_tanh(x); }

XGRAD_FORMULA leaky_relu_formula{"leaky_relu", "y = x if x > 0, else slope x", "dy/dx = 1 if x > 0, else slope"};
Tensor leaky_relu(const Tensor& x, const LeakyReluOptions& options) {
  const Real slope = static_cast<Real>(options.negative_slope);
  return elementwise(
      "leaky_relu", x, [slope](auto v) { return where(v > 0, v, slope * v); },
      [slope](auto v, auto) { return where(v > 0, 1, slope); },
      attribute("negative_slope", unless(0.01, options.negative_slope)));
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  const bool one = weight.size() == 1;
  if (weight.rank() > 1 || !(one || (x.rank() >= 2 && weight.size() == x.dim(1)))) {
    fail<ShapeError>("prelu", "weight ", weight.shape(), " for x ", x.shape(),
                     ": needs one number, or one for each position of axis 1");
  }
  Shape along = Shape::filled(one ? 0 : x.rank(), 1);
  if (!one) along[1] = weight.size();
  return elementwise(
      "prelu", x, reshape(weight, along), [](auto v, auto w) { return where(v > 0, v, w * v); },
      [](auto v, auto w, auto) { return where(v > 0, 1, w); }, [](auto v, auto, auto) { return minimum(v, 0); });
}

constexpr double selu_alpha = 1.6732632423543772848170429916717, selu_scale = 1.0507009873554804934193349852946;

Tensor selu(const Tensor& x) {
  return elementwise(
      "selu", x, [](auto v) { return where(v > 0, selu_scale * v, selu_scale * selu_alpha * expm1(below_zero(v))); },
      [](auto v, auto) { return where(v > 0, selu_scale, selu_scale * selu_alpha * exp(below_zero(v))); });
}

XGRAD_FORMULA celu_formula{"celu", "y = x if x > 0, else alpha (e^(x/alpha) - 1)",
                           "dy/dx = 1 if x > 0, else e^(x/alpha)"};
Tensor celu(const Tensor& x, double factor) {
  const Real alpha = static_cast<Real>(factor);
  if (!(alpha < 0 || alpha > 0)) fail<ValueError>("celu", "alpha ", alpha, " is 0 or NaN");
  return elementwise(
      "celu", x, [alpha](auto v) { return where(v > 0, v, alpha * expm1(minimum(v, 0) / alpha)); },
      [alpha](auto v, auto) { return exp(minimum(v, 0) / alpha); },  // above 0, e^0
      attribute("alpha", unless(1, factor)));
}

namespace {

// tanh(ln(1 + e^x)) = (1 + 2e)/(1 + 2e + 2e^2) = (e^2 + 2e)/(e^2 + 2e + 2), the first with e = e^-x, the second with
// e = e^x: whichever does not overflow.
auto tanh_softplus(const auto& v) {
  return guarded(
      [](const auto& u) {
        const auto e = exp(where(u > 0, -u, u));  // not -abs(u), whose slope at 0 is 0
        const auto above = 1 + 2 * e, below = e * (e + 2);
        return where(u > 0, above / (above + 2 * e * e), below / (below + 2));
      },
      [](const auto& u) { return tanh(log(1 + exp(u))); }, v);
}

}  // namespace

Tensor mish(const Tensor& x) {
  return elementwise(
      "mish", x, [](auto v) { return bounded_below(v) * tanh_softplus(v); },
      [](auto v, auto) {
        const auto t = tanh_softplus(v);
        return t + bounded(v, 1e4) * (1 - t * t) * sigmoid(v);
      });
}

Tensor glu(const Tensor& x, int axis) {
  axis = normalize_axis("glu", axis, x.rank());
  const std::int64_t half = x.dim(axis) / 2;
  if (x.dim(axis) % 2 != 0) fail<ShapeError>("glu", "axis ", axis, " of ", x.shape(), " has no two halves");
  return elementwise(
      "glu", narrow(x, axis, 0, half), narrow(x, axis, half, half), [](auto a, auto b) { return a * sigmoid(b); },
      [](auto, auto b, auto) { return sigmoid(b); }, [](auto, auto b, auto y) { return y * (1 - sigmoid(b)); });
}

Tensor softsign(const Tensor& x) {
  return elementwise(
      "softsign", x,
      [](auto v) {  // where 1 + |x| rounds to |x|, only the sign is left
        return guarded([](const auto& u) { return where(abs(u) > 1e18, sign(u), u / (1 + abs(u))); },
                       [](const auto& u) { return u / (1 + abs(u)); }, v);
      },
      [](auto v, auto) { return 1 / ((1 + abs(v)) * (1 + abs(v))); });
}

Tensor logsigmoid(const Tensor& x) {
  return elementwise(
      "logsigmoid", x,
      [](auto v) {
        return guarded([](const auto& u) { return minimum(u, 0) - log1p(exp(-abs(u))); },
                       [](const auto& u) { return -log(1 + exp(-u)); }, v);
      },
      [](auto v, auto) { return sigmoid(-v); });
}

Tensor tanhshrink(const Tensor& x) {
  return elementwise(
      "tanhshrink", x, [](auto v) { return v - tanh(v); },
      [](auto v, auto) {
        const auto t = tanh(v);
        return t * t;
      });
}

namespace {

Real checked_lambda(const char* op, double given) {
  const Real lambda = static_cast<Real>(given);
  if (!(lambda >= 0)) fail<ValueError>(op, "lambda ", lambda, " is negative or NaN");
  return lambda;
}

}  // namespace

XGRAD_FORMULA hardshrink_formula{"hardshrink", "y = x if |x| > lambda, else 0", "dy/dx = 1 if |x| > lambda, else 0"};
Tensor hardshrink(const Tensor& x, double width) {
  const Real lambda = checked_lambda("hardshrink", width);
  return elementwise(
      "hardshrink", x, [lambda](auto v) { return where(abs(v) <= lambda, 0, v); },
      [lambda](auto v, auto) { return where(abs(v) <= lambda, 0, 1); }, attribute("lambda", unless(0.5, width)));
}

XGRAD_FORMULA softshrink_formula{"softshrink", "y = sign x (|x| - lambda) if |x| > lambda, else 0",
                                 "dy/dx = 1 if |x| > lambda, else 0"};
Tensor softshrink(const Tensor& x, double width) {
  const Real lambda = checked_lambda("softshrink", width);
  return elementwise(
      "softshrink", x, [lambda](auto v) { return where(abs(v) <= lambda, 0, v - lambda * sign(v)); },
      [lambda](auto v, auto) { return where(abs(v) <= lambda, 0, 1); }, attribute("lambda", unless(0.5, width)));
}

namespace {

// As clamp, but the gradient of NaN is 1, and 0 where an infinite x is the bound: PyTorch's rules differ.
template <class... Attributes>
Tensor held_between(const char* op, const Tensor& x, Real low, Real high, const Attributes&... attributes) {
  return elementwise(
      op, x, [low, high](auto v) { return maximum(minimum(v, high), low); },
      [low, high](auto v, auto) { return where(v <= low || v >= high, 0, 1); }, attributes...);
}

}  // namespace

XGRAD_FORMULA hardtanh_formula{"hardtanh", "y = max(min(x, max_val), min_val)",
                               "dy/dx = 0 if x <= min_val or x >= max_val, else 1"};
Tensor hardtanh(const Tensor& x, const HardtanhOptions& options) {
  const Real low = static_cast<Real>(options.min_val), high = static_cast<Real>(options.max_val);
  if (!(low <= high)) fail<ValueError>("hardtanh", "min_val ", low, " is above max_val ", high);
  return held_between("hardtanh", x, low, high, attribute("min_val", unless(-1, options.min_val)),
                      attribute("max_val", unless(1, options.max_val)));
}

XGRAD_FORMULA relu6_formula{"relu6", "y = max(min(x, 6), 0)", "dy/dx = 0 if x <= 0 or x >= 6, else 1"};
Tensor relu6(const Tensor& x) { return held_between("relu6", x, 0, 6); }

Tensor hardsigmoid(const Tensor& x) {
  return elementwise(
      "hardsigmoid", x, [](auto v) { return minimum(maximum(v + 3, 0), 6) / 6; },
      [](auto v, auto) { return where(v > -3 && v < 3, 1.0 / 6, 0); });
}

Tensor hardswish(const Tensor& x) {
  return elementwise(
      "hardswish", x, [](auto v) { return where(v <= -3, 0, where(v >= 3, v, v * (v + 3) / 6)); },
      [](auto v, auto) { return where(v <= -3, 0, where(v >= 3, 1, v / 3 + 0.5)); });
}

}  // namespace xgrad
