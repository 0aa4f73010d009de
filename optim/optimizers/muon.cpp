// Muon: the direction of a step is made of matrix products, before a parameter moves.
#include "muon.h"

#include <algorithm>
#include <cmath>

#include "../../core/graph/record.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/products/linalg.h"
#include "../../ops/products/matmul.h"
#include "../../ops/shape/shape.h"
#include "../options.h"
#include "kernels/loops.h"

namespace xgrad::optim {
namespace {

// U V^T, nearly, for x = U S V^T: an odd polynomial of x moves its singular values and nothing else.
Tensor orthogonalised(Tensor x, const MuonOptions& options) {
  const bool tall = x.dim(0) > x.dim(1);  // o o^T is the smaller product
  if (tall) x = transpose(x);
  x = x / std::max(static_cast<double>(norm(x).item()), options.eps);
  const auto [a, b, c] = options.ns_coefficients;
  for (std::int64_t i = 0; i < options.ns_steps; ++i) {
    const Tensor square = matmul(x, transpose(x));
    x = a * x + matmul(b * square + c * matmul(square, square), x);
  }
  return tall ? transpose(x) : x;
}

double adjusted(double lr, MuonRate rule, const Array& x) {
  const double m = static_cast<double>(x.dim(0)), n = static_cast<double>(x.dim(1));
  switch (rule) {
    case MuonRate::match_rms_adamw:
      return lr * 0.2 * std::sqrt(std::max(m, n));
    case MuonRate::spectral_unclamped:
      return lr * std::sqrt(m / n);
    case MuonRate::original:
      break;
  }
  return lr * std::sqrt(std::max(1.0, m / n));
}

}  // namespace

void Muon::check(const Tensor& parameter) {
  if (parameter.rank() != 2) {
    fail<ShapeError>(kind, "'", parameter.name(), "' of shape ", parameter.shape(), " is no matrix");
  }
}

Muon::NamedOptions Muon::named_options(const Options& options) {
  detail::at_least_one(kind, "ns_steps", options.ns_steps);
  const auto [a, b, c] = options.ns_coefficients;
  for (const double each : {a, b, c}) {
    if (!std::isfinite(each)) fail<ValueError>(kind, "ns_coefficients ", a, ", ", b, ", ", c, " are not all finite");
  }
  return {{"weight_decay", options.weight_decay, NamedOption::not_negative},
          {"momentum", options.momentum, NamedOption::below_one},
          {"nesterov", double(options.nesterov)},
          {"ns_coefficients[0]", a},
          {"ns_coefficients[1]", b},
          {"ns_coefficients[2]", c},
          {"eps", options.eps, NamedOption::not_negative},
          {"ns_steps", static_cast<double>(options.ns_steps)},
          {"adjust_lr_fn", static_cast<double>(options.adjust_lr_fn)},
          {"maximize", double(options.maximize)}};
}

Array Muon::direction(const Array& g, const State& state, const Options& options) {
  const NoGrad off;
  const double mu = options.momentum;
  const Tensor fresh = (options.maximize ? mu - 1 : 1 - mu) * Tensor(g);
  Tensor step = state.moments.empty() ? fresh : mu * Tensor(state.moments[0]) + fresh;
  if (options.nesterov) step = mu * step + fresh;
  return orthogonalised(step, options).value();
}

void Muon::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  const Real momentum = static_cast<Real>(options.momentum),
             fresh = static_cast<Real>(options.maximize ? options.momentum - 1 : 1 - options.momentum),
             shrink = static_cast<Real>(1 - lr * options.weight_decay),
             rate = static_cast<Real>(adjusted(lr, options.adjust_lr_fn, x));
  for_each_number(
      x, *state.direction, false,
      [=](Real& x, Real o, Real& b, Real g) {
        b = momentum * b + fresh * g;
        x = shrink * x - rate * o;
      },
      state.moments[0], g);
}

}  // namespace xgrad::optim
