// Activation functions, with PyTorch's names and defaults. All are elementwise. (tanh and sigmoid are in
// elementwise.h.)
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// y = max(x, 0)                    dy/dx = 1 above 0, else 0
Tensor relu(const Tensor& x);
/// y = x above 0, else alpha (e^x - 1)     dy/dx = 1 above 0, else alpha e^x       (Clevert et al. 2015)
Tensor elu(const Tensor& x, double alpha = 1);
/// y = ln(1 + e^x), without overflow       dy/dx = sigmoid(x); second derivative 0, not e^-x, above 37 (float: 17)
Tensor softplus(const Tensor& x);
/// y = x sigmoid(x), also called swish     dy/dx = s (1 + x (1 - s)), s = sigmoid(x), rounded to 1 above 37 (float: 17)
Tensor silu(const Tensor& x);

/// The formula by which gelu computes the normal distribution function.
enum class Gelu {
  erf,   ///< exact: (1 + erf(x/sqrt 2))/2
  tanh,  ///< approximate: (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2, as in GPT-2
};
/// y = x P(x), P the normal distribution function (Hendrycks, Gimpel 2016).      dy/dx = P(x) + x P'(x)
Tensor gelu(const Tensor& x, Gelu form = Gelu::erf);

struct LeakyReluOptions {
  double negative_slope = 0.01;
};
/// y = x above 0, else negative_slope x      dy/dx = 1 above 0, else negative_slope        (Maas et al. 2013)
Tensor leaky_relu(const Tensor& x, const LeakyReluOptions& options = {});

/// y = x above 0, else weight x. The weight is one number, or (C): one for each channel of x (B, C, ...).
/// dy/dx = 1 above 0, else weight      dy/dweight = 0 above 0, else x                      (He et al. 2015)
/// Throws ShapeError for a weight of another shape.
Tensor prelu(const Tensor& x, const Tensor& weight);

/// y = scale x above 0, else scale alpha (e^x - 1), with constants that preserve mean 0 and variance 1 from layer to
/// layer      dy/dx = scale above 0, else scale alpha e^x                                  (Klambauer et al. 2017)
Tensor selu(const Tensor& x);
/// y = x above 0, else alpha (e^(x/alpha) - 1)      dy/dx = 1 above 0, else e^(x/alpha)    (Barron 2017)
/// Throws ValueError if alpha is 0 or NaN.
Tensor celu(const Tensor& x, double alpha = 1);

/// y = x tanh(softplus(x))      dy/dx = t + x (1 - t^2) sigmoid(x), t = tanh(softplus(x))  (Misra 2019)
Tensor mish(const Tensor& x);
/// y = a sigmoid(b), where a is the first and b the second half of x along `axis`          (Dauphin et al. 2017)
/// dy/da = sigmoid(b)      dy/db = y (1 - sigmoid(b))
/// Throws ShapeError unless the axis has an even size, ValueError for an axis out of range.
Tensor glu(const Tensor& x, int axis = -1);

/// y = x / (1 + |x|)            dy/dx = 1/(1 + |x|)^2
Tensor softsign(const Tensor& x);
/// y = ln sigmoid(x), without overflow      dy/dx = sigmoid(-x); second derivative 0, not -e^x, below -37 (float: -17)
Tensor logsigmoid(const Tensor& x);
/// y = x - tanh x               dy/dx = tanh(x)^2
Tensor tanhshrink(const Tensor& x);

/// y = x where |x| > lambda, else 0            dy/dx = 1 where |x| > lambda, else 0
/// Throws ValueError for a lambda that is negative or NaN, and so does softshrink.
Tensor hardshrink(const Tensor& x, double lambda = 0.5);
/// y = x - lambda above lambda, x + lambda below -lambda, else 0      dy/dx = 1 where |x| > lambda, else 0
Tensor softshrink(const Tensor& x, double lambda = 0.5);

struct HardtanhOptions {
  double min_val = -1, max_val = 1;
};
/// y = x between min_val and max_val, else the nearer bound       dy/dx = 1 between the bounds and for NaN, else 0
/// Throws ValueError unless min_val <= max_val.
Tensor hardtanh(const Tensor& x, const HardtanhOptions& options = {});
/// y = x between 0 and 6, else the nearer bound      dy/dx as for hardtanh                 (Howard et al. 2017)
Tensor relu6(const Tensor& x);
/// y = relu6(x + 3)/6           dy/dx = 1/6 between -3 and 3, else 0
Tensor hardsigmoid(const Tensor& x);
/// y = x relu6(x + 3)/6         dy/dx = 0 up to -3, 1 from 3 on, else x/3 + 1/2            (Howard et al. 2019)
Tensor hardswish(const Tensor& x);

}  // namespace xgrad
